// SPDX-License-Identifier: GPL-2.0-only
/* The reference values are those of R 4.2.2. The R expression is beside each value. */
#include "lib/stats.h"

#include "tests/unit/unit.h"

#define A	     139.46, 140.02, 138.91, 139.77, 139.11
#define B	     141.2, 142.05, 141.77, 140.9, 141.93
#define DEPRESSION_A 80, 83, 189, 104, 145, 338, 164, 112, 54
#define DEPRESSION_B 115, 88, 90, 74, 121, 101, 61
#define LIST(...)    ((const double[]){__VA_ARGS__}), array_size(((const double[]){__VA_ARGS__}))

#define near(x, y) near_rel((x), (y), 1e-10, __LINE__)

static void near_rel(double x, double y, double tolerance, int line)
{
	if (isnan(x) && isnan(y))
		return;
	if (!(fabs(x - y) <= tolerance * fmax(fabs(y), 1e-300)))
		fail_msg("line %d: %.17g, expected %.17g", line, x, y);
}

TEST(distributions_equal_r)
{
	near(stats_normal_cdf(-1.5), 0.0668072012688581); /* pnorm(-1.5) */
	near(stats_normal_quantile(0.975), STATS_Z95);	  /* qnorm(0.975) */
	near(stats_normal_quantile(0.025), -STATS_Z95);
	near(stats_beta_cdf(0.3, 2, 5), 0.579825); /* pbeta(0.3,2,5) */
	near_rel(stats_beta_cdf(0.02, 30, 0.5), 1.11224112940999e-52, 1e-8, __LINE__);
	near(stats_beta_cdf(0.9, 0.5, 40), 1);
	near(stats_beta_cdf(0, 2, 3), 0);
	near(stats_t_cdf(-2.5, 3), 0.0438533235040328);	 /* pt(-2.5,3) */
	near(stats_t_cdf(1.2, 30.5), 0.880311110457934); /* pt(1.2,30.5) */
	near(stats_t_cdf(-40, 2), 0.00031220733609237);	 /* pt(-40,2) */
	near(stats_t_quantile(0.975, 1), 12.70620473617469);
	near(stats_t_quantile(0.975, 2), 4.30265272974946);
	near(stats_t_quantile(0.975, 4), 2.77644510519779);
	near(stats_t_quantile(0.975, 9), 2.26215716279820);
	near(stats_t_quantile(0.975, 30.5), 2.04086944518632);
	near(stats_t_quantile(0.0005, 3), -12.9239786366875); /* qt(0.0005,3) */
	near(stats_normal_quantile(0.5), 0);
	near(stats_t_quantile(0.5, 3), 0);
	near(stats_t_cdf(0, 3), 0.5);
	near(stats_binomial_cdf(3, 10, 0.5), 0.171875); /* pbinom(3,10,0.5) */
	near(stats_binomial_cdf(0, 6, 0.5), 0.015625);
	near(stats_binomial_cdf(40, 100, 0.45), 0.183056944214466);
	near(stats_binomial_cdf(5, 6, 0.5), 1 - 0.015625);
	near(stats_binomial_cdf(-1, 6, 0.5), 0);
	near(stats_binomial_cdf(6, 6, 0.5), 1);
}

TEST(distributions_are_nan_outside_of_their_range)
{
	static const double p[] = {-0.5, 0, 1, 1.5, NAN};

	each (c, p) {
		near(stats_normal_quantile(*c), NAN);
		near(stats_t_quantile(*c, 3), NAN);
	}
	near(stats_t_quantile(0.9, 0), NAN);
	near(stats_t_quantile(0.9, NAN), NAN);
	near(stats_t_cdf(1, 0), NAN);
	near(stats_t_cdf(NAN, 3), NAN);
	near(stats_beta_cdf(NAN, 2, 3), NAN);
	near(stats_beta_cdf(-0.1, 2, 3), 0);
	near(stats_beta_cdf(1, 2, 3), 1);
	near(stats_beta_cdf(1.1, 2, 3), 1);
}

