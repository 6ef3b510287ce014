// SPDX-License-Identifier: GPL-2.0-only
/* Ways to split runs into halves, and a list of costs split so. */
#include "analyze/compare/self_test.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS_MAX = 64 };

/* choose(n, k), as far as it is not above `most`. */
static double ways(size_t n, size_t k, double most)
{
	double all = 1;
	size_t i;

	for (i = 0; i < k && all <= most * 2; i++)
		all = all * (double)(n - i) / (double)(i + 1);
	return all;
}

/* The next larger number with as many bits. */
static uint64_t next_split(uint64_t v)
{
	uint64_t low = v & -v, ripple = v + low;

	return ripple | ((v ^ ripple) >> 2) / low;
}

/* With halves of one size the split and its mirror are the same pair: those with run 0 are taken.
 */
static void every_split(struct splits *s)
{
	bool mirrored = s->base * 2 == s->runs;
	uint64_t v = (1ULL << s->base) - 1, end = 1ULL << s->runs;

	for (; v < end; v = next_split(v))
		if (!mirrored || v & 1)
			s->of[s->n++] = v;
}

static uint64_t draw(struct prng *r, size_t runs, size_t base)
{
	uint64_t v = 0;
	size_t left = base, i;

	for (i = 0; i < runs; i++)
		if (prng_below(r, runs - i) < left) {
			v |= 1ULL << i;
			left--;
		}
	return v;
}

void splits_make(struct splits *s, size_t runs)
{
	struct prng r;
	double all;

	*s = (struct splits){.runs = runs < RUNS_MAX ? runs : RUNS_MAX - 1};
	s->base = s->runs / 2;
	if (!s->base)
		return;
	all = ways(s->runs, s->base, 2.0 * SPLITS) / (s->base * 2 == s->runs ? 2 : 1);
	s->every = all <= SPLITS;
	s->of = xcalloc(SPLITS + 1, sizeof(*s->of));
	if (s->every) {
		every_split(s);
		return;
	}
	prng_seed(&r, STATS_SEED);
	while (s->n < SPLITS)
		s->of[s->n++] = draw(&r, s->runs, s->base);
}

void splits_free(struct splits *s)
{
	free(s->of);
	*s = (struct splits){0};
}

/* What a row, or all rows, cost in the runs of one half: their mean. */
static double share_out(const double *runs, size_t n, uint64_t base, enum end e, double *half)
{
	double sum = 0;
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		if ((base >> i & 1) == (e == NEW))
			continue;
		half[k++] = runs[i];
		sum += runs[i];
	}
	return k ? sum / (double)k : NAN;
}

static void split_row(struct diff *d, const struct diff_row *from, size_t n, uint64_t base)
{
	struct diff_row *row;
	int e;

	array_grow(d->rows, d->n, d->cap);
	row = &d->rows[d->n++];
	*row = (struct diff_row){.key = from->key, .key2 = from->key2, .p = NAN};
	for (e = 0; e < ENDS; e++) {
		row->runs[e] = arena_alloc(&d->arena, (n + 1) * sizeof(double));
		row->cost[e] = share_out(from->runs[BASE], n, base, (enum end)e, row->runs[e]);
		row->ci[e] = 0;
		row->seen[e] = true;
	}
}

void diff_split(struct diff *d, const struct diff *all, uint64_t base)
{
	size_t n = all->nruns[BASE], i, k;
	double *sums = xcalloc(n + 1, sizeof(*sums)), *half = xcalloc(n + 1, sizeof(*half));
	double total = 0;
	int e;

	diff_init(d);
	for (i = 0; i < all->n; i++)
		for (k = 0; k < n; k++)
			sums[k] += all->rows[i].runs[BASE][k];
	for (k = 0; k < n; k++)
		total += sums[k] / (double)n;
	d->nruns[BASE] = (size_t)__builtin_popcountll(base);
	d->nruns[NEW] = n - d->nruns[BASE];
	for (e = 0; e < ENDS; e++)
		d->total[e] = share_out(sums, n, base, (enum end)e, half);
	/* The others are not tested, and many. */
	for (i = 0; i < all->n; i++)
		if (stats_mean(all->rows[i].runs[BASE], n) >= FAMILY_SHARE * total)
			split_row(d, &all->rows[i], n, base);
	free(sums);
	free(half);
}
