/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An end of a comparison that is a file and no capture: a perf.data, or the text of perf report.
 * It is one run; what a unit of work costs the user tells (--rate, or --units and --busy-ns).
 */
#ifndef ZC_BARE_H
#define ZC_BARE_H

#include "analyze/texts/perf_report.h"
#include "analyze/measures/measure.h"
#include "analyze/model/slice.h"
#include "analyze/model/profile.h"

struct bare {
	const char *path; /* the user's */
	bool is_text;
	struct profile profile; /* of a perf.data */
	struct flat flat;	/* of a text */
};

/* Is it such a file, and no store or archive? */
bool bare_is(const char *path);
/* Of these, a text. */
bool bare_is_text(const char *path);
int bare_open(struct bare **b, const char *path, const struct query *q,
	      const struct time_slice *slice, struct error *err);
void bare_close(struct bare *b); /* NULL is fine */

/* Makes the query one of the file. */
void bare_query(struct bare *b, struct query *q);

#endif
