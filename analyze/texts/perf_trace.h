/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the text of `perf trace -s`. Each thread has a heading "comm (tid), N events, P%" and a
 * table: syscall, calls, errors, total, min, avg, max (ms), stddev (%: 100 x standard error of the
 * mean / mean).
 */
#ifndef ZC_PERF_TRACE_H
#define ZC_PERF_TRACE_H

#include "analyze/model/rows.h"
#include "lib/alloc.h"
#include "lib/error.h"

#include <stddef.h>

struct trace {
	struct syscall_row *rows; /* in the text's order; comm is "" and tid 0 where not named */
	size_t n, cap;
	struct arena strings;
};

/*
 * Parses a text and changes `data`, or reads the file `name` if `data` is NULL; "-" is standard
 * input. On error `trace` is empty.
 */
int perf_trace_parse(const char *name, char *data, size_t len, struct trace *trace,
		     struct error *err);
void trace_free(struct trace *trace);

#endif