TEST(statistics_of_one_sample_equal_r)
{
	const double a[] = {A};

	near(stats_mean(a, 5), 139.454);
	near(stats_mean(a, 0), NAN);
	near(stats_sd(a, 5), 0.456760331027119); /* sd(a) */
	near(stats_sd(a, 1), NAN);
	near(stats_quantile(a, 5, 0), 138.91); /* quantile(a, c(0,.1,.25,.5,.9,1)) */
	near(stats_quantile(a, 5, 0.1), 138.99);
	near(stats_quantile(a, 5, 0.25), 139.11);
	near(stats_quantile(a, 5, 0.5), 139.46);
	near(stats_quantile(a, 5, 0.9), 139.92);
	near(stats_quantile(a, 5, 1), 140.02);
	near(stats_quantile(a, 0, 0.5), NAN);
	near(stats_quantile(a, 4, 0.5), (139.46 + 139.77) / 2);
}

static void check_estimate(struct estimate e, double value, double lo, double hi, double level)
{
	near(e.value, value);
	near(e.lo, lo);
	near(e.hi, hi);
	near(e.level, level);
}

TEST(estimators_equal_r)
{
	const double a[] = {A};
	struct estimate e;

	/* t.test(a)$conf.int */
	check_estimate(stats_estimate(EST_MEAN, a, 5, 0.95), 139.454, 138.886857141156,
		       140.021142858844, 0.95);
	/* t.test(a[2:4])$conf.int: the first and the last by position, not by size */
	e = stats_estimate(EST_MIDDLE, a, 5, 0.95);
	check_estimate(e, 139.566666666667, 138.120238508771, 141.013094824563, 0.95);
	assert_int_equal(e.n, 5);
	assert_int_equal(e.used, 3);
	check_estimate(stats_estimate(EST_MIDDLE, a, 3, 0.95), 140.02, NAN, NAN, NAN);
	check_estimate(stats_estimate(EST_MIDDLE, a, 2, 0.95), NAN, NAN, NAN, NAN);
	check_estimate(stats_estimate(EST_MEAN, a, 1, 0.95), 139.46, NAN, NAN, NAN);
	near(stats_point(EST_MIDDLE, a, 3), 140.02);
	near(stats_point(EST_MIDDLE, a, 2), NAN);
}

/* Levels: 1 - 2 * pbinom(k - 1, n, 0.5), k = max(1, qbinom(0.025, n, 0.5)). */
TEST(median_interval_has_the_binomial_level)
{
	static const struct {
		size_t n, k;
		double level;
	} rows[] = {{2, 1, 0.5},
		    {3, 1, 0.75},
		    {5, 1, 0.9375},
		    {6, 1, 0.96875},
		    {9, 2, 0.9609375},
		    {17, 5, 0.950958251953125},
		    {20, 6, 0.958610534667969}};
	double x[20];

	each (r, rows) {
		for (size_t j = 0; j < r->n;
		     j++) /* n, n-1 .. 1, because the order must not matter */
			x[j] = (double)(r->n - j);
		check_estimate(stats_estimate(EST_MEDIAN, x, r->n, 0.95), ((double)r->n + 1) / 2,
			       (double)r->k, (double)(r->n + 1 - r->k), r->level);
	}
	check_estimate(stats_estimate(EST_MEDIAN, x, 1, 0.95), 20, NAN, NAN, NAN);
	check_estimate(stats_estimate(EST_MEDIAN, x, 0, 0.95), NAN, NAN, NAN, NAN);
}

TEST(estimator_names_are_parsed)
{
	enum estimator e;

	assert_true(estimator_parse("middle", &e));
	assert_int_equal(e, EST_MIDDLE);
	assert_true(estimator_parse(NULL, &e));
	assert_int_equal(e, EST_MEDIAN);
	assert_false(estimator_parse("modus", &e));
}

