/* SPDX-License-Identifier: GPL-2.0-only */
/* The `counters` table from what perf stat printed. */
#ifndef ZC_COUNTERS_STAT_H
#define ZC_COUNTERS_STAT_H

#include "analyze/measures/measure.h"

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
