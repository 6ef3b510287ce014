/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that print rates on lines, without times: one table of patterns for each. */
#ifndef ZC_WORKLOAD_LINES_H
#define ZC_WORKLOAD_LINES_H

#include "workload/workload.h"

/* The first (group) of `re` is a number. Of one program, the first row of a work that matches
 * counts. */
struct line_pattern {
	const char *re; /* NULL ends the table */
	enum work work;
	double scale; /* units of work in one unit of the number */
	/* The number is a total, and the second group its time in units of so many s. 0: a rate */
	double per_s;
	bool time_first; /* the time is the first group and the total the second */
	int base;	 /* of the letter K, M or G in the second group. 0: there is none */
	bool sum; /* lines are connections and add up. false: lines follow each other in time */
	bool one_test; /* lines are tests of different lengths: more than one is refused */
};

/* The `read` of an adapter with `lines`: they may be in standard output or standard error. */
int lines_read(const struct adapter *is, const struct workload_run *run, const char *arg,
	       struct account *a, struct error *err);

#endif