TEST(mann_whitney_equals_r)
{
	double x[40], y[35];

	/* wilcox.test(a,b)$p.value: fully apart, 2 / choose(10, 5) */
	near(stats_mann_whitney(LIST(A), LIST(B)), 0.00793650793650794);
	near(stats_mann_whitney(LIST(B), LIST(A)), 0.00793650793650794);
	near(stats_mann_whitney_min(5, 5), 2.0 / 252);
	near(stats_mann_whitney_min(1, 1), 1);
	near(stats_mann_whitney_min(3, 3), 0.1);
	near(stats_mann_whitney(LIST(1.1, 2.2, 3.3, 0.5), LIST(2.5, 4.1, 1.9)), 0.4);
	near(stats_mann_whitney(LIST(1, 2, 3), LIST(4, 5, 6, 7)), 2.0 / 35);
	near(stats_mann_whitney(LIST(DEPRESSION_A), LIST(DEPRESSION_B)), 0.299125874125874);
	near(stats_mann_whitney(LIST(19, 22, 25, 26), LIST(23, 33, 40)), 8.0 / 35);
	near(stats_mann_whitney(LIST(1), NULL, 0), NAN);
	/* wilcox.test((1:40)%%7, (1:35)%%9+1, exact=FALSE)$p.value */
	for (int i = 1; i <= 40; i++)
		x[i - 1] = i % 7;
	for (int i = 1; i <= 35; i++)
		y[i - 1] = i % 9 + 1;
	near(stats_mann_whitney(x, 40, y, 35), 0.000586896103152549);
}

static double midrank2(const double *all, size_t n, double x)
{
	double below = 0, equal = 0;

	for (size_t i = 0; i < n; i++) {
		below += all[i] < x;
		equal += all[i] == x;
	}
	return 2 * below + equal + 1;
}

/* Counts every way to call m of the n values "a", as the definition says. */
static double enumerate(const double *all, size_t n, size_t m)
{
	double mean = (double)m * (double)(n + 1), w = 0, hit = 0, ways = 0;

	for (size_t i = 0; i < m; i++)
		w += midrank2(all, n, all[i]);
	for (unsigned set = 0; set < 1U << n; set++) {
		double s = 0;

		if ((size_t)__builtin_popcount(set) != m)
			continue;
		for (size_t i = 0; i < n; i++)
			if (set >> i & 1)
				s += midrank2(all, n, all[i]);
		ways++;
		hit += fabs(s - mean) >= fabs(w - mean);
	}
	return hit / ways;
}

TEST(mann_whitney_equals_enumeration)
{
	double all[10];
	struct prng r;
	size_t n, m;

	prng_seed(&r, 42);
	for (int round = 0; round < 300; round++) {
		n = 2 + prng_below(&r, 9);
		m = 1 + prng_below(&r, n - 1);
		for (size_t i = 0; i < n; i++) /* few values: many ties */
			all[i] = (double)prng_below(&r, 1 + (size_t)round % 12);
		near(stats_mann_whitney(all, m, all + m, n - m), enumerate(all, n, m));
	}
}

/* Splits n values in 50 ways, with few values and so many ties, or with many. */
static void check_halves(struct prng *r, size_t n, size_t values)
{
	double x[64], half[2][64];
	struct stats_halves *h;
	size_t i, k[2];
	uint64_t base;

	for (i = 0; i < n; i++)
		x[i] = (double)prng_below(r, values);
	h = stats_halves_new(x, n, n / 2);
	for (int round = 0; round < 50; round++) {
		for (i = 0, base = 0; i < n; i++) /* run i is chosen with the chance that is left */
			if (prng_below(r, n - i) < n / 2 - (size_t)__builtin_popcountll(base))
				base |= 1ULL << i;
		for (i = k[0] = k[1] = 0; i < n; i++)
			half[base >> i & 1][k[base >> i & 1]++] = x[i];
		near(stats_halves_p(h, base), stats_mann_whitney(half[1], k[1], half[0], k[0]));
		near(stats_halves_p(h, ~base), stats_halves_p(h, base));
	}
	stats_halves_free(h);
}

TEST(halves_have_the_p_of_the_test)
{
	static const size_t sizes[] = {2, 3, 8, 15, 40, 59, 60, 61, 63};
	struct prng r;

	prng_seed(&r, 7);
	each (c, sizes) {
		check_halves(&r, *c, 1 + *c / 4);
		check_halves(&r, *c, 1 << 30);
	}
}

