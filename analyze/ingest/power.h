/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power readings into energy over a window. A meter's watts are joined by straight lines
 * (trapezoids), an energy counter's joules are interpolated at the window's ends; neither is
 * extrapolated.
 */
#ifndef ZC_POWER_H
#define ZC_POWER_H

#include "analyze/ingest/ingest.h"

struct reading {
	uint64_t t_ns;
	double v; /* watts, or joules of a counter */
};

/* By time; equal times keep their order. */
void readings_sort(struct reading *r, size_t n);

/* Joules in [from, to], which lie inside the readings. */
double readings_integrate(const struct reading *watts, size_t n, uint64_t from, uint64_t to);
double readings_difference(const struct reading *joules, size_t n, uint64_t from, uint64_t to);

/* Longest time in [from, to] without a reading, where it is over thrice the median; else 0. */
double readings_gap(const struct reading *r, size_t n, uint64_t from, uint64_t to);

/* Mean power in the window from sorted readings, with notes; NAN where it is not covered. */
double readings_power(struct ingest *in, const char *what, const struct reading *r, size_t n,
		      bool energy);

#endif
