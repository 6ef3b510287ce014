/* SPDX-License-Identifier: GPL-2.0-only */
/* What the folded stacks cost, as rows of the profile. */
#ifndef ZC_PERFDATA_ROWS_H
#define ZC_PERFDATA_ROWS_H

#include "analyze/perfdata/pass_two.h"

/* What a folded stack came to. */
struct resolved {
	uint32_t frame; /* of the leaf */
	uint8_t context;
	bool bad_chain;
};

/* Adds the folds' costs and events to the profile. `out`: of all stacks, one fold after the other.
 */
void rows_add(struct recording *r, struct folds *f, const struct resolved *out);

#endif
