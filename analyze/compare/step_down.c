// SPDX-License-Identifier: GPL-2.0-only
/*
 * Corrects p of rows that vary together: the step-down minP of Westfall and Young (1993,
 * "Resampling-Based Multiple Testing", algorithm 2.8). Each split of the runs gives every row a p.
 * The corrected p of a row is the share of the splits in which a row that is still in the family
 * has as small a p. Rows that separate the same runs reach their smallest p in the same split, so
 * that they count once. Holm's correction counts each.
 *
 * Few runs allow few values of p. Of two rows with the same p, the costlier row precedes. So a row
 * competes with costlier rows alone, and the family needs no choice of rows.
 */
#include "analyze/compare/diff.h"

#include <math.h>

/* 8 and 8 runs have 6435 splits. More runs get a random choice of this size. */
enum { STEP_DOWN_SPLITS = 10000 };

struct step_p {
	double p;
	size_t at; /* the row; costlier rows have smaller numbers */
};

static int step_order(const void *a, const void *b)
{
	const struct step_p *x = a, *y = b;

	return ascending(x->p, y->p) ?: ascending(x->at, y->at);
}

static int step_order_costs(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return descending(x->cost[BASE] + x->cost[NEW], y->cost[BASE] + y->cost[NEW]);
}

/* Returns the test of a row over all splits, whose half is the smaller end. */
static struct stats_halves *step_test(const struct diff *d, const struct diff_row *row)
{
	enum end first = d->nruns[BASE] <= d->nruns[NEW] ? BASE : NEW;
	size_t n = d->nruns[first], all = n + d->nruns[!first];
	autofree double *x = xcalloc(all + 1, sizeof(*x));

	for (size_t i = 0; i < all; i++)
		x[i] = i < n ? row->runs[first][i] : row->runs[!first][i - n];
	return stats_halves_new(x, all, n);
}

/* Takes a row into the family, where `least` has the smallest p in each split. Returns the row's
 * share of the splits with as small a p. */
static double step_add_row(const struct diff *d, const struct splits *s, const struct step_p *row,
			   struct step_p *least)
{
	struct stats_halves *test = step_test(d, &d->rows[row->at]);
	size_t hits = !s->every; /* a random choice lacks the runs' own split */

	for (size_t i = 0; i < s->n; i++) {
		struct step_p p = {stats_halves_p(test, s->of[i]), row->at};

		if (step_order(&p, &least[i]) < 0)
			least[i] = p;
		hits += step_order(&least[i], row) <= 0;
	}
	stats_halves_free(test);
	return (double)hits / (double)(s->n + !s->every);
}

void diff_correct_jointly(struct diff *d)
{
	size_t nbase = d->nruns[BASE], nnew = d->nruns[NEW], n = 0;
	autofree struct step_p *order = xcalloc(d->n + 1, sizeof(*order));
	autofree struct step_p *least = NULL;
	freed(splits_free) struct splits s;
	double p = 0;

	qsort(d->rows, d->n, sizeof(*d->rows), step_order_costs);
	for (size_t i = 0; i < d->n; i++)
		if (!isnan(d->rows[i].p))
			order[n++] = (struct step_p){d->rows[i].p, i};
	qsort(order, n, sizeof(*order), step_order);
	splits_make(&s, nbase + nnew, nbase < nnew ? nbase : nnew, STEP_DOWN_SPLITS);
	least = xcalloc(s.n + 1, sizeof(*least));
	for (size_t i = 0; i < s.n; i++)
		least[i].p = INFINITY;
	for (size_t i = n; i-- > 0;)
		d->rows[order[i].at].p = step_add_row(d, &s, &order[i], least);
	for (size_t i = 0; i < n; i++)
		p = d->rows[order[i].at].p = fmax(p, d->rows[order[i].at].p);
}
