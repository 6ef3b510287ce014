/* SPDX-License-Identifier: GPL-2.0-only */
/* What follows from two counters: IPC, miss ratios. */
#ifndef ZC_COUNTERS_H
#define ZC_COUNTERS_H

#include "analyze/measures/measure.h"

#include <stdbool.h>
#include <stddef.h>

struct counter_ratio {
	char name[176]; /* "ipc:k", "cache_miss_pct", "LLC-load_miss_pct" */
	const char *unit;
	double value;
};

/* Value of the event of that name; false: it was not counted. */
typedef bool (*counter_value_fn)(const void *arg, const char *event, double *value);

/*
 * The ratio that has `event` above the line, with the event below it counted under the same PMU
 * and modifiers: "instructions:k" by "cycles:k". False: there is none.
 */
bool counter_ratio(struct counter_ratio *ratio, const char *event, double value,
		   counter_value_fn value_of, const void *arg);

/* The `counters` table from what perf stat printed. */

/*
 * Fills `t`, initialised with the columns of `counters`: each counter as perf printed it, with
 * Student's 95 % interval from perf's standard error over its repeats (stddev_pct is that, 100 x
 * s / sqrt(n) / mean, no standard deviation: docs/method.md); the ratios of two counters
 * that were taken under the same modifiers; and, where the query says how much work was done
 * (--units, or --rate with perf's elapsed time), each counter per unit of work.
 */
int counters_from_stat(const struct perf_stat *st, const struct query *q, struct table *t,
		       struct error *err);

#endif
