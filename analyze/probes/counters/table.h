/* SPDX-License-Identifier: GPL-2.0-only */
/* Ratios of two counters: IPC, miss ratios. */
#ifndef ZC_COUNTERS_H
#define ZC_COUNTERS_H

#include "analyze/scope/measure.h"

struct counter_ratio {
	char name[176]; /* "ipc:k", "cache_miss_pct", "LLC-load_miss_pct" */
	const char *unit;
	double value;
};

/* Finds the value of the event with that name. Returns false when the event was not counted. */
typedef bool (*counter_value_fn)(const void *arg, const char *event, double *value);

/*
 * Finds the ratio with `event` as the numerator. The denominator has the same PMU and modifiers:
 * "instructions:k" / "cycles:k". Returns false when there is no such ratio.
 */
bool counter_ratio(struct counter_ratio *ratio, const char *event, double value,
		   counter_value_fn value_of, const void *arg);

#endif
