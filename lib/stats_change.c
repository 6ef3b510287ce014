// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where does a series change? E-divisive means, for single figures. The sums of distances of all
 * splits of a segment take n log n steps: a tree of partial sums by rank gives the distances from
 * one value to all values before it.
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>

enum { PERMUTATIONS_LEAST = 999, PERMUTATIONS_MOST = 99999 };

struct change_value {
	double x;
	double sum;  /* the distances to all values of the segment, added up */
	size_t rank; /* from 1, in the segment */
};

/* A node of a Fenwick tree: number and sum of the values with some ranks. */
struct change_node {
	double n, sum;
};

struct change_segment {
	size_t from, to;
	double total; /* the distances of all pairs, added up */
	double q;     /* the statistic of the best split */
	size_t at;    /* its first value on the right */
};

struct changes {
	size_t n, nsegments;
	struct change_value *v, *shuffled;
	struct change_node *tree;
	struct change_segment *segments; /* in the order of the values */
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

/* Returns the largest Q of the segment's values in the order of `v`, and the place of its split. */
static double change_best_split(const struct changes *c, const struct change_segment *s,
				const struct change_value *v, size_t *at)
{
	size_t n = s->to - s->from;
	double left = 0, crossing = 0, best = 0, right, m, k, q;
	struct change_node all = {0, 0};

	for (size_t i = 0; i <= n; i++)
		c->tree[i] = (struct change_node){0, 0};
	for (size_t i = 1; i + STATS_SEGMENT <= n; i++) {
		double d = change_tree_add(c->tree, n, &v[s->from + i - 1], &all);

		left += d;
		crossing += v[s->from + i - 1].sum - 2 * d;
		if (i < STATS_SEGMENT)
			continue;
		m = (double)i;
		k = (double)(n - i);
		right = s->total - left - crossing;
		q = m * k / (m + k) *
		    (2 * crossing / (m * k) - 2 * left / (m * (m - 1)) - 2 * right / (k * (k - 1)));
		if (q > best) {
			best = q;
			*at = s->from + i;
		}
	}
	return best;
}

static int change_value_order(const void *a, const void *b)
{
	return stats_by_value(*(struct change_value *const *)a, *(struct change_value *const *)b);
}

/* Fills ranks and sums of the segment's values, and its best split. */
static void change_segment_fill(const struct changes *c, struct change_segment *s)
{
	size_t n = s->to - s->from;
	struct change_value **sorted = xcalloc(n + 1, sizeof(struct change_value *));
	double all = 0, below = 0;

	for (size_t i = 0; i < n; i++) {
		sorted[i] = &c->v[s->from + i];
		all += sorted[i]->x;
	}
	qsort(sorted, n, sizeof(*sorted), change_value_order);
	s->total = 0;
	for (size_t i = 0; i < n; i++) {
		double x = sorted[i]->x;

		sorted[i]->rank = i + 1;
		sorted[i]->sum = x * (2 * (double)i - (double)n) - 2 * below + all;
		below += x;
		s->total += sorted[i]->sum / 2;
	}
	free(sorted);
	s->q = change_best_split(c, s, c->v, &s->at);
}

static void change_shuffle(struct prng *r, struct change_value *v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = prng_below(r, i);
		struct change_value swap = v[i - 1];

		v[i - 1] = v[j];
		v[j] = swap;
	}
}

/* Returns whether some segment, shuffled, has a split with at least this Q. */
static bool change_shuffled_reaches(struct changes *c, struct prng *r, double q)
{
	bool reaches = false;
	size_t at;

	for (const struct change_segment *s = c->segments; s < c->segments + c->nsegments; s++) {
		change_shuffle(r, c->shuffled + s->from, s->to - s->from);
		reaches = reaches || change_best_split(c, s, c->shuffled, &at) >= q * (1 - 1e-9);
	}
	return reaches;
}

