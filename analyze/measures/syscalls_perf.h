/* SPDX-License-Identifier: GPL-2.0-only */
/* The `syscalls` table from the tracepoints of a perf.data. */
#ifndef ZC_SYSCALLS_PERF_H
#define ZC_SYSCALLS_PERF_H

#include "analyze/measures/measure.h"

/*
 * Fills `t` from raw_syscalls:sys_enter and sys_exit, or, where those are not recorded, from
 * syscalls:sys_enter_* and sys_exit_*. A call counts when both its entry and its return are in the
 * recording, under the name its thread had last: see docs/method.md for where perf trace -s
 * differs.
 */
int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
		       struct error *err);

#endif
