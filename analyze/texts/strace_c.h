/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of `strace -c` (-C, -f, -S, -w; whichever columns -U chose), as rows like perf trace's:
 * without threads, min and max where -U shows them. Lines before and after the table are passed
 * over; its total must be the sum of its rows.
 */
#ifndef ZC_STRACE_C_H
#define ZC_STRACE_C_H

#include "analyze/texts/perf_trace.h"

/* As perf_trace_parse and perf_trace_read. */
int strace_c_parse(const char *name, char *data, size_t len, struct trace *trace,
		   struct error *err);
int strace_c_read(const char *path, struct trace *trace, struct error *err);

#endif