/* Ways to order 5 and 3 values by U: dwilcox(0:15, 5, 3) * 56. */
TEST(wilcoxon_counts_equal_r)
{
	static const double expected[] = {1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 5, 4, 3, 2, 1, 1};
	/* Critical values of U, two-sided, 5 %: the printed tables' (e.g. Milton 1964). */
	static const struct {
		size_t na, nb;
		long critical;
	} table[] = {{3, 3, -1}, {4, 4, 0},    {5, 5, 2},    {6, 6, 5},	   {7, 7, 8},
		     {8, 8, 13}, {10, 10, 23}, {12, 12, 37}, {15, 15, 64}, {20, 20, 127},
		     {5, 8, 6},	 {6, 10, 11},  {9, 12, 26}};
	double *counts, below;
	size_t n;

	counts = stats_wilcoxon_counts(5, 3, &n);
	assert_int_equal(n, 16);
	for (size_t i = 0; i < n; i++)
		near(counts[i], expected[i]);
	free(counts);
	/* choose(60, 30) orders of 30 and 30: dwilcox(c(0, 1, 20, 450), 30, 30) * choose(60, 30) */
	counts = stats_wilcoxon_counts(30, 30, &n);
	near(counts[0], 1);
	near(counts[1], 1);
	near(counts[20], 627);
	near_rel(counts[450], 692260288169282, 1e-9, __LINE__);
	near(counts[880], 627);
	free(counts);
	each (c, table)
		assert_int_equal((long)stats_wilcoxon_cut(c->na, c->nb, 0.025, &below) - 1,
				 c->critical);
	/* 2 * pwilcox(5, 6, 6), 2 * pwilcox(2, 5, 5); 3 and 3 runs can reject nothing */
	near(stats_mann_whitney_level(6, 6, 0.05), 38.0 / 924);
	near(stats_mann_whitney_level(5, 5, 0.05), 8.0 / 252);
	near(stats_mann_whitney_level(3, 3, 0.05), 0);
	near(stats_mann_whitney_level(0, 6, 0.05), 0);
	near(stats_mann_whitney_level(6, 0, 0.05), 0);
	stats_wilcoxon_cut(30, 30, 0.025, &below);
	near(stats_mann_whitney_level(30, 30, 0.05), 2 * below);
	near(stats_mann_whitney_level(30, 31, 0.05), 0.05);
}

/* Checks that the interval and the test agree. `none` is 0 or 1. */
static void check_agrees(struct estimate e, double none, double p, double alpha)
{
	if (p < alpha && e.lo < none && none < e.hi)
		fail_msg("p = %.4f, but %g is inside [%g, %g]", p, none, e.lo, e.hi);
	if (!(p < alpha) && (none < e.lo || none > e.hi))
		fail_msg("p = %.4f, but %g is outside [%g, %g]", p, none, e.lo, e.hi);
	assert_true(e.lo <= e.value && e.value <= e.hi);
}

static double shifted_p(const double *a, size_t na, const double *b, size_t nb, double by)
{
	double moved[80];

	for (size_t i = 0; i < na; i++)
		moved[i] = a[i] + by;
	return stats_mann_whitney(moved, na, b, nb);
}

/* Checks whole numbers: the test accepts shifts just inside the ends, and rejects those outside. */
static void check_sharp(const double *x, size_t na, size_t nb, struct estimate e, double alpha)
{
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < na * nb; i++) {
		min = fmin(min, x[na + i % nb] - x[i / nb]);
		max = fmax(max, x[na + i % nb] - x[i / nb]);
	}
	assert_true(e.lo >= fmin(min, 0) && e.hi <= fmax(max, 0));
	if (e.lo != 0 && e.lo > min)
		assert_true(shifted_p(x, na, x + na, nb, e.lo - 0.5) < alpha);
	if (e.lo != 0 && e.lo < e.value)
		assert_true(shifted_p(x, na, x + na, nb, e.lo + 0.25) >= alpha);
	if (e.hi != 0 && e.hi < max)
		assert_true(shifted_p(x, na, x + na, nb, e.hi + 0.5) < alpha);
	if (e.hi != 0 && e.hi > e.value)
		assert_true(shifted_p(x, na, x + na, nb, e.hi - 0.25) >= alpha);
}

