/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the text of `perf trace -s`. Each thread has a heading "comm (tid), N events, P%" and a
 * table: syscall, calls, errors, total, min, avg, max (ms), stddev (%: 100 x standard error of the
 * mean / mean). Old perf versions have no errors column or no total column.
 */
#ifndef ZC_PERF_TRACE_H
#define ZC_PERF_TRACE_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_row {
	const char *comm; /* NULL without a thread's heading above the table */
	int64_t tid;	  /* -1 if unknown */
	const char *syscall;
	uint64_t calls;
	int64_t errors;					     /* -1 without such a column */
	double total_ms, min_ms, avg_ms, max_ms, stddev_pct; /* NAN without such a column */
	unsigned line;
};

struct trace {
	struct trace_row *rows; /* in the text's order */
	size_t n, cap;
	uint64_t events; /* sum over the threads: enters plus exits, about twice the calls */
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
