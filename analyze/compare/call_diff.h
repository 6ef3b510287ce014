/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call trees of both ends as one tree, and the change of each frame with all that it calls.
 *
 * Each stack is in one region. Stacks of BASE alone vanished, and stacks of NEW alone are new, if
 * chance cannot explain it: they are in nine of ten runs, and cost more than the upper 97.5 % limit
 * of a stack without samples at the other end. All other stacks are in the first region. The frame
 * nearest to the root decides for all stacks through it. The costs of a frame are those of its
 * stacks in the region, so that the changes of the regions add up to the change of the total.
 *
 * Tests are those of diff.h, on the cost of a frame in each run. Frames that are nearly all of one
 * of their callers share its test. Tested are frames of at least 1 % of the total in the mean of
 * both ends, and only the costliest where the runs allow no more tests. Neither choice looks at the
 * difference.
 */
#ifndef ZC_CALL_DIFF_H
#define ZC_CALL_DIFF_H

#include "analyze/compare/diff.h"
#include "analyze/costs/call_tree.h"

/* The unit of two files whose work is not known. */
#define CALL_SHARES "%"

enum call_region { IN_BOTH, VANISHED, APPEARED, REGIONS };

struct call_change {
	double cost[ENDS];	    /* ns per unit of work, of the frame with all that it calls */
	const struct diff_row *row; /* its test; NULL: not tested */
};

struct call_diff {
	struct call_tree tree;
	struct call_change *changes[REGIONS]; /* by frame of the tree; no cost: not in the region */
	struct call_change regions[REGIONS];  /* costs alone */
	struct diff d;			      /* total, nruns, tests, possible, never_idle */
	struct cost_part part[ENDS];
	const char *side, *unit; /* CALL_SHARES: costs are percent of an end's time */
	size_t candidates;	 /* frames that would be tested if the runs allowed so many tests */
};

/* Reads both ends of an open comparison and judges. Warnings and losses go to `notes`. */
int call_diff_read(struct call_diff *cd, const struct comparison *c, bool reverse,
		   struct table *notes, struct error *err);
void call_diff_free(struct call_diff *cd);

#endif
