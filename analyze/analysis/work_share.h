/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives a side the work that another side of the same run counted. A server's cost per request
 * needs the count of its client.
 */
#ifndef ZC_ANALYSIS_WORK_SHARE_H
#define ZC_ANALYSIS_WORK_SHARE_H

#include "analyze/store/store.h"

#include <stdbool.h>

/* One side of one run. */
struct work_side {
	int64_t run;
	const char *work; /* the sides that the plan names, or NULL */
	bool counts;	  /* its workload accounts for its work, readable or not */
};

/*
 * Copies the rates of work to each run of a side that does not count, or for which the plan names
 * other sides. Adds a note to the run. Returns 0 or -errno.
 */
int work_share_store(struct store *s, const struct work_side *sides, size_t n, struct error *err);

#endif