TEST(interval_agrees_with_the_test)
{
	static const double alphas[] = {0.05, 0.05 / 7, 0.2};
	double x[80], p, q, alpha;
	struct estimate e;
	struct prng r;
	size_t na, nb;
	int apart = 0;

	prng_seed(&r, 11);
	for (size_t round = 0; round < 6000; round++) {
		na = 4 + prng_below(&r, round % 50 ? 6 : 33);
		nb = 4 + prng_below(&r, round % 50 ? 6 : 33);
		alpha = alphas[round % 3];
		for (size_t i = 0; i < na + nb; i++) /* from many ties to none */
			x[i] = 1 + (double)prng_below(&r, round % 4 ? 3 + round % 40 : 1 << 30) +
			       (i < na ? 0 : (double)(round % 5));
		e = stats_test_shift(x, na, x + na, nb, alpha, &p);
		near(p, stats_mann_whitney(x, na, x + na, nb));
		assert_int_equal(isnan(e.lo), !(stats_mann_whitney_min(na, nb) < alpha));
		if (isnan(e.lo))
			continue;
		check_agrees(e, 0, p, alpha);
		if (round % 5 == 1 && na + nb <= STATS_EXACT_MAX)
			check_sharp(x, na, nb, e, alpha);
		e = stats_test_ratio(x, na, x + na, nb, alpha, &q);
		check_agrees(e, 1, q, alpha);
		near(p, q);
		apart += p < alpha;
	}
	assert_in_range(apart, 300, 5000);
}

/* Differences of tenths are equal up to rounding errors. The interval takes them as equal. */
TEST(interval_of_tenths_is_a_tenth_of_that_of_whole_numbers)
{
	double x[12], tenths[12], p, q;
	struct estimate e, f;
	struct prng r;

	prng_seed(&r, 12);
	for (size_t round = 0; round < 500; round++) {
		for (size_t i = 0; i < 12; i++) {
			x[i] = 1 + (double)prng_below(&r, 9) + (i < 6 ? 0 : (double)(round % 3));
			tenths[i] = x[i] / 10;
		}
		e = stats_test_shift(x, 6, x + 6, 6, 0.05, &p);
		f = stats_test_shift(tenths, 6, tenths + 6, 6, 0.05, &q);
		near(q, p);
		assert_float_equal(10 * f.value, e.value, 1e-9);
		assert_float_equal(10 * f.lo, e.lo, 1e-9);
		assert_float_equal(10 * f.hi, e.hi, 1e-9);
	}
}

/* Returns the sum of t^3 - t over the groups of t equal values. */
static double count_ties(const double *x, size_t n)
{
	double sum = 0, same;

	for (size_t i = 0; i < n; i++) {
		same = 0;
		for (size_t j = 0; j < n; j++)
			same += x[j] == x[i];
		sum += same * same - 1;
	}
	return sum;
}

/* Above STATS_EXACT_MAX values: the ends are the pairs at the ranks of the normal approximation. */
TEST(interval_of_many_values_ends_at_pairs)
{
	enum { NA = 31, NB = 40, N = NA + NB, PAIRS = NA * NB };
	double x[N], pairs[PAIRS], p, rank;
	struct estimate e;
	struct prng r;
	int checked = 0;

	prng_seed(&r, 5);
	for (size_t round = 0; round < 60; round++) {
		for (size_t i = 0; i < N; i++) /* ties everywhere, or at one end alone */
			x[i] = round % 3 == 0	? (double)prng_below(&r, 9)
			       : round % 3 == 1 ? fmax((double)prng_below(&r, 1 << 20), 1 << 19)
						: fmin((double)prng_below(&r, 1 << 20), 1 << 19);
		for (size_t i = 0; i < PAIRS; i++)
			pairs[i] = x[NA + i % NB] - x[i / NB];
		qsort(pairs, PAIRS, sizeof(*pairs), stats_by_value);
		rank = ceil(PAIRS / 2. - 0.5 -
			    1.959963984540054 * sqrt(PAIRS / 12. *
						     (N + 1 -
						      (count_ties(x, NA) + count_ties(x + NA, NB)) /
							      (N * (N - 1.)))));
		e = stats_test_shift(x, NA, x + NA, NB, 0.05, &p);
		near(e.value, (pairs[(PAIRS - 1) / 2] + pairs[PAIRS / 2]) / 2);
		if (e.lo == 0 || e.hi == 0) /* moved to agree with p */
			continue;
		near(e.lo, pairs[(size_t)rank - 1]);
		near(e.hi, pairs[PAIRS - (size_t)rank]);
		near(e.level, 0.95);
		checked++;
	}
	assert_in_range(checked, 20, 60);
	/* One value against 60 rejects no shift between the lowest and the highest pair. */
	x[0] = 30.5;
	for (size_t i = 1; i <= 60; i++)
		x[i] = (double)i;
	check_estimate(stats_test_shift(x, 1, x + 1, 60, 0.05, &p), 0, -29.5, 29.5, 0.95);
	/* The smallest p is 2 / 61, above 0.02, so no interval is known. */
	check_estimate(stats_test_shift(x, 1, x + 1, 60, 0.02, &p), 0, NAN, NAN, NAN);
}

