/* SPDX-License-Identifier: GPL-2.0-only */
/* Time: the clock of every raw file, and how far the windows of two sides may be apart. */
#ifndef ZC_CLOCK_H
#define ZC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the CLOCK_MONOTONIC of so many seconds from now. */
static inline uint64_t clock_deadline(double seconds)
{
	return clock_mono_ns() + (uint64_t)(seconds * 1e9);
}

/* Returns the CPU time of the calling thread in nanoseconds. */
static inline uint64_t clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * The starts, and the ends, of two sides' windows may be this share of the shorter window apart.
 * Beyond it `zcost capture` rejects the run, and the analysis of an older capture warns.
 */
#define WINDOW_SKEW_LIMIT 0.05
/* Beyond this share a figure of one side may not fit that of the other, and a warning says so. */
#define WINDOW_SKEW_DOUBTFUL 0.02

/* All arguments have one unit. `error` is the uncertainty of the offset between the clocks. */
static inline bool window_skew_too_large(double apart, double error, double shorter)
{
	return apart - error > WINDOW_SKEW_LIMIT * shorter;
}

#endif