/* Returns the p of the best split, or 1 as soon as p must be above alpha. */
static double change_test(struct changes *c, double q, double alpha)
{
	double rounds = fmin(fmax(ceil(2 / alpha), PERMUTATIONS_LEAST), PERMUTATIONS_MOST);
	double hits = 1; /* the order of the values */
	struct prng r;

	prng_seed(&r, STATS_SEED);
	for (size_t i = 0; i < c->n; i++)
		c->shuffled[i] = c->v[i];
	for (double i = 0; i < rounds && hits <= alpha * (rounds + 1); i++)
		hits += change_shuffled_reaches(c, &r, q);
	return hits <= alpha * (rounds + 1) ? hits / (rounds + 1) : 1;
}

/* Splits the segment at its place in two. */
static void change_split(struct changes *c, size_t at)
{
	struct change_segment *s;

	for (size_t i = c->nsegments++; i > at; i--)
		c->segments[i] = c->segments[i - 1];
	s = &c->segments[at];
	s[1] = (struct change_segment){.from = s->at, .to = s->to};
	s->to = s->at;
	change_segment_fill(c, s);
	change_segment_fill(c, s + 1);
}

size_t stats_changes(const double *x, size_t n, double alpha, struct stats_change *list)
{
	struct changes c = {.n = n, .nsegments = 1};
	double middle = stats_quantile(x, n, 0.5), p;
	size_t found = 0, best, i;

	c.v = xcalloc(n + 1, sizeof(*c.v));
	c.shuffled = xcalloc(n + 1, sizeof(*c.shuffled));
	c.tree = xcalloc(n + 1, sizeof(*c.tree));
	c.segments = xcalloc(n / STATS_SEGMENT + 2, sizeof(*c.segments));
	for (i = 0; i < n; i++)
		c.v[i].x = x[i] - middle; /* smaller rounding errors */
	c.segments[0] = (struct change_segment){.to = n};
	change_segment_fill(&c, c.segments);
	for (;;) {
		for (i = best = 0; i < c.nsegments; i++)
			if (c.segments[i].q > c.segments[best].q)
				best = i;
		/* Equal values have a Q of rounding errors. */
		p = c.segments[best].q > 1e-9 * fabs(middle)
			    ? change_test(&c, c.segments[best].q, alpha)
			    : 1;
		if (p > alpha)
			break;
		for (i = found++; i > best; i--)
			list[i] = list[i - 1];
		list[best] = (struct stats_change){c.segments[best].at, p};
		change_split(&c, best);
	}
	free(c.v);
	free(c.shuffled);
	free(c.tree);
	free(c.segments);
	return found;
}

struct stats_spread stats_spread_of(const double *const *x, const size_t *n, size_t captures,
				    const struct stats_change *changes, size_t nchanges)
{
	/* sums of squares, their degrees of freedom, and the weight of the captures' variance */
	double within = 0, within_df = 0, between = 0, between_df = 0, weight = 0, spread;
	size_t from = 0, to;

	for (size_t s = 0; s <= nchanges; s++, from = to) {
		double runs = 0, squares = 0, sum = 0, mean;

		to = s < nchanges ? changes[s].at : captures;
		for (size_t i = from; i < to; i++) {
			runs += (double)n[i];
			squares += (double)n[i] * (double)n[i];
			sum += (double)n[i] * stats_mean(x[i], n[i]);
		}
		for (size_t i = from; i < to; i++) {
			mean = stats_mean(x[i], n[i]);
			between += (double)n[i] * (mean - sum / runs) * (mean - sum / runs);
			for (size_t k = 0; k < n[i]; k++)
				within += (x[i][k] - mean) * (x[i][k] - mean);
		}
		within_df += runs - (double)(to - from);
		between_df += (double)(to - from) - 1;
		weight += runs - squares / runs;
	}
	within /= within_df;
	spread = (between - between_df * within) / weight;
	return (struct stats_spread){within_df > 0 ? sqrt(within) : NAN,
				     within_df > 0 && between_df > 0 ? sqrt(fmax(0, spread)) : NAN};
}
