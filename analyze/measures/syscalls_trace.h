/* SPDX-License-Identifier: GPL-2.0-only */
/* The `syscalls` table from the text of perf trace -s. */
#ifndef ZC_SYSCALLS_TRACE_H
#define ZC_SYSCALLS_TRACE_H

#include "analyze/measures/measure.h"

/*
 * Fills `t`, initialised with the columns of `syscalls`: one row per command and system call, the
 * threads of a command added up (mean and standard error by their formulas), the longest in all
 * first; --by syscall adds up the commands, too. ns per KiB and calls per MiB where the query gives
 * the work in KiB (--units, --unit KiB).
 */
int syscalls_from_perf_trace(const struct trace *trace, const struct query *q, struct table *t,
			     struct error *err);

#endif
