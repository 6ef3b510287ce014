// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rank statistics. Midranks are kept doubled, so that ties stay whole numbers and the exact
 * distribution can be counted: the ways to choose k of the values, by their doubled rank sum
 * (Streitberg and Roehmel's shift algorithm). Counts are doubles: choose(60, 30) is above 2^53,
 * where a relative error of 1e-16 does not matter.
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>

struct ranking {
	unsigned *rank2; /* doubled midranks: those of a first, then those of b */
	unsigned *up;	 /* the same, the smallest first */
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

	for (size_t k = i; k < j; k++)
		r->up[k] = r->rank2[items[k].at] = (unsigned)(i + 1 + j);
	r->ties += t * t * t - t;
}

static struct ranking ranking_fill(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb, j;
	autofree struct ranking_item *items = xmalloc(n * sizeof(*items));
	struct ranking r = {.rank2 = xmalloc(n * sizeof(*r.rank2)),
			    .up = xmalloc(n * sizeof(*r.up))};

	for (size_t i = 0; i < na; i++)
		items[i] = (struct ranking_item){a[i], i};
	for (size_t i = 0; i < nb; i++)
		items[na + i] = (struct ranking_item){b[i], na + i};
	qsort(items, n, sizeof(*items), stats_by_value);
	for (size_t i = 0; i < n; i = j) {
		for (j = i + 1; j < n && items[j].x == items[i].x; j++)
			;
		ranking_add_group(&r, items, i, j);
	}
	return r;
}

static void ranking_free(struct ranking *r)
{
	free(r->rank2);
	free(r->up);
}

double stats_ties(const double *a, size_t na, const double *b, size_t nb)
{
	freed(ranking_free) struct ranking r = ranking_fill(a, na, b, nb);

	return r.ties;
}

/* The ways to choose m of n ranks by their sum: ways[s] for the sum least + s * step. */
struct rank_sums {
	double *table; /* owns the ways */
	const double *ways;
	size_t least, width, step;
	double mean; /* the mean of the sums: m (n + 1), a whole number */
};

/*
 * Counts only sums that m ranks can still reach. The table has a row for each number of ranks,
 * which begins at the smallest sum of so many ranks. No row is wider than the last.
 */
static struct rank_sums rank_sums_count(const unsigned *up, size_t n, size_t m)
{
	struct rank_sums r = {.step = 1, .mean = (double)m * (double)(n + 1)};
	autofree size_t *sum = xcalloc(n + 1, sizeof(*sum));
	double *from, *to;

	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + up[i];
	r.least = sum[m];
	r.width = sum[n] - sum[n - m] - sum[m] + 1;
	r.table = xcalloc((m + 1) * r.width, sizeof(*r.table));
	r.table[0] = 1;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i < m ? i + 1 : m; k > 0 && i + 1 - k <= n - m; k--) {
			from = r.table + (k - 1) * r.width;
			to = r.table + k * r.width + up[i] - up[k - 1];
			for (size_t s = 0; s <= sum[i] - sum[i + 1 - k] - sum[k - 1]; s++)
				to[s] += from[s];
		}
	r.ways = r.table + m * r.width;
	return r;
}

/* Returns the share of the ways with a sum at least as far from the mean as w2. */
static double rank_sums_p(const struct rank_sums *r, double w2)
{
	double far = fabs(w2 - r->mean), all = 0, out = 0; /* whole: "as far" is exact */

	for (size_t s = 0; s < r->width; s++) {
		all += r->ways[s];
		if (fabs((double)(r->least + s * r->step) - r->mean) >= far)
			out += r->ways[s];
	}
	return fmin(1, out / all);
}

/*
 * R's cwilcox, without ties: the coefficients of Gauss's binomial [na + nb over na], multiplied and
 * divided step by step. Each depends on lower ones alone, and the upper half mirrors the lower: so
 * the tails, where differences of large numbers would hurt, stay whole numbers.
 */
double *stats_wilcoxon_counts(size_t na, size_t nb, size_t *n)
{
	size_t m = na < nb ? na : nb, more = na < nb ? nb : na, top = na * nb;
	double *c = xcalloc(top + 1, sizeof(*c));

	*n = top + 1;
	c[0] = 1;
	for (size_t i = 1; i <= m; i++) {
		for (size_t u = top / 2; u >= more + i; u--)
			c[u] -= c[u - more - i];
		for (size_t u = i; u <= top / 2; u++)
			c[u] += c[u - i];
	}
	for (size_t u = top / 2 + 1; u <= top; u++)
		c[u] = c[top - u];
	return c;
}

/* Without ties the ranks are 1 to n. Their sums depend on n and m alone, and take less to count. */
static struct rank_sums rank_sums_untied(size_t n, size_t m)
{
	struct rank_sums r = {.least = m * (m + 1), .step = 2, .mean = (double)m * (double)(n + 1)};

	r.ways = r.table = stats_wilcoxon_counts(m, n - m, &r.width);
	return r;
}

static double mann_whitney_exact(const struct ranking *r, size_t n, size_t m, double w2)
{
	struct rank_sums sums = r->ties > 0 ? rank_sums_count(r->up, n, m) : rank_sums_untied(n, m);
	double p = rank_sums_p(&sums, w2);

	free(sums.table);
	return p;
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
	freed(ranking_free) struct ranking r = {0};
	double w2 = 0;

	if (!na || !nb)
		return NAN;
	if (nb < na) /* the distribution of the smaller sample's sum is cheaper */
		return stats_mann_whitney(b, nb, a, na);
	r = ranking_fill(a, na, b, nb);
	for (size_t i = 0; i < na; i++)
		w2 += r.rank2[i];
	return na + nb <= STATS_EXACT_MAX ? mann_whitney_exact(&r, na + nb, na, w2)
					  : mann_whitney_normal(&r, (double)na, (double)nb, w2);
}

