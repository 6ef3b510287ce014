/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log-linear histogram, like HdrHistogram. Values below 128 are exact. Above, each power of two
 * has 64 buckets, so a quantile is off by less than 1 %. Count, sum, minimum and maximum are exact.
 */
#ifndef TCPZC_HIST_H
#define TCPZC_HIST_H

#include <stdint.h>

enum { HIST_SUB = 64, HIST_BUCKETS = (64 - 5) * HIST_SUB };

struct hist {
	uint64_t count, sum, min, max;
	uint64_t buckets[HIST_BUCKETS];
};

static inline unsigned int hist_bucket(uint64_t v)
{
	int shift;

	if (v < 2 * HIST_SUB)
		return (unsigned int)v;
	shift = 63 - __builtin_clzll(v) - 6;
	return (unsigned int)(shift * HIST_SUB) + (unsigned int)(v >> shift);
}

static inline void hist_add(struct hist *h, uint64_t v)
{
	if (!h->count || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count++;
	h->sum += v;
	h->buckets[hist_bucket(v)]++;
}

/* Returns the smallest value of a bucket. */
uint64_t hist_floor(unsigned int bucket);
void hist_merge(struct hist *to, const struct hist *from);
/* Returns the middle of the bucket that holds quantile `p`, or 0 when the histogram is empty. */
uint64_t hist_quantile(const struct hist *h, double p);

#endif