TEST(relative_change_equals_r)
{
	struct estimate e;
	double p;

	/* Without ties it is wilcox.test(b, a, conf.int=TRUE). */
	e = stats_test_shift(LIST(A), LIST(B), 0.05, &p);
	check_estimate(e, 2.09, 1.18, 2.94, 1 - 2 * 4.0 / 252);
	/* median and range of outer(b, a, "/"); p and level of 4 and 4 fully apart */
	e = stats_test_ratio(LIST(1, 2, 4, 8.5), LIST(16, 33, 65, 129), 0.05, &p);
	near(p, 2.0 / 70);
	check_estimate(e, 16.125, 16 / 8.5, 129, 1 - 2 / 70.0);
	/* A value that is 0 in every run is 100 % less, not an error. */
	e = stats_test_ratio(LIST(5, 6, 7, 8), LIST(0, 0, 0, 0), 0.05, &p);
	check_estimate(e, 0, 0, 0, 1 - 2 / 70.0);
	e = stats_test_ratio(LIST(0, 1, 2, 3), LIST(4, 5, 6, 7), 0.05, &p);
	check_estimate(e, NAN, NAN, NAN, NAN);
	near(p, 2.0 / 70);
	e = stats_test_shift(LIST(1, 2, 3), LIST(11, 12, 13), 0.05, &p);
	check_estimate(e, 10, NAN, NAN, NAN);
	near(p, 0.1);
	/* With equal values the shift is 0 and not significant. */
	e = stats_test_shift(LIST(7, 7, 7, 7), LIST(7, 7, 7, 7), 0.05, &p);
	check_estimate(e, 0, 0, 0, 1 - 2 / 70.0);
	near(p, 1);
}

TEST(proportion_interval_equals_r)
{
	/* binom.test(7, 100)$conf.int, (0, 20), (20, 20) */
	check_estimate(stats_proportion(7, 100, 0.95), 0.07, 0.0286052889074387, 0.138919728455858,
		       0.95);
	check_estimate(stats_proportion(0, 20, 0.95), 0, 0, 0.168433470983085, 0.95);
	check_estimate(stats_proportion(20, 20, 0.95), 1, 0.831566529016915, 1, 0.95);
	check_estimate(stats_proportion(1, 1, 0.95), 1, 0.025, 1, 0.95); /* x^1 >= tail */
	check_estimate(stats_proportion(0, 0, 0.95), NAN, NAN, NAN, NAN);
	check_estimate(stats_proportion(2, 1, 0.95), NAN, NAN, NAN, NAN);
}

/* Draws values around 0; every tenth is an outlier with `outliers`. */
static void draw_values(struct prng *r, double *x, size_t n, bool outliers)
{
	int k;

	for (size_t i = 0; i < n; i++) {
		for (x[i] = -6, k = 0; k < 12; k++)
			x[i] += (double)prng_below(r, 1 << 30) / (1 << 30);
		if (outliers && !prng_below(r, 10))
			x[i] *= 10;
	}
}

TEST(the_error_of_an_estimator_covers_95_percent)
{
	enum { DRAWS = 4000 };
	const size_t sizes[] = {2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 25};
	struct prng r;
	double x[25];
	int hits;

	prng_seed(&r, STATS_SEED);
	for (int e = EST_MEDIAN; e <= EST_MEAN; e++) {
		for (size_t i = e == EST_MIDDLE ? 2 : 0; i < array_size(sizes); i++) {
			for (int k = hits = 0; k < DRAWS; k++) {
				draw_values(&r, x, sizes[i], e == EST_MEDIAN && sizes[i] > 11);
				hits += fabs(stats_point(e, x, sizes[i])) <=
					stats_error_half(stats_error_of(e, x, sizes[i]), 0.95);
			}
			if (hits < 0.935 * DRAWS || hits > 0.975 * DRAWS)
				fail_msg("%s of %zu: %d of %d", estimator_names[e], sizes[i], hits,
					 DRAWS);
		}
	}
}

