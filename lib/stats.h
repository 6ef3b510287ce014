/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one statistics module: what repeated runs say, and whether two sets of them differ. Plain
 * arrays of doubles in, plain structs out; inputs hold no NaN and are never changed. A figure that
 * the data cannot give is NAN. All of it is tested against R; the R call is named beside each.
 */
#ifndef ZC_STATS_H
#define ZC_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- distributions (stats_dist.c) --- */

#define STATS_Z95 1.959963984540054 /* qnorm(0.975) */

double stats_normal_cdf(double z);			 /* pnorm */
double stats_normal_quantile(double p);			 /* qnorm, 0 < p < 1 */
double stats_beta_cdf(double x, double a, double b);	 /* pbeta: regularized incomplete beta */
double stats_t_cdf(double t, double df);		 /* pt */
double stats_t_quantile(double p, double df);		 /* qt, 0 < p < 1 */
double stats_binomial_cdf(long k, unsigned n, double p); /* pbinom */

/* --- one sample (stats.c) --- */

/* A figure from n runs with the interval lo..hi; `level` is the interval's actual coverage. */
struct estimate {
	double value, lo, hi;
	double level; /* 0.95, or what the order statistics give; NAN: no interval */
	size_t n;     /* runs given */
	size_t used;  /* runs the value is made of */
};

enum estimator {
	EST_MEDIAN, /* interval between order statistics; n < 6: min..max, level 1 - 2^(1-n) */
	EST_MIDDLE, /* drops the first and the last by position, averages the rest; n >= 3 */
	EST_MEAN,   /* interval from Student's t */
};
extern const char *const estimator_names[3];
/* NULL is the median; false when there is no such name. */
bool estimator_parse(const char *name, enum estimator *e);

/* Orders doubles for qsort(). */
int stats_by_value(const void *a, const void *b);
/* Returns a sorted copy that the caller frees. */
double *stats_sorted(const double *x, size_t n);
double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n);			 /* n - 1; NAN below two */
double stats_quantile(const double *x, size_t n, double p);	 /* type 7, R's default */
double stats_point(enum estimator e, const double *x, size_t n); /* the value alone */
/* To 12 significant digits: values apart by no more than the noise of arithmetic become ties. */
double stats_significant(double x);
struct estimate stats_estimate(enum estimator e, const double *x, size_t n, double level);

/* --- two samples (stats_rank.c, stats.c) --- */

/*
 * Mann-Whitney, two-sided. Exact (by counting, ties included: the permutation distribution of the
 * midranks) up to STATS_EXACT_MAX values in all, p = P(|W - E| >= |w - E|); above, the normal
 * approximation with tie and continuity correction. wilcox.test(a, b).
 */
enum { STATS_EXACT_MAX = 60 };
double stats_mann_whitney(const double *a, size_t na, const double *b, size_t nb);
/* The smallest p that so many runs can give, 2 / choose(na + nb, na): no test can be below. */
double stats_mann_whitney_min(size_t na, size_t nb);
/* How often the exact test without ties says p < alpha of two samples of one kind: at most alpha.
 */
double stats_mann_whitney_level(size_t na, size_t nb, double alpha);

/* Orders of na and nb values by Mann and Whitney's U = 0 .. na x nb; the caller frees. */
double *stats_wilcoxon_counts(size_t na, size_t nb, size_t *n);
/* The largest k with P(U < k) < tail; *below is that P. qwilcox(tail, na, nb). */
size_t stats_wilcoxon_cut(size_t na, size_t nb, double tail, double *below);

/*
 * Hodges-Lehmann shift b - a with its exact interval (stats_shift.c):
 * wilcox.test(b, a, conf.int = TRUE). Where even the extreme differences do not cover `level`,
 * they are the interval, with the level that they do cover.
 */
struct estimate stats_shift(const double *a, size_t na, const double *b, size_t nb, double level);

/*
 * The test and the interval that belongs to it: all shifts b - a (ratios b / a) that the test does
 * not reject at `alpha`, ties and all. So 0 (for a ratio 1) is strictly inside only when *p >=
 * alpha and strictly outside only when *p < alpha. lo and hi are NAN where so few values cannot
 * reject anything at `alpha`. A ratio takes a > 0, b >= 0, else it is all NAN but for *p.
 */
struct estimate stats_test_shift(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p);
struct estimate stats_test_ratio(const double *a, size_t na, const double *b, size_t nb,
				 double alpha, double *p);

/* Welch's t-test, two-sided p: t.test(a, b). NAN below two each; *t and *df may be NULL. */
double stats_welch(const double *a, size_t na, const double *b, size_t nb, double *t, double *df);

/* Difference of means b - a with Welch's interval: t.test(b, a)$conf.int. */
struct estimate stats_welch_difference(const double *a, size_t na, const double *b, size_t nb,
				       double level);

/* Holm's correction: p.adjust(p, "holm"). A NAN stays NAN and does not count. In place. */
void stats_holm(double *p, size_t n);
/*
 * The level at which Holm's procedure tests each p before correction: those it rejects are below
 * theirs, all others are not. Intervals at 1 - level agree with the corrected p. NAN for a NAN.
 */
void stats_holm_levels(const double *p, size_t n, double alpha, double *level);

/* Clopper and Pearson's interval of k successes in n: binom.test(k, n)$conf.int. */
struct estimate stats_proportion(unsigned k, unsigned n, double level);

/* --- bootstrap over whole runs (stats_boot.c) --- */

#define STATS_SEED \
	0x7a636f7374ULL /* "zcost": stored, so that the same runs give the same interval */
enum { STATS_ROUNDS = 10000 };

/* xoshiro256**, seeded by splitmix64. */
struct prng {
	uint64_t s[4];
};
void prng_seed(struct prng *r, uint64_t seed);
uint64_t prng_next(struct prng *r);
size_t prng_below(struct prng *r, size_t n); /* 0 .. n-1, n > 0 */
double prng_unit(struct prng *r);	     /* [0, 1) */

/*
 * Percentile intervals. Both samples are drawn anew, each with replacement, in every round; the
 * `middle` draws from the runs it keeps. Fewer than two runs on a side give no interval.
 */
struct estimate stats_boot_ratio(enum estimator e, const double *base, size_t nbase,
				 const double *new, size_t nnew, double level);
struct estimate stats_boot_difference(enum estimator e, const double *base, size_t nbase,
				      const double *new, size_t nnew, double level);

#endif
