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
	double x, sum; /* sum: the distances to all values of the segment, added up */
	size_t rank;   /* from 1, in the segment */
};

/* Number and sum of the values with some ranks. */
struct change_node {
	double n, sum;
};

struct change_segment {
	size_t from, to, at;  /* at: the first value behind the best split */
	double total, best_q; /* total: the distances of all pairs, added up */
};

struct changes {
	size_t n, nsegments;
	struct change_value *v;
	size_t *order, *shuffled;	 /* places in v */
	struct change_node *tree;	 /* a Fenwick tree */
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

/* Returns the largest Q of the segment's values in this order, and the place of its split. */
static double change_best_split(const struct changes *c, const struct change_segment *s,
				const size_t *order, size_t *at)
{
	size_t n = s->to - s->from;
	double left = 0, crossing = 0, best = 0, right, m, k, q, d;
	struct change_node all = {0, 0};

	for (size_t i = 0; i <= n; i++)
		c->tree[i] = all;
	for (size_t i = 1; i + STATS_SEGMENT <= n; i++) {
		const struct change_value *v = &c->v[order[s->from + i - 1]];

		d = change_tree_add(c->tree, n, v, &all);
		left += d;
		crossing += v->sum - 2 * d;
		right = s->total - left - crossing;
		m = (double)i;
		k = (double)(n - i);
		q = 2 * crossing / (m * k) - 2 * left / (m * (m - 1)) - 2 * right / (k * (k - 1));
		if (i >= STATS_SEGMENT && q * m * k / (m + k) > best) {
			best = q * m * k / (m + k);
			*at = s->from + i;
		}
	}
	return best;
}

/* Fills ranks and sums of the segment's values, and its best split. */
static void change_segment_fill(const struct changes *c, struct change_segment *s)
{
	s->total = 0;
	for (size_t i = s->from; i < s->to; i++) {
		c->v[i].rank = 1;
		c->v[i].sum = 0;
		for (size_t j = s->from; j < s->to; j++) {
			double d = c->v[i].x - c->v[j].x;

			c->v[i].sum += fabs(d);
			c->v[i].rank += d > 0 || (d == 0 && j < i);
		}
		s->total += c->v[i].sum / 2;
	}
	s->best_q = change_best_split(c, s, c->order, &s->at);
}

/* Shuffles each segment, and returns whether some of them has a split with at least this Q. */
static bool change_shuffle_reaches(struct changes *c, struct prng *r, double q)
{
	bool reaches = false;
	size_t at;

	for (const struct change_segment *s = c->segments; s < c->segments + c->nsegments; s++) {
		prng_shuffle(r, c->shuffled + s->from, s->to - s->from);
		reaches = reaches || change_best_split(c, s, c->shuffled, &at) >= q * (1 - 1e-9);
	}
	return reaches;
}

/* Returns the p of the best split, or 1 as soon as p must be above alpha. */
static double change_test(struct changes *c, double q, double alpha)
{
	double rounds = fmin(fmax(ceil(2 / alpha), PERMUTATIONS_LEAST), PERMUTATIONS_MOST);
	double hits = 1; /* the order of the values itself */
	struct prng r;

	prng_seed(&r, STATS_SEED);
	for (size_t i = 0; i < c->n; i++)
		c->shuffled[i] = i;
	for (double i = 0; i < rounds && hits <= alpha * (rounds + 1); i++)
		hits += change_shuffle_reaches(c, &r, q);
	return hits <= alpha * (rounds + 1) ? hits / (rounds + 1) : 1;
}

size_t stats_changes(const double *x, size_t n, double alpha, struct stats_change *list)
{
	struct changes c = {.n = n, .nsegments = 1};
	double middle = stats_quantile(x, n, 0.5), p;
	struct change_segment *s;
	size_t best, i;

	c.v = xcalloc(n + 1, sizeof(*c.v));
	c.order = xcalloc(2 * n + 1, sizeof(*c.order));
	c.shuffled = c.order + n;
	c.tree = xcalloc(n + 1, sizeof(*c.tree));
	c.segments = xcalloc(n / STATS_SEGMENT + 2, sizeof(*c.segments));
	for (i = 0; i < n; i++) {
		c.v[i].x = x[i] - middle; /* smaller rounding errors */
		c.order[i] = i;
	}
	c.segments[0].to = n;
	change_segment_fill(&c, c.segments);
	for (;;) {
		for (i = best = 0; i < c.nsegments; i++)
			if (c.segments[i].best_q > c.segments[best].best_q)
				best = i;
		s = &c.segments[best];
		/* Equal values have a Q of rounding errors. */
		p = s->best_q > 1e-9 * fabs(middle) ? change_test(&c, s->best_q, alpha) : 1;
		if (p > alpha)
			break;
		for (i = c.nsegments++; i > best; i--) {
			c.segments[i] = c.segments[i - 1];
			list[i - 1] = list[i > 1 ? i - 2 : 0];
		}
		list[best] = (struct stats_change){s->at, p};
		s[1].from = s->to = s->at;
		change_segment_fill(&c, s);
		change_segment_fill(&c, s + 1);
	}
	free(c.v);
	free(c.order);
	free(c.tree);
	free(c.segments);
	return c.nsegments - 1;
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
