/* SPDX-License-Identifier: GPL-2.0-only */
/* Percentiles out of log2 histograms: bucket b counts values v with floor(log2 v) = b. */
#ifndef ZC_HIST_H
#define ZC_HIST_H

#include <stdint.h>

/*
 * The value below which a share `p` (0..1) of the values lie, taking them as evenly spread in each
 * bucket and all within [min, max]; NAN for an empty histogram.
 */
double hist_quantile(const uint64_t hist[64], double p, double min, double max);

#endif
