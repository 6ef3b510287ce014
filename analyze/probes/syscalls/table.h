/* SPDX-License-Identifier: GPL-2.0-only */
/* What a unit of work spends in system calls. */
#ifndef ZC_SYSCALL_COSTS_H
#define ZC_SYSCALL_COSTS_H

#include "analyze/scope/measure.h"
#include "analyze/scope/work.h"

/*
 * The calls of one name by one command, per unit of --unit: ns per KiB and calls per MiB by
 * default. The figures are NAN where the work is not known.
 */
struct syscall_cost {
	const char *name; /* a string of the store */
	double ns_per_work, calls_per_work;
};

/* Returns the unit of work that the query asks for, or NULL with an error. */
const struct work_kind *syscalls_unit(const struct query *q, struct error *err);

/*
 * Reads the calls in the runs of the query's only block, those with the most time first, and adds
 * the notes on these runs. The caller frees *costs. Returns their number or -errno.
 */
int syscall_costs_read(struct store *s, const struct query *q, struct syscall_cost **costs,
		       struct table *notes, struct error *err);

#endif
