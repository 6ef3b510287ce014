// SPDX-License-Identifier: GPL-2.0-only
/*
 * By how much two samples differ, with the interval that belongs to the rank test: all shifts (or
 * ratios) that, taken back, leave samples which the test does not tell apart. Without ties these
 * lie between two of the sorted pairwise differences; with ties, whose distribution is another for
 * each shift, the ends are searched for with the test itself. Above STATS_EXACT_MAX values the
 * normal approximation says which of the sorted pairs the ends are.
 */
#include "lib/stats.h"

#include "lib/alloc.h"

#include <math.h>

struct pairs {
	const double *a, *b;
	size_t na, nb;
	bool ratio;    /* the change is a ratio, not a shift */
	double *pairs; /* sorted, na x nb */
};

/* Computes the pairs and returns their median: Hodges and Lehmann's estimate. */
static double pairs_init(struct pairs *t)
{
	size_t n = t->na * t->nb;

	t->pairs = xmalloc(n * sizeof(*t->pairs));
	for (size_t i = 0; i < t->na; i++)
		for (size_t j = 0; j < t->nb; j++)
			t->pairs[i * t->nb + j] = t->ratio ? t->b[j] / t->a[i] : t->b[j] - t->a[i];
	qsort(t->pairs, n, sizeof(*t->pairs), stats_by_value);
	return (t->pairs[(n - 1) / 2] + t->pairs[n / 2]) / 2;
}

/* --- the interval that agrees with p --- */

static double change_p(const struct pairs *t, double by)
{
	autofree double *moved = xmalloc(t->na * sizeof(*moved));

	for (size_t i = 0; i < t->na; i++)
		moved[i] = t->ratio ? t->a[i] * by : t->a[i] + by;
	return stats_mann_whitney(moved, t->na, t->b, t->nb);
}

/* Merges pairs that differ only by rounding errors. Returns the number of pairs left. */
static size_t pairs_merge_equal(double *x, size_t n)
{
	double tiny = 1e-12 * (fabs(x[0]) + fabs(x[n - 1]));
	size_t kept = 1;

	for (size_t i = 1; i < n; i++)
		if (x[i] - x[kept - 1] > tiny)
			x[kept++] = x[i];
	return kept;
}

/* Tests between two neighbouring pairs, where the result is constant. Gap i lies above pair i. */
static bool gap_accepted(const struct pairs *t, size_t gap, double alpha)
{
	return change_p(t, (t->pairs[gap] + t->pairs[gap + 1]) / 2) >= alpha;
}

/* The test accepts gap `near` and rejects gap `far`. Returns the last gap that it accepts. */
static size_t gap_find_last_accepted(const struct pairs *t, size_t near, size_t far, double alpha)
{
	size_t mid;

	while (near + 1 < far || far + 1 < near) {
		mid = (near + far) / 2;
		if (gap_accepted(t, mid, alpha))
			near = mid;
		else
			far = mid;
	}
	return near;
}

static double interval_find_low(const struct pairs *t, size_t n, double value, double alpha)
{
	size_t i = 0;

	while (i < n - 1 && t->pairs[i] < value)
		i++;
	if (!i || !gap_accepted(t, i - 1, alpha))
		return t->pairs[i];
	if (gap_accepted(t, 0, alpha))
		return t->pairs[0];
	return t->pairs[gap_find_last_accepted(t, i - 1, 0, alpha)];
}

static double interval_find_high(const struct pairs *t, size_t n, double value, double alpha)
{
	size_t i = n - 1;

	while (i > 0 && t->pairs[i] > value)
		i--;
	if (i == n - 1 || !gap_accepted(t, i, alpha))
		return t->pairs[i];
	return t->pairs[gap_find_last_accepted(t, i, n - 1, alpha) + 1];
}

/* Moves an end so that "no change" lies outside exactly if the test rejects it. */
static void interval_fit_p(struct estimate *e, double none, bool rejected)
{
	if (!rejected) {
		e->lo = fmin(e->lo, none);
		e->hi = fmax(e->hi, none);
	} else if (e->value >= none) {
		e->lo = fmax(e->lo, none);
	} else {
		e->hi = fmin(e->hi, none);
	}
}

/*
 * The interval by the normal approximation with the test's own corrections. Between two pairs no
 * value of a equals one of b, so that the test there knows nothing but the number of pairs below
 * and each sample's own ties.
 */
static void interval_fill_normal(const struct pairs *t, double alpha, struct estimate *e)
{
	double na = (double)t->na, nb = (double)t->nb, n = na + nb, low;
	double ties = stats_ties(t->a, t->na, NULL, 0) + stats_ties(t->b, t->nb, NULL, 0);
	double var = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));

	low = ceil(na * nb / 2 - 0.5 - stats_normal_quantile(1 - alpha / 2) * sqrt(var));
	low = fmax(low, 1); /* rank of the first pair inside, from 1 */
	e->level = 1 - alpha;
	e->lo = t->pairs[(size_t)low - 1];
	e->hi = t->pairs[t->na * t->nb - (size_t)low];
}

static struct estimate change_test(struct pairs *t, double alpha, double *p)
{
	bool exact = t->na + t->nb <= STATS_EXACT_MAX;
	size_t n = t->na * t->nb, cut, kept;
	struct estimate e = {NAN, NAN, NAN, NAN, t->na + t->nb, t->na + t->nb};
	double below;

	*p = stats_mann_whitney(t->a, t->na, t->b, t->nb);
	if (!n)
		return e;
	e.value = pairs_init(t);
	cut = exact ? stats_wilcoxon_cut(t->na, t->nb, alpha / 2, &below) : 0;
	if (!exact && stats_mann_whitney_min(t->na, t->nb) < alpha) {
		interval_fill_normal(t, alpha, &e);
		interval_fit_p(&e, t->ratio, *p < alpha);
	} else if (cut) {
		e.level = 1 - 2 * below;
		e.lo = t->pairs[cut - 1];
		e.hi = t->pairs[n - cut];
		if (stats_ties(t->a, t->na, t->b, t->nb) > 0) {
			kept = pairs_merge_equal(t->pairs, n);
			e.lo = interval_find_low(t, kept, e.value, alpha);
			e.hi = interval_find_high(t, kept, e.value, alpha);
			interval_fit_p(&e, t->ratio, *p < alpha);
		}
	}
	free(t->pairs);
	return e;
}

struct estimate stats_test_shift(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p)
{
	struct pairs t = {.a = a, .b = b, .na = na, .nb = nb};

	return change_test(&t, alpha, p);
}

struct estimate stats_test_ratio(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p)
{
	struct pairs t = {.a = a, .b = b, .na = na, .nb = nb, .ratio = true};
	struct estimate none = {NAN, NAN, NAN, NAN, na + nb, na + nb};
	bool positive = true;

	for (size_t i = 0; i < na; i++)
		positive &= a[i] > 0;
	for (size_t i = 0; i < nb; i++)
		positive &= b[i] >= 0;
	if (positive)
		return change_test(&t, alpha, p);
	*p = stats_mann_whitney(a, na, b, nb);
	return none;
}
