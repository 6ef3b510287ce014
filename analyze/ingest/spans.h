/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that were read at some instants, wanted over a window: between two neighbouring readings
 * a counter is taken to move evenly, so a span that lies half in the window gives half its change.
 */
#ifndef ZC_SPANS_H
#define ZC_SPANS_H

#include "lib/snap.h"

/* The share of [a, b] that lies in [from, to], 0..1. */
static inline double span_inside(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t lo = a > from ? a : from, hi = b < to ? b : to;

	return b > a && hi > lo ? (double)(hi - lo) / (double)(b - a) : 0;
}

#endif
