/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of repeated runs, and tests whether two sets of runs differ. Inputs are plain arrays
 * of doubles without NaN, and no function changes them unless it says so. A figure that the data
 * cannot give is NAN. A test compares each function with R, and its comment names the call in R.
 */
#ifndef ZC_STATS_H
#define ZC_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- distributions (stats.c) --- */

#define STATS_Z95 1.959963984540054 /* qnorm(0.975) */

double stats_normal_cdf(double z);			 /* pnorm */
double stats_normal_quantile(double p);			 /* qnorm, 0 < p < 1 */
double stats_log_gamma(double x);			 /* lgamma, which sets no global */
double stats_beta_cdf(double x, double a, double b);	 /* pbeta: regularized incomplete beta */
double stats_t_cdf(double t, double df);		 /* pt; df may be INFINITY */
double stats_t_quantile(double p, double df);		 /* qt, 0 < p < 1 */
double stats_binomial_cdf(long k, unsigned n, double p); /* pbinom */

/* --- one sample (stats.c) --- */

/* A figure from n runs with the interval lo..hi. `level` is the real coverage of the interval. */
struct estimate {
	double value, lo, hi;
	double level; /* 0.95, or the level that order statistics reach; NAN: no interval */
	size_t n;     /* all runs */
	size_t used;  /* runs that the value uses */
};

enum estimator {
	EST_MEDIAN, /* interval between order statistics; n < 6: min..max, level 1 - 2^(1-n) */
	EST_MIDDLE, /* drops the first and the last by position, averages the rest; n >= 3 */
	EST_MEAN,   /* interval from Student's t */
};
extern const char *const estimator_names[3];
/* NULL is the median. Returns false for an unknown name. */
bool estimator_parse(const char *name, enum estimator *e);

/* Orders doubles, or structs that begin with a double, for qsort(). */
int stats_by_value(const void *a, const void *b);
double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n);			 /* n - 1; NAN below two */
double stats_quantile(const double *x, size_t n, double p);	 /* type 7, R's default */
double stats_point(enum estimator e, const double *x, size_t n); /* the value alone */
/* Rounds to 12 significant digits, so that values that differ only by rounding errors become ties.
 */
double stats_significant(double x);
struct estimate stats_estimate(enum estimator e, const double *x, size_t n, double level);
/* Returns the estimate and its interval times k. */
struct estimate estimate_times(struct estimate e, double k);

/* A standard error and its degrees of freedom. NAN: not known. */
struct stats_error {
	double se, df;
};
/*
 * Returns the standard error of stats_point. The median's is that of the mean x the ratio of both
 * under the normal distribution. From 6 values on it takes the mean without the smallest and the
 * largest value, with n - 3 degrees of freedom (Yuen 1974, Biometrika 61). From 12 values on it is
 * the width of the order statistics' interval / that of the normal distribution's. So outliers do
 * not widen it.
 */
struct stats_error stats_error_of(enum estimator e, const double *x, size_t n);
/* Returns the error of k x a figure. */
struct stats_error stats_error_times(struct stats_error e, double k);
/* Returns the error of the sum of two independent figures, by Welch and Satterthwaite. */
struct stats_error stats_error_add(struct stats_error a, struct stats_error b);
/* Returns half the width of Student's interval. */
double stats_error_half(struct stats_error e, double level);

/* --- two samples (stats_rank.c, stats.c) --- */

/*
 * Mann-Whitney test, two-sided: wilcox.test(a, b). Up to STATS_EXACT_MAX values in all it is exact
 * with ties, too: it counts the permutations of the midranks, p = P(|W - E| >= |w - E|). Above, it
 * is the normal approximation with tie and continuity correction.
 */
enum { STATS_EXACT_MAX = 60 };
double stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb);
/*
 * Tests splits of the same n <= 64 values: all splits share the ranks and the exact distribution.
 * Bit i of `base` says that value i is in one half. One half has `nbase` <= n / 2 values. Returns
 * the p of stats_mann_whitney for both halves.
 */
struct stats_halves;
struct stats_halves *stats_halves_new(const double *x, size_t n, size_t nbase);
double stats_halves_p(struct stats_halves *h, uint64_t base);
void stats_halves_free(struct stats_halves *h);
/* Returns the sum of t^3 - t over the groups of t equal values in both samples together. */
double stats_ties(const double *a, size_t na, const double *b, size_t nb);
/* Returns the smallest p that so many runs can give: 2 / choose(na + nb, na). */
double stats_mann_whitney_min(size_t na, size_t nb);
/* Returns how often the exact test without ties finds p < alpha if nothing differs. */
double stats_mann_whitney_level(size_t na, size_t nb, double alpha);

