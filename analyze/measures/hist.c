// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/hist.h"

#include <math.h>

static double hist_within(double x, double min, double max)
{
	return x < min ? min : x > max ? max : x;
}

double hist_quantile(const uint64_t hist[64], double p, double min, double max)
{
	double all = 0, below = 0, want, lo, hi;
	int b;

	for (b = 0; b < 64; b++)
		all += (double)hist[b];
	if (!(all > 0))
		return NAN;
	want = p * all;
	for (b = 0; b < 63 && below + (double)hist[b] < want; b++)
		below += (double)hist[b];
	lo = hist_within(b ? ldexp(1, b) : 0, min, max);
	hi = hist_within(ldexp(1, b + 1), min, max);
	return hist[b] ? lo + (hi - lo) * (want - below) / (double)hist[b] : lo;
}
