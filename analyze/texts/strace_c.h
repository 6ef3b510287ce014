/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the table of `strace -c` (with -C, -f, -S, -w and any columns of -U) as rows of perf
 * trace. The rows have no threads, and min and max only if -U shows them. The reader skips lines
 * before and after the table. The table's total must be the sum of its rows.
 */
#ifndef ZC_STRACE_C_H
#define ZC_STRACE_C_H

#include "analyze/texts/perf_trace.h"

/* These functions work like perf_trace_parse() and perf_trace_read(). */
int strace_c_parse(const char *name, char *data, size_t len, struct trace *trace,
		   struct error *err);
int strace_c_read(const char *path, struct trace *trace, struct error *err);

#endif
