// SPDX-License-Identifier: GPL-2.0-only
#include "hist.h"

#include <math.h>

uint64_t hist_floor(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * HIST_SUB)
		return bucket;
	shift = bucket / HIST_SUB - 1;
	return (uint64_t)(bucket - shift * HIST_SUB) << shift;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	unsigned int i;

	if (!from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	for (i = 0; i < HIST_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

uint64_t hist_quantile(const struct hist *h, double p)
{
	uint64_t want = (uint64_t)ceil(p * (double)h->count), below = 0, v;
	unsigned int i;

	if (!h->count)
		return 0;
	for (i = 0; i < HIST_BUCKETS - 1 && below + h->buckets[i] < want; i++)
		below += h->buckets[i];
	v = hist_floor(i) + (hist_floor(i + 1) - 1 - hist_floor(i)) / 2;
	return v < h->min ? h->min : v > h->max ? h->max : v;
}