static void check_error(struct stats_error e, double se, double df)
{
	near(e.se, se);
	near(e.df, df);
}

TEST(errors_of_estimators_are_those_worked_by_hand)
{
	check_error(stats_error_of(EST_MEAN, LIST(1)), NAN, NAN);
	check_error(stats_error_of(EST_MEAN, LIST(1, 3)), 1, 1);
	/* The middle ignores the first and the last value by position. */
	check_error(stats_error_of(EST_MIDDLE, LIST(90, 1, 90)), NAN, NAN);
	check_error(stats_error_of(EST_MIDDLE, LIST(90, 1, 3, 90)), 1, 1);
	/* The median's is that of the mean x sqrt(pi n / (2 n + 0.95 or 2.6)). */
	check_error(stats_error_of(EST_MEDIAN, LIST(1)), NAN, NAN);
	check_error(stats_error_of(EST_MEDIAN, LIST(1, 3)), 1, 1);
	check_error(stats_error_of(EST_MEDIAN, LIST(1, 2, 3)), sqrt(1. / 3 * M_PI * 3 / 6.95), 2);
	check_error(stats_error_of(EST_MEDIAN, LIST(5, 2, 1, 3, 4)),
		    sqrt(2.5 / 5 * M_PI * 5 / 10.95), 4);
	/* From 6 values on without the extremes: 2, 2, 3, 4, 5, 5 have the variance 1.9. */
	check_error(stats_error_of(EST_MEDIAN, LIST(100, 2, 1, 3, 4, 5)),
		    sqrt(1.9 * 6) / 4 * sqrt(M_PI * 6 / 14.6), 3);
	/* From 12 values on half of the third to the tenth: of 4096 ways 79 have fewer than 3. */
	check_error(stats_error_of(EST_MEDIAN, LIST(12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, -99)),
		    3.5 / stats_normal_quantile(1 - 79 / 4096.), 11);
	/* 11 values: 2, 2, 3 .. 9, 10, 10 */
	check_error(stats_error_of(EST_MEDIAN, LIST(99, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)),
		    sqrt(9.2 * 11) / 9 * sqrt(M_PI * 11 / 22.95), 8);
	check_error(stats_error_add((struct stats_error){0, 0}, (struct stats_error){2, 7}), 2, 7);
	check_error(stats_error_add((struct stats_error){2, 7}, (struct stats_error){0, 0}), 2, 7);
	/* 3^2 + 4^2 = 5^2, and 5^4 / (3^4 / 3 + 4^4 / 4) = 625 / 91 */
	check_error(stats_error_add((struct stats_error){3, 3}, (struct stats_error){4, 4}), 5,
		    625. / 91);
	check_error(stats_error_times((struct stats_error){3, 5}, -2), 6, 5);
}

TEST(prng_equals_its_reference)
{
	struct prng r;
	size_t seen[3] = {0};

	/* xoshiro256** from state {1, 2, 3, 4}: its authors' reference gives these. */
	r = (struct prng){{1, 2, 3, 4}};
	assert_true(prng_next(&r) == 11520);
	assert_true(prng_next(&r) == 0);
	assert_true(prng_next(&r) == 1509978240);
	assert_true(prng_next(&r) == 1215971899390074240ULL);
	/* 5 x 9 x 2^57 of 2^64, times 16 */
	assert_true(prng_below(&(struct prng){{0, 1ULL << 50, 0, 0}}, 16) == 5);
	/* The first numbers of splitmix64 from 0. */
	prng_seed(&r, 0);
	assert_true(r.s[0] == 0xe220a8397b1dcdafULL && r.s[1] == 0x6e789e6aa1b965f4ULL &&
		    r.s[2] == 0x06c45d188009454fULL && r.s[3] == 0xf88bb8a8724c81ecULL);
	prng_seed(&r, STATS_SEED);
	for (int i = 0; i < 30000; i++) {
		seen[prng_below(&r, 3)]++;
	}
	for (int i = 0; i < 3; i++)
		assert_in_range(seen[i], 9600, 10400);
}