struct stats_halves {
	struct ranking ranking;
	struct rank_sums sums; /* up to STATS_EXACT_MAX values; without its table */
	double *p;	       /* by sum */
	size_t n, base;
	uint16_t parts[][16]; /* the rank sum of each set of values 0 to 3, 4 to 7 ... */
};

static void halves_fill_parts(struct stats_halves *h)
{
	for (size_t i = 0; i < h->n; i++) {
		unsigned bit = 1U << i % 4;

		for (unsigned set = bit; set < 2 * bit; set++)
			h->parts[i / 4][set] =
				(uint16_t)(h->parts[i / 4][set - bit] + h->ranking.rank2[i]);
	}
}

static size_t rank_sums_distance(const struct rank_sums *r, size_t s)
{
	return (size_t)fabs((double)(r->least + s) - r->mean); /* whole */
}

/* Fills p for each sum: rank_sums_p() of all of them in one pass. */
static void halves_fill_p(struct stats_halves *h)
{
	const struct rank_sums *r = &h->sums;
	size_t low = rank_sums_distance(r, 0), high = rank_sums_distance(r, r->width - 1);
	size_t far = low > high ? low : high;
	autofree double *out = xcalloc(far + 1, sizeof(*out)); /* by distance from the mean */

	for (size_t s = 0; s < r->width; s++)
		out[rank_sums_distance(r, s)] += r->ways[s];
	while (far--)
		out[far] += out[far + 1];
	h->p = xmalloc(r->width * sizeof(*h->p));
	for (size_t s = 0; s < r->width; s++)
		h->p[s] = out[rank_sums_distance(r, s)] / out[0];
}

struct stats_halves *stats_halves_new(const double *x, size_t n, size_t base)
{
	struct stats_halves *h = xcalloc(1, sizeof(*h) + (n + 3) / 4 * sizeof(h->parts[0]));

	h->ranking = ranking_fill(x, n, NULL, 0);
	h->n = n;
	h->base = base;
	halves_fill_parts(h);
	if (n > STATS_EXACT_MAX)
		return h;
	h->sums = rank_sums_count(h->ranking.up, n, base);
	halves_fill_p(h);
	free(h->sums.table);
	return h;
}

double stats_halves_p(struct stats_halves *h, uint64_t base)
{
	const uint64_t all = ~0ULL >> (64 - h->n);
	size_t w2 = 0;

	base &= all;
	if ((size_t)__builtin_popcountll(base) != h->base)
		base ^= all;
	for (size_t i = 0; base; i++, base >>= 4)
		w2 += h->parts[i][base & 15];
	return h->p ? h->p[w2 - h->sums.least]
		    : mann_whitney_normal(&h->ranking, (double)h->base, (double)(h->n - h->base),
					  (double)w2);
}

void stats_halves_free(struct stats_halves *h)
{
	ranking_free(&h->ranking);
	free(h->p);
	free(h);
}

double stats_mann_whitney_min(size_t na, size_t nb)
{
	double a = (double)na, b = (double)nb;

	if (!na || !nb)
		return NAN;
	return fmin(1, 2 * exp(-(stats_log_gamma(a + b + 1) - stats_log_gamma(a + 1) -
				 stats_log_gamma(b + 1))));
}

size_t stats_wilcoxon_cut(size_t na, size_t nb, double tail, double *below)
{
	size_t n, k = 0;
	autofree double *counts = stats_wilcoxon_counts(na, nb, &n);
	double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += counts[i];
	while (k < n && (sum + counts[k]) / all < tail)
		sum += counts[k++];
	*below = sum / all;
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
	for (int i = 0; i < 4; i++) {
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
	for (size_t i = 0; i < s->n; i++)
		s->room[i] = s->x[prng_below(r, s->n)];
	return stats_point(s->e, s->room, s->n);
}

static void boot_run_rounds(struct estimate *est, struct boot_sample *base, struct boot_sample *new,
			    double level)
{
	autofree double *rounds = xmalloc(STATS_ROUNDS * sizeof(*rounds));
	size_t n = 0;
	struct prng r;

	prng_seed(&r, STATS_SEED);
	for (size_t i = 0; i < STATS_ROUNDS; i++) {
		double b = boot_draw(&r, base), v = boot_ratio(b, boot_draw(&r, new));

		if (!isnan(v))
			rounds[n++] = v;
	}
	est->lo = stats_quantile(rounds, n, (1 - level) / 2);
	est->hi = stats_quantile(rounds, n, (1 + level) / 2);
	est->level = n ? level : NAN;
}

struct estimate stats_boot_ratio(enum estimator e, const double *base, size_t nbase,
				 const double *new, size_t nnew, double level)
{
	struct boot_sample a = boot_sample(e, base, nbase), b = boot_sample(e, new, nnew);
	struct estimate est = {NAN, NAN, NAN, NAN, nbase + nnew, a.n + b.n};
	autofree double *room = xmalloc((a.n + b.n) * sizeof(*room));

	if (!a.n || !b.n)
		return est;
	est.value = boot_ratio(stats_point(a.e, a.x, a.n), stats_point(b.e, b.x, b.n));
	if (a.n < 2 || b.n < 2 || isnan(est.value))
		return est;
	a.room = room;
	b.room = room + a.n;
	boot_run_rounds(&est, &a, &b, level);
	return est;
}
