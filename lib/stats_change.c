// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where does a series change? E-divisive means, for single figures. The sums of distances of all
 * splits of a segment take n log n steps: a tree of partial sums by rank gives the distances from
 * one value to all values before it.
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>

enum { PERMUTATIONS_LEAST = 999, PERMUTATIONS_MOST = 99999 };

struct change_value {
	double x, sum; /* sum: the distances to all values of the segment, added up */
	size_t rank;   /* from 1, in the segment */
};

/* Number and sum of the values with some ranks. */
struct change_node {
	double n, sum;
};

/* The values since the last change, up to the present look. */
struct change_segment {
	struct change_value *v;
	size_t n;
	size_t *order;		  /* places in v */
	double total;		  /* the distances of all pairs, added up */
	struct change_node *tree; /* a Fenwick tree */
};

/* Adds a value to the tree, and returns the sum of its distances to those that are in it. */
static double change_tree_add(struct change_node *tree, size_t n, const struct change_value *v,
			      struct change_node *all)
{
	struct change_node below = {0, 0};
	double distances;

	for (size_t i = v->rank; i; i &= i - 1) {
		below.n += tree[i].n;
		below.sum += tree[i].sum;
	}
	distances = v->x * (2 * below.n - all->n) - 2 * below.sum + all->sum;
	for (size_t i = v->rank; i <= n; i += i & -i) {
		tree[i].n++;
		tree[i].sum += v->x;
	}
	all->n++;
	all->sum += v->x;
	return distances;
}

/* Returns the largest Q of the values in this order, and in *at the first value behind its split.
 */
static double change_best_split(const struct change_segment *s, size_t *at)
{
	double left = 0, crossing = 0, best = 0, right, m, k, q, d;
	struct change_node all = {0, 0};

	for (size_t i = 0; i <= s->n; i++)
		s->tree[i] = all;
	for (size_t i = 1; i + STATS_SEGMENT <= s->n; i++) {
		const struct change_value *v = &s->v[s->order[i - 1]];

		d = change_tree_add(s->tree, s->n, v, &all);
		left += d;
		crossing += v->sum - 2 * d;
		right = s->total - left - crossing;
		m = (double)i;
		k = (double)(s->n - i);
		q = 2 * crossing / (m * k) - 2 * left / (m * (m - 1)) - 2 * right / (k * (k - 1));
		if (i >= STATS_SEGMENT && q * m * k / (m + k) > best) {
			best = q * m * k / (m + k);
			*at = i;
		}
	}
	return best;
}

/* Adds the next value of the series, and brings the values back into their order. */
static void change_segment_add(struct change_segment *s, double x)
{
	struct change_value *new = &s->v[s->n];

	*new = (struct change_value){.x = x, .rank = 1};
	for (size_t i = 0; i < s->n; i++) {
		double d = s->v[i].x - x;

		s->order[i] = i;
		s->v[i].sum += fabs(d);
		s->v[i].rank += d > 0;
		new->rank += d <= 0;
		new->sum += fabs(d);
	}
	s->total += new->sum;
	s->order[s->n] = s->n;
	s->n++;
}

/* Makes the segment one of n other values. */
static void change_segment_fill(struct change_segment *s, const double *x, size_t n)
{
	s->n = 0;
	s->total = 0;
	for (size_t i = 0; i < n; i++)
		change_segment_add(s, x[i]);
}

/* Returns the p of the best split with this Q, or 1 as soon as p must be above alpha. */
static double change_test(struct change_segment *s, double q, double alpha)
{
	double rounds = fmin(fmax(ceil(2 / alpha), PERMUTATIONS_LEAST), PERMUTATIONS_MOST);
	double hits = 1; /* the order of the values itself */
	struct prng r;
	size_t at;

	prng_seed(&r, STATS_SEED);
	for (double i = 0; i < rounds && hits <= alpha * (rounds + 1); i++) {
		prng_shuffle(&r, s->order, s->n);
		hits += change_best_split(s, &at) >= q * (1 - 1e-9);
	}
	return hits <= alpha * (rounds + 1) ? hits / (rounds + 1) : 1;
}

size_t stats_changes(const double *series, size_t n, double alpha, struct stats_change *list)
{
	autofree double *x = xcalloc(n + 1, sizeof(*x));
	autofree struct change_value *v = xcalloc(n + 1, sizeof(*v));
	autofree size_t *order = xcalloc(n + 1, sizeof(*order));
	autofree struct change_node *tree = xcalloc(n + 1, sizeof(*tree));
	struct change_segment s = {.v = v, .order = order, .tree = tree};
	double middle = stats_quantile(series, n, 0.5), p, q;
	size_t found = 0, from = 0, at = 0;

	for (size_t end = 1; end <= n; end++) {
		x[end - 1] = series[end - 1] - middle; /* smaller rounding errors */
		change_segment_add(&s, x[end - 1]);
		q = change_best_split(&s, &at);
		/* Equal values have a Q of rounding errors. */
		p = q > 1e-9 * fabs(middle) ? change_test(&s, q, alpha) : 1;
		if (p > alpha)
			continue;
		from += at;
		list[found++] = (struct stats_change){from, p};
		change_segment_fill(&s, x + from, end - from);
	}
	for (size_t i = 0; i < found; i++) { /* what came after it shows the place better */
		from = i ? list[i - 1].at : 0;
		change_segment_fill(&s, x + from, (i + 1 < found ? list[i + 1].at : n) - from);
		if (change_best_split(&s, &at) > 0)
			list[i].at = from + at;
	}
	return found;
}

struct stats_spread stats_spread_of(const double *const *x, const size_t *n, size_t captures,
				    const struct stats_change *changes, size_t nchanges)
{
	/* sums of squares, their degrees of freedom, and the weight of the captures' variance */
	double within = 0, within_df = 0, between = 0, between_df = 0, weight = 0, mean;
	size_t from = 0, to;

	for (size_t s = 0; s <= nchanges; s++, from = to) {
		double runs = 0, squares = 0, sum = 0;

		to = s < nchanges ? changes[s].at : captures;
		for (size_t i = from; i < to; i++) {
			mean = stats_mean(x[i], n[i]);
			for (size_t k = 0; k < n[i]; k++)
				within += (x[i][k] - mean) * (x[i][k] - mean);
			runs += (double)n[i];
			squares += (double)n[i] * (double)n[i];
			sum += (double)n[i] * mean;
		}
		for (size_t i = from; i < to; i++)
			between += (double)n[i] * pow(stats_mean(x[i], n[i]) - sum / runs, 2);
		within_df += runs - (double)(to - from);
		between_df += (double)(to - from) - 1;
		weight += runs - squares / runs;
	}
	within = within_df > 0 ? within / within_df : NAN;
	between = between_df > 0 ? (between - between_df * within) / weight : NAN;
	return (struct stats_spread){sqrt(within), isnan(between) ? NAN : sqrt(fmax(0, between))};
}
