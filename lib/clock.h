/* SPDX-License-Identifier: GPL-2.0-only */
/* The one clock of every raw file: CLOCK_MONOTONIC, nanoseconds. */
#ifndef ZC_CLOCK_H
#define ZC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

uint64_t clock_mono_ns(void);

/* When do two sides of a run no longer measure the same time? */

/*
 * Of the shorter window. Sides whose windows' starts, or ends, are farther apart make no run in
 * `zcost capture`; the analysis says so of captures that hold one.
 */
#define WINDOW_SKEW_LIMIT 0.05

/* All of one unit. `error`: how well the sides' clocks were compared. */
static inline bool window_skew_too_large(double apart, double error, double shorter)
{
	return apart - error > WINDOW_SKEW_LIMIT * shorter;
}

#endif
