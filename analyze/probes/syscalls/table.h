/* SPDX-License-Identifier: GPL-2.0-only */
/* What a unit of work spends in system calls. */
#ifndef ZC_SYSCALL_COSTS_H
#define ZC_SYSCALL_COSTS_H

#include "analyze/scope/measure.h"

/* The calls of one name by one command. The figures are NAN where the work is not known. */
struct syscall_cost {
	const char *name; /* a string of the store */
	double ns_per_kib, calls_per_mib;
};

/*
 * Reads the calls in the runs of the query's only block, those with the most time first, and adds
 * the notes on these runs. The caller frees *costs. Returns their number or -errno.
 */
int syscall_costs_read(struct store *s, const struct query *q, struct syscall_cost **costs,
		       struct table *notes, struct error *err);

#endif
