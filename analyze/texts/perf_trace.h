/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of `perf trace -s`: per thread a heading "comm (tid), N events, P%" and a table syscall,
 * calls, errors, total, min, avg, max (ms), stddev (%: 100 x standard error of the mean / mean).
 * Older perfs have no errors or total column.
 */
#ifndef ZC_PERF_TRACE_H
#define ZC_PERF_TRACE_H

#include "lib/alloc.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_row {
	const char *comm; /* NULL: no thread's heading above the table */
	int64_t tid;	  /* -1: unknown */
	const char *syscall;
	uint64_t calls;
	int64_t errors;					     /* -1: no such column */
	double total_ms, min_ms, avg_ms, max_ms, stddev_pct; /* NAN: no such column */
	unsigned line;
};

struct trace {
	struct trace_row *rows; /* in the text's order */
	size_t n, cap;
	uint64_t events;  /* sum of the threads': enters plus exits, about twice the calls */
	unsigned tables;  /* strace -c: the first is read */
	bool no_total;	  /* strace -c: the table has no total to check it by */
	const char *says; /* what one must know of its times; or NULL */
	struct arena strings;
};

/* `name` is for messages, "-" is standard input; changes `data`. On error `trace` is empty. */
int perf_trace_parse(const char *name, char *data, size_t len, struct trace *trace,
		     struct error *err);
/* The same from a file, "-" for standard input. */
int perf_trace_read(const char *path, struct trace *trace, struct error *err);
void trace_free(struct trace *trace);

#endif
