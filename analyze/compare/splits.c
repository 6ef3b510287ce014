// SPDX-License-Identifier: GPL-2.0-only
/* The splits of a self-test: ways to split runs into halves, and a list of costs split so. */
#include "analyze/compare/self_test.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS_MAX = 64 };

/* Returns choose(n, k). */
static double splits_count(size_t n, size_t k)
{
	double all = 1;
	size_t i;

	for (i = 0; i < k; i++)
		all = all * (double)(n - i) / (double)(i + 1);
	return all;
}

/* Returns the next larger number with the same number of bits set. */
static uint64_t splits_next(uint64_t v)
{
	uint64_t low = v & -v, ripple = v + low;

	return ripple | ((v ^ ripple) >> 2) / low;
}

/* Lists every split. With equal halves, a split and its mirror are one pair: lists that with run 0.
 */
static void splits_fill_all(struct splits *s)
{
	bool mirrored = s->base * 2 == s->runs;
	uint64_t v = (1ULL << s->base) - 1, end = 1ULL << s->runs;

	for (; v < end; v = splits_next(v))
		if (!mirrored || v & 1)
			s->of[s->n++] = v;
}

static uint64_t splits_draw(struct prng *r, size_t runs, size_t base)
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

void splits_make(struct splits *s, size_t runs, size_t most)
{
	struct prng r;
	double all;

	*s = (struct splits){.runs = runs < RUNS_MAX ? runs : RUNS_MAX - 1};
	s->base = s->runs / 2;
	if (!s->base)
		return;
	all = splits_count(s->runs, s->base) / (s->base * 2 == s->runs ? 2 : 1);
	s->every = all <= (double)most;
	s->of = xcalloc(most + 1, sizeof(*s->of));
	if (s->every) {
		splits_fill_all(s);
		return;
	}
	prng_seed(&r, STATS_SEED);
	while (s->n < most)
		s->of[s->n++] = splits_draw(&r, s->runs, s->base);
}

void splits_free(struct splits *s)
{
	free(s->of);
	*s = (struct splits){0};
}

uint64_t splits_first_half(const struct splits *s)
{
	return (1ULL << s->base) - 1;
}

uint64_t splits_alternate(const struct splits *s)
{
	return 0x5555555555555555ULL & ((1ULL << s->runs) - 1);
}

/* --- a list of costs --- */

/* Copies the runs of one half and returns their mean. */
static double split_mean(const double *runs, size_t n, uint64_t base, enum end e, double *half)
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

static struct stats_halves *split_row_test(const struct diff_row *row, const struct splits *s)
{
	double *x = xcalloc(s->runs + 1, sizeof(*x));
	struct stats_halves *test;
	size_t k;

	for (k = 0; k < s->runs; k++)
		x[k] = stats_significant(row->runs[BASE][k]);
	test = stats_halves_new(x, s->runs, s->base);
	free(x);
	return test;
}

void split_list_init(struct split_list *l, const struct diff *all, const struct splits *s)
{
	size_t i, k;

	*l = (struct split_list){.rows = xcalloc(all->n + 1, sizeof(*l->rows)),
				 .tests = xcalloc(all->n + 1, sizeof(*l->tests)),
				 .runs = s->runs,
				 .sums = xcalloc(s->runs + 1, sizeof(*l->sums))};
	for (i = 0; i < all->n; i++)
		for (k = 0; k < s->runs; k++)
			l->sums[k] += all->rows[i].runs[BASE][k];
	for (i = 0; i < all->n; i++) {
		if (!(stats_mean(all->rows[i].runs[BASE], s->runs) >=
		      FAMILY_SHARE * stats_mean(l->sums, s->runs)))
			continue;
		l->rows[l->n] = &all->rows[i];
		l->tests[l->n++] = split_row_test(&all->rows[i], s);
	}
}

void split_list_free(struct split_list *l)
{
	while (l->n)
		stats_halves_free(l->tests[--l->n]);
	free(l->rows);
	free(l->tests);
	free(l->sums);
}

static void diff_split_row(struct diff *d, const struct split_list *l, size_t i, uint64_t base)
{
	struct diff_row *row;
	int e;

	array_grow(d->rows, d->n, d->cap);
	row = &d->rows[d->n++];
	*row = (struct diff_row){.key = l->rows[i]->key,
				 .key2 = l->rows[i]->key2,
				 .p = stats_halves_p(l->tests[i], base)};
	for (e = 0; e < ENDS; e++) {
		row->runs[e] = arena_alloc(&d->arena, (l->runs + 1) * sizeof(double));
		row->cost[e] = split_mean(l->rows[i]->runs[BASE], l->runs, base, (enum end)e,
					  row->runs[e]);
		row->seen[e] = true;
	}
}

void diff_split(struct diff *d, const struct split_list *l, uint64_t base)
{
	double *half = xcalloc(l->runs + 1, sizeof(*half));
	size_t i;
	int e;

	diff_init(d);
	d->split = true;
	d->nruns[BASE] = (size_t)__builtin_popcountll(base);
	d->nruns[NEW] = l->runs - d->nruns[BASE];
	for (e = 0; e < ENDS; e++)
		d->total[e] = split_mean(l->sums, l->runs, base, (enum end)e, half);
	for (i = 0; i < l->n; i++)
		diff_split_row(d, l, i, base);
	free(half);
}