/* Returns the number of orders of na and nb values for each U = 0 .. na x nb. The caller frees. */
double *stats_wilcoxon_counts(size_t na, size_t nb, size_t *n);
/* Returns the largest k with P(U < k) < tail, and that P in *below. qwilcox(tail, na, nb). */
size_t stats_wilcoxon_cut(size_t na, size_t nb, double tail, double *below);

/*
 * Run the test and find its interval: all shifts b - a (ratios b / a) that the test does not reject
 * at `alpha`, with ties. So 0 (1 for a ratio) is strictly inside only if *p >= alpha, and strictly
 * outside only if *p < alpha. lo and hi are NAN if so few values cannot reject anything at `alpha`.
 * A ratio needs a > 0 and b >= 0. Otherwise everything but *p is NAN.
 */
struct estimate stats_test_shift(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p);
struct estimate stats_test_ratio(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p);

/* Corrects p in place by Holm's method: p.adjust(p, "holm"). A NAN stays NAN and does not count. */
void stats_holm(double *p, size_t n);
/* Returns Clopper and Pearson's interval for k successes in n: binom.test(k, n)$conf.int. */
struct estimate stats_proportion(unsigned k, unsigned n, double level);

/* --- the order of runs (stats_order.c) --- */

/*
 * Tests n runs in the order in which they were made, with `series` figures of each run: x[i][run].
 * serial: neighbours are more alike than chance makes them (von Neumann's ratio of the ranks).
 * trend: figures rise or fall over the runs (Kendall's S). Each p is that of the most extreme
 * figure, by permutation of whole runs: all permutations up to 7 runs, above 9999 random ones.
 * NAN: all values are equal, or fewer than STATS_ORDER_MIN runs.
 */
enum { STATS_ORDER_MIN = 5 };
struct order_test {
	double serial, trend; /* p */
};
struct order_test stats_order_test(const double *const *x, size_t series, size_t n);

/* --- changes of the level in a series (stats_change.c) --- */

/*
 * Finds the places at which the distribution of n values in their order changes, with the statistic
 * and the test of E-divisive means (Matteson and James 2014, Journal of the American Statistical
 * Association 109), exponent 1. A split into m and k values x and y has, with means over all pairs,
 *
 *   Q = m k / (m + k) x (2 mean |x - y| - mean |x - x'| - mean |y - y'|)
 *
 * Each value is a look at the values since the last change. The split with the largest Q is a
 * change if p <= alpha. p is the share of permutations, the order of the values among them, with a
 * split of at least this Q. So a look at values that nothing but chance orders finds a change with
 * a probability of at most alpha, and later values do not undo a change: they only move its place
 * to the largest Q between its neighbours. There are 2 / alpha permutations, from 999 to 99,999.
 * Segments have at least STATS_SEGMENT values when they are found, and `list` has room for n /
 * STATS_SEGMENT changes. Returns their number.
 */
enum { STATS_SEGMENT = 5 };
struct stats_change {
	size_t at; /* the first value behind the change */
	double p;
};
size_t stats_changes(const double *x, size_t n, double alpha, struct stats_change *list);

/*
 * Returns the spread of runs within a capture, and that of the captures of a segment beyond it, as
 * standard deviations: the components of variance of a one-way layout with random effects, by the
 * method of moments. NAN: not known. Capture i has the n[i] values from x[i] on.
 */
struct stats_spread {
	double within, between;
};
struct stats_spread stats_spread_of(const double *const *x, const size_t *n, size_t captures,
				    const struct stats_change *changes, size_t nchanges);

/* --- bootstrap over whole runs (stats_rank.c) --- */

#define STATS_SEED \
	0x7a636f7374ULL /* "zcost"; fixed, so that the same runs give the same interval */
enum { STATS_ROUNDS = 10000 };

/* xoshiro256**, seeded by splitmix64. */
struct prng {
	uint64_t s[4];
};
void prng_seed(struct prng *r, uint64_t seed);
uint64_t prng_next(struct prng *r);
size_t prng_below(struct prng *r, size_t n); /* 0 .. n-1, n > 0 */
void prng_shuffle(struct prng *r, size_t *at, size_t n);

/*
 * Percentile intervals. Every round draws from both samples with replacement. `middle` draws from
 * the runs that it uses. Fewer than two runs on a side give no interval.
 */
struct estimate stats_boot_ratio(enum estimator e, const double *base, size_t nbase,
				 const double *new, size_t nnew, double level);

#endif
