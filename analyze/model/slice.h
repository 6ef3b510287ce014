/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of a recording's time, as the user names it with --from and --to. */
#ifndef ZC_MODEL_SLICE_H
#define ZC_MODEL_SLICE_H

#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct time_point {
	uint64_t ns;
	bool given, relative; /* relative: counts from the first sample */
};

struct time_slice {
	struct time_point from, to; /* [from, to) */
};

/*
 * Parses seconds as perf script prints them ("12345.678901"), or seconds after the first sample
 * ("+0.25"), to the nanosecond. Returns -EINVAL for anything else.
 */
int time_point_parse(struct time_point *p, const char *text);

/* Returns whether the user named a start or an end. */
bool slice_given(const struct time_slice *s);
/* Returns -EINVAL unless the slice starts before its end. */
int slice_check(const struct time_slice *s, struct error *err);

#endif
