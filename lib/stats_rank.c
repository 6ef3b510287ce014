// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rank statistics. Midranks are kept doubled, so that ties stay whole numbers and the exact
 * distribution can be counted: counts[k][s] is the number of ways to choose k of the values with
 * doubled rank sum s (Streitberg and Roehmel's shift algorithm). Counts are doubles: choose(60, 30)
 * is above 2^53, where a relative error of 1e-16 does not matter.
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>

struct ranking {
	unsigned *rank2; /* doubled midranks: those of a first, then those of b */
	double ties;	 /* sum of t^3 - t over groups of equal values */
};

struct ranking_item {
	double x;
	size_t at;
};

/* Values i..j-1 of the sorted items are equal: each gets the middle of ranks i+1..j. */
static void ranking_add_group(struct ranking *r, const struct ranking_item *items, size_t i,
			      size_t j)
{
	double t = (double)(j - i);
	size_t k;

	for (k = i; k < j; k++)
		r->rank2[items[k].at] = (unsigned)(i + 1 + j);
	r->ties += t * t * t - t;
}

static struct ranking ranking_fill(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb, i, j;
	struct ranking_item *items = xmalloc(n * sizeof(*items));
	struct ranking r = {.rank2 = xmalloc(n * sizeof(*r.rank2))};

	for (i = 0; i < n; i++)
		items[i] = (struct ranking_item){i < na ? a[i] : b[i - na], i};
	qsort(items, n, sizeof(*items), stats_by_value);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && items[j].x == items[i].x; j++)
			;
		ranking_add_group(&r, items, i, j);
	}
	free(items);
	return r;
}

/* Ways to choose `m` of the n ranks by their sum, 0 .. *max; the caller frees. */
static double *ranking_count_sums(const unsigned *rank2, size_t n, size_t m, size_t *max)
{
	double *counts, *last;
	size_t width = 1, i, k, s;

	for (i = 0; i < n; i++)
		width += rank2[i];
	counts = xcalloc((m + 1) * width, sizeof(*counts));
	counts[0] = 1;
	for (i = 0; i < n; i++)
		for (k = i < m ? i + 1 : m; k > 0; k--)
			for (s = rank2[i]; s < width; s++)
				counts[k * width + s] += counts[(k - 1) * width + s - rank2[i]];
	last = xmemdup(counts + m * width, width * sizeof(*last));
	free(counts);
	*max = width - 1;
	return last;
}

/*
 * R's cwilcox, without ties: the coefficients of Gauss's binomial [na + nb over na], multiplied and
 * divided step by step. Each depends on lower ones alone, and the upper half mirrors the lower: so
 * the tails, where differences of large numbers would hurt, stay whole numbers.
 */
double *stats_wilcoxon_counts(size_t na, size_t nb, size_t *n)
{
	size_t m = na < nb ? na : nb, more = na < nb ? nb : na, top = na * nb, i, u;
	double *c = xcalloc(top + 1, sizeof(*c));

	*n = top + 1;
	c[0] = 1;
	for (i = 1; i <= m; i++) {
		for (u = top / 2; u + 1 > more + i; u--)
			c[u] -= c[u - more - i];
		for (u = i; u <= top / 2; u++)
			c[u] += c[u - i];
	}
	for (u = top / 2 + 1; u <= top; u++)
		c[u] = c[top - u];
	return c;
}

static double mann_whitney_exact(const struct ranking *r, size_t n, size_t m, double w2)
{
	/* The mean of the doubled sum, m (n + 1), is whole: "as far" is compared exactly. */
	double mean = (double)m * (double)(n + 1), far = fabs(w2 - mean), all = 0, out = 0;
	size_t max, s;
	double *counts = ranking_count_sums(r->rank2, n, m, &max);

	for (s = 0; s <= max; s++) {
		all += counts[s];
		if (fabs((double)s - mean) >= far)
			out += counts[s];
	}
	free(counts);
	return fmin(1, out / all);
}

/* As mann_whitney_exact() without ties, for which the distribution is known beforehand. */
static double mann_whitney_untied(size_t na, size_t nb, double w2)
{
	double u2 = w2 - (double)na * (double)(na + 1), mean = (double)na * (double)nb;
	double far = fabs(u2 - mean), all = 0, out = 0, *counts;
	size_t n, u;

	counts = stats_wilcoxon_counts(na, nb, &n);
	for (u = 0; u < n; u++) {
		all += counts[u];
		if (fabs(2 * (double)u - mean) >= far)
			out += counts[u];
	}
	free(counts);
	return fmin(1, out / all);
}

static double mann_whitney_normal(const struct ranking *r, double na, double nb, double w2)
{
	double n = na + nb, z = (w2 - na * (n + 1)) / 2;
	double var = na * nb / 12 * (n + 1 - r->ties / (n * (n - 1)));

	if (!(var > 0))
		return 1;
	z = fmax(0, fabs(z) - 0.5) / sqrt(var);
	return fmin(1, 2 * stats_normal_cdf(-z));
}

double stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb)
{
	struct ranking r;
	double w2 = 0, p;
	size_t i;

	if (!na || !nb)
		return NAN;
	if (nb < na) /* the distribution of the smaller sample's sum is cheaper */
		return stats_mann_whitney(b, nb, a, na);
	r = ranking_fill(a, na, b, nb);
	for (i = 0; i < na; i++)
		w2 += r.rank2[i];
	if (na + nb <= STATS_EXACT_MAX && r.ties == 0)
		p = mann_whitney_untied(na, nb, w2);
	else if (na + nb <= STATS_EXACT_MAX)
		p = mann_whitney_exact(&r, na + nb, na, w2);
	else
		p = mann_whitney_normal(&r, (double)na, (double)nb, w2);
	free(r.rank2);
	return p;
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double stats_mann_whitney_min(size_t na, size_t nb)
{
	if (!na || !nb)
		return NAN;
	return fmin(1, 2 * exp(-log_choose((double)(na + nb), (double)na)));
}

size_t stats_wilcoxon_cut(size_t na, size_t nb, double tail, double *below)
{
	size_t n, i, k = 0;
	double all = 0, sum = 0, *counts = stats_wilcoxon_counts(na, nb, &n);

	for (i = 0; i < n; i++)
		all += counts[i];
	while (k < n && (sum + counts[k]) / all < tail)
		sum += counts[k++];
	*below = sum / all;
	free(counts);
	return k;
}

double stats_mann_whitney_level(size_t na, size_t nb, double alpha)
{
	double below;

	if (!na || !nb)
		return 0;
	if (na + nb > STATS_EXACT_MAX)
		return alpha;
	stats_wilcoxon_cut(na, nb, alpha / 2, &below);
	return 2 * below;
}

/* The bootstrap over whole runs, and the generator it draws with. */

static uint64_t prng_rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void prng_seed(struct prng *r, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		r->s[i] = z ^ z >> 31;
	}
}

uint64_t prng_next(struct prng *r)
{
	uint64_t out = prng_rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = prng_rotl(r->s[3], 45);
	return out;
}

/* The high half of a wide product; its bias is n / 2^64. */
size_t prng_below(struct prng *r, size_t n)
{
	return (size_t)((unsigned __int128)prng_next(r) * n >> 64);
}

static double boot_ratio(double base, double new)
{
	return base != 0 ? new / base : NAN;
}

/* The runs to draw from, their estimator, and room for one draw. */
struct boot_sample {
	enum estimator e;
	const double *x;
	size_t n;
	double *room;
};

static struct boot_sample boot_sample(enum estimator e, const double *x, size_t n)
{
	if (e == EST_MIDDLE)
		return (struct boot_sample){EST_MEAN, x + 1, n >= 3 ? n - 2 : 0, NULL};
	return (struct boot_sample){e, x, n, NULL};
}

static double boot_draw(struct prng *r, const struct boot_sample *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		s->room[i] = s->x[prng_below(r, s->n)];
	return stats_point(s->e, s->room, s->n);
}

static void boot_run_rounds(struct estimate *est, struct boot_sample *base, struct boot_sample *new,
			    double level)
{
	double *rounds = xmalloc(STATS_ROUNDS * sizeof(*rounds)), v;
	size_t i, n = 0;
	struct prng r;

	prng_seed(&r, STATS_SEED);
	for (i = 0; i < STATS_ROUNDS; i++) {
		double b = boot_draw(&r, base);

		v = boot_ratio(b, boot_draw(&r, new));
		if (!isnan(v))
			rounds[n++] = v;
	}
	est->lo = stats_quantile(rounds, n, (1 - level) / 2);
	est->hi = stats_quantile(rounds, n, (1 + level) / 2);
	est->level = n ? level : NAN;
	free(rounds);
}

struct estimate stats_boot_ratio(enum estimator e, const double *base, size_t nbase,
				 const double *new, size_t nnew, double level)
{
	struct boot_sample a = boot_sample(e, base, nbase), b = boot_sample(e, new, nnew);
	struct estimate est = {NAN, NAN, NAN, NAN, nbase + nnew, a.n + b.n};

	if (!a.n || !b.n)
		return est;
	est.value = boot_ratio(stats_point(a.e, a.x, a.n), stats_point(b.e, b.x, b.n));
	if (a.n < 2 || b.n < 2 || isnan(est.value))
		return est;
	a.room = xmalloc(a.n * sizeof(*a.room));
	b.room = xmalloc(b.n * sizeof(*b.room));
	boot_run_rounds(&est, &a, &b, level);
	free(a.room);
	free(b.room);
	return est;
}