static struct order_test order_test_of(const double *x, size_t n)
{
	return stats_order_test(&x, 1, n);
}

/* Kendall's p is that of R: cor.test(1:5, c(2,1,3,4,5), method="kendall")$p.value */
TEST(order_of_runs_is_tested_by_permutation)
{
	const double *both[] = {(const double[]){4, 1, 6, 2, 5, 3},
				(const double[]){1, 2, 3, 4, 5, 6}};
	struct order_test t = order_test_of(LIST(2, 1, 3, 4, 5));

	near(t.trend, 10.0 / 120);
	/* 2 of the 720 orders rise or fall throughout; they also have the smallest steps. */
	t = order_test_of(LIST(10, 20, 30, 40, 50, 60));
	near(t.trend, 2.0 / 720);
	near(t.serial, 2.0 / 720);
	t = order_test_of(LIST(10, 20, 20, 20, 20, 60)); /* ties: 30 orders of the values, 2 so */
	near(t.trend, 2.0 / 30);
	t = stats_order_test(both, 2, 6); /* the runs are permuted, not each figure alone */
	near(t.trend, 4.0 / 720);
	t = order_test_of(LIST(7, 7, 7, 7, 7));
	assert_true(isnan(t.trend) && isnan(t.serial));
	t = order_test_of(LIST(1, 2, 3, 4));
	assert_true(isnan(t.trend) && isnan(t.serial));
	/* 8 runs: 0.0610 and 0.2352 of the 40320 orders. The test draws the same 9999 each time. */
	t = order_test_of(LIST(2, 3, 1, 6, 4, 8, 5, 7));
	near(t.trend, 0.0606);
	near(t.serial, 0.2291);
}

/* Counts rounds of `n` runs with p < 0.05 where each value is phi x the last one + chance. */
static void count_order(size_t n, double phi, int rounds, int *serial, int *trend)
{
	struct order_test t;
	double x[20];
	struct prng r;
	int round;

	prng_seed(&r, 41);
	for (*serial = *trend = round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++)
			x[i] = (i ? phi * x[i - 1] : 0) + (double)prng_below(&r, 1 << 30);
		t = order_test_of(x, n);
		*serial += t.serial < 0.05;
		*trend += t.trend < 0.05;
	}
}

TEST(order_of_runs_has_few_false_alarms_and_shows_a_drift)
{
	int serial, trend;

	count_order(6, 0, 2000, &serial, &trend); /* seed 41 */
	assert_in_range(serial, 20, 130);	  /* at most 100 +- 3 standard deviations */
	assert_in_range(trend, 20, 130);
	count_order(20, 1, 20, &serial, &trend); /* a random walk with a drift */
	assert_int_equal(serial, 20);
	assert_int_equal(trend, 20);
}

TEST(bootstrap_needs_two_runs_on_a_side)
{
	const double x[] = {10.1, 10.4, 9.8, 10.9, 10.2, 10.0},
		     y[] = {8.9, 9.2, 9.05, 8.7, 9.4, 9.1};
	struct estimate e = stats_boot_ratio(EST_MEAN, x, 6, y, 6, 0.95), again;

	again = stats_boot_ratio(EST_MEAN, x, 6, y, 6, 0.95);
	assert_true(e.lo == again.lo && e.hi == again.hi);
	/* `middle` must not draw the runs that it drops, 1000 and 0. */
	e = stats_boot_ratio(EST_MIDDLE, LIST(1000, 2, 2, 2, 0), LIST(0, 3, 3, 3, 1000), 0.95);
	check_estimate(e, 1.5, 1.5, 1.5, 0.95);
	check_estimate(stats_boot_ratio(EST_MEDIAN, x, 1, y, 6, 0.95), 9.075 / 10.1, NAN, NAN, NAN);
	check_estimate(stats_boot_ratio(EST_MIDDLE, x, 2, y, 6, 0.95), NAN, NAN, NAN, NAN);
	check_estimate(stats_boot_ratio(EST_MEDIAN, LIST(0, 0), y, 6, 0.95), NAN, NAN, NAN, NAN);
}
