/* SPDX-License-Identifier: GPL-2.0-only */
/* What follows from two counters: IPC, miss ratios. */
#ifndef ZC_COUNTERS_RATIOS_H
#define ZC_COUNTERS_RATIOS_H

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

#endif
