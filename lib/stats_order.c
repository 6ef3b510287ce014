// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the order of runs more than chance? The tests permute the runs. A permutation moves whole
 * runs, with all their figures, so that figures that depend on each other need no correction.
 * Values count by their ranks, so that one outlier cannot decide.
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>

enum { EXACT_RUNS = 7, PERMUTATIONS = 9999 };

struct order_series {
	const double *rank; /* doubled midranks of all series, one after the other */
	size_t series, n;
};

struct order_score {
	double serial, trend; /* those of the series with the most */
};

/* Fills doubled midranks. */
static void order_rank(const double *x, size_t n, double *rank)
{
	for (size_t i = 0; i < n; i++) {
		rank[i] = 1;
		for (size_t j = 0; j < n; j++)
			rank[i] += 2.0 * (x[j] < x[i]) + (x[j] == x[i]);
	}
}

/*
 * Returns minus von Neumann's ratio of the ranks: neighbours that are alike give a high score.
 * Returns 0 / 0, which is NAN, if all values are equal.
 */
static double order_serial(const double *rank, const size_t *at, size_t n)
{
	double mean = (double)n + 1, steps = 0, squares = 0, d;

	for (size_t i = 0; i < n; i++) {
		d = i ? rank[at[i]] - rank[at[i - 1]] : 0;
		steps += d * d;
		squares += (rank[i] - mean) * (rank[i] - mean);
	}
	return -steps / squares;
}

/*
 * Returns the absolute value of Kendall's S over the number of pairs that are no tie. Returns 0 /
 * 0, which is NAN, if all pairs are ties.
 */
static double order_trend(const double *rank, const size_t *at, size_t n)
{
	long s = 0, pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			s += (rank[at[i]] > rank[at[j]]) - (rank[at[i]] < rank[at[j]]);
			pairs += rank[at[i]] != rank[at[j]];
		}
	return fabs((double)s) / (double)pairs;
}

/* fmax ignores the series without a score. */
static struct order_score order_score(const struct order_series *o, const size_t *at)
{
	struct order_score most = {NAN, NAN};

	for (size_t i = 0; i < o->series; i++) {
		const double *rank = o->rank + i * o->n;

		most.serial = fmax(most.serial, order_serial(rank, at, o->n));
		most.trend = fmax(most.trend, order_trend(rank, at, o->n));
	}
	return most;
}

/* Sets the next permutation in lexicographic order; returns false after the last. */
static bool order_next(size_t *at, size_t n)
{
	size_t i = n - 1, j = n - 1, swap;

	while (i && at[i - 1] > at[i])
		i--;
	if (!i)
		return false;
	while (at[j] < at[i - 1])
		j--;
	for (swap = at[i - 1], at[i - 1] = at[j], at[j] = swap, j = n - 1; i < j; i++, j--) {
		swap = at[i];
		at[i] = at[j];
		at[j] = swap;
	}
	return true;
}

void prng_shuffle(struct prng *r, size_t *at, size_t n)
{
	size_t j, swap;

	for (size_t i = n; i-- > 1;) {
		j = prng_below(r, i + 1);
		swap = at[i];
		at[i] = at[j];
		at[j] = swap;
	}
}

/* Counts the permutations with a score at least as high as that of the runs' own order. */
static struct order_test order_count(const struct order_series *o, size_t *at)
{
	struct order_score own = order_score(o, at), s;
	bool exact = o->n <= EXACT_RUNS;
	double serial = 1, trend = 1, all = 1; /* the runs' own order */
	struct prng r;

	prng_seed(&r, STATS_SEED);
	while (exact ? order_next(at, o->n) : all <= PERMUTATIONS) {
		if (!exact)
			prng_shuffle(&r, at, o->n);
		s = order_score(o, at);
		serial += s.serial >= own.serial - 1e-9;
		trend += s.trend >= own.trend - 1e-9;
		all++;
	}
	return (struct order_test){isnan(own.serial) ? NAN : serial / all,
				   isnan(own.trend) ? NAN : trend / all};
}

struct order_test stats_order_test(const double *const *x, size_t series, size_t n)
{
	autofree double *rank = xcalloc(series * n + 1, sizeof(*rank));
	autofree size_t *at = xcalloc(n + 1, sizeof(*at));
	struct order_test test = {NAN, NAN};

	for (size_t i = 0; i < n; i++)
		at[i] = i;
	for (size_t i = 0; i < series; i++)
		order_rank(x[i], n, rank + i * n);
	if (series && n >= STATS_ORDER_MIN)
		test = order_count(&(struct order_series){rank, series, n}, at);
	return test;
}
