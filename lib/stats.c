// SPDX-License-Identifier: GPL-2.0-only
#include "lib/stats.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>

const char *const estimator_names[3] = {
	[EST_MEDIAN] = "median",
	[EST_MIDDLE] = "middle",
	[EST_MEAN] = "mean",
};

bool estimator_parse(const char *name, enum estimator *e)
{
	int i = name ? str_index(estimator_names, array_size(estimator_names), name) : EST_MEDIAN;

	*e = i < 0 ? EST_MEDIAN : (enum estimator)i;
	return i >= 0;
}

double stats_mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

double stats_sd(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
}

double stats_significant(double x)
{
	char digits[32];

	if (!isfinite(x))
		return x;
	snprintf(digits, sizeof(digits), "%.11e", x);
	return strtod(digits, NULL);
}

int stats_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return ascending(x, y);
}

static double *stats_sorted(const double *x, size_t n)
{
	double *s = xmemdup(x, n * sizeof(*x));

	qsort(s, n, sizeof(*s), stats_by_value);
	return s;
}

/* Interpolates between the order statistics at (n - 1) p: type 7 of Hyndman and Fan. */
static double stats_sorted_quantile(const double *s, size_t n, double p)
{
	double h = (double)(n - 1) * p, floor_h = floor(h);
	size_t i = (size_t)floor_h;

	if (i + 1 >= n)
		return s[n - 1];
	return s[i] + (h - floor_h) * (s[i + 1] - s[i]);
}

double stats_quantile(const double *x, size_t n, double p)
{
	autofree double *s = NULL;

	if (!n || !(p >= 0 && p <= 1))
		return NAN;
	s = stats_sorted(x, n);
	return stats_sorted_quantile(s, n, p);
}

double stats_point(enum estimator e, const double *x, size_t n)
{
	if (e == EST_MIDDLE)
		return n >= 3 ? stats_mean(x + 1, n - 2) : NAN;
	if (e == EST_MEAN)
		return stats_mean(x, n);
	return stats_quantile(x, n, 0.5);
}

/* The interval is value +- t x sd / sqrt(n). One run has no interval. */
static struct estimate mean_estimate(const double *x, size_t n, double level)
{
	struct estimate e = {stats_mean(x, n), NAN, NAN, NAN, n, n};
	double half;

	if (n < 2)
		return e;
	half = stats_t_quantile(0.5 + level / 2, (double)n - 1) * stats_sd(x, n) / sqrt((double)n);
	e.lo = e.value - half;
	e.hi = e.value + half;
	e.level = level;
	return e;
}

/*
 * x(k) .. x(n+1-k) covers the median with probability 1 - 2 P(Bin(n, 1/2) < k). This takes the
 * largest k that still covers `level`. With fewer than 6 runs no k covers 95 %, so the interval is
 * min..max with the level that it covers.
 */
static struct estimate median_estimate(const double *x, size_t n, double level)
{
	struct estimate e = {stats_quantile(x, n, 0.5), NAN, NAN, NAN, n, n};
	autofree double *s = NULL;
	size_t k = 1;

	if (n < 2)
		return e;
	while (1 - 2 * stats_binomial_cdf((long)k, (unsigned)n, 0.5) >= level)
		k++;
	s = stats_sorted(x, n);
	e.lo = s[k - 1];
	e.hi = s[n - k];
	e.level = 1 - 2 * stats_binomial_cdf((long)k - 1, (unsigned)n, 0.5);
	return e;
}

struct estimate stats_estimate(enum estimator est, const double *x, size_t n, double level)
{
	struct estimate e;

	if (est == EST_MEDIAN)
		return median_estimate(x, n, level);
	if (est == EST_MEAN)
		return mean_estimate(x, n, level);
	e = n >= 3 ? mean_estimate(x + 1, n - 2, level)
		   : (struct estimate){NAN, NAN, NAN, NAN, n, 0};
	e.n = n;
	return e;
}

struct estimate estimate_times(struct estimate e, double k)
{
	e.value *= k;
	e.lo *= k;
	e.hi *= k;
	return e;
}

/* --- errors --- */

/* Returns the error of the mean without the smallest and the largest value: Yuen's. */
static struct stats_error trimmed_error(const double *x, size_t n)
{
	autofree double *s = stats_sorted(x, n);

	s[0] = s[1];
	s[n - 1] = s[n - 2];
	return (struct stats_error){stats_sd(s, n) * sqrt((double)n) / (double)(n - 2),
				    (double)n - 3};
}

static struct stats_error median_error(const double *x, size_t n)
{
	struct stats_error mean = stats_error_of(EST_MEAN, x, n);
	struct estimate e;
	double ratio; /* the median's standard error / the mean's, n normal values */

	ratio = n < 3 ? 1 : sqrt(M_PI * (double)n / (2 * (double)n + (n % 2 ? 0.95 : 2.6)));
	if (n < 12)
		return stats_error_times(n < 6 ? mean : trimmed_error(x, n), ratio);
	e = median_estimate(x, n, 0.95);
	return (struct stats_error){(e.hi - e.lo) / 2 / stats_normal_quantile(0.5 + e.level / 2),
				    mean.df};
}

struct stats_error stats_error_of(enum estimator est, const double *x, size_t n)
{
	if (est == EST_MIDDLE)
		return n > 3 ? stats_error_of(EST_MEAN, x + 1, n - 2)
			     : (struct stats_error){NAN, NAN};
	if (n < 2)
		return (struct stats_error){NAN, NAN};
	if (est == EST_MEDIAN)
		return median_error(x, n);
	return (struct stats_error){stats_sd(x, n) / sqrt((double)n), (double)n - 1};
}

struct stats_error stats_error_times(struct stats_error e, double k)
{
	return (struct stats_error){e.se * fabs(k), e.df};
}

struct stats_error stats_error_add(struct stats_error a, struct stats_error b)
{
	double va = a.se * a.se, vb = b.se * b.se, var = va + vb;

	if (a.se == 0 || b.se == 0)
		return a.se == 0 ? b : a;
	return (struct stats_error){sqrt(var), var * var / (va * va / a.df + vb * vb / b.df)};
}

double stats_error_half(struct stats_error e, double level)
{
	return e.se > 0 ? stats_t_quantile(0.5 + level / 2, e.df) * e.se : e.se;
}

struct holm_p {
	double p;
	size_t at;
};

/* Returns the p that are not NAN, the smallest first. The caller frees. */
static struct holm_p *holm_sort(const double *p, size_t n, size_t *m)
{
	struct holm_p *r = xmalloc((n + 1) * sizeof(*r));

	*m = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			r[(*m)++] = (struct holm_p){p[i], i};
	qsort(r, *m, sizeof(*r), stats_by_value);
	return r;
}

void stats_holm(double *p, size_t n)
{
	size_t m;
	autofree struct holm_p *r = holm_sort(p, n, &m);
	double running = 0;

	for (size_t i = 0; i < m; i++) {
		running = fmax(running, r[i].p * (double)(m - i));
		p[r[i].at] = fmin(1, running);
	}
}

/* Returns the x at which the beta distribution reaches p, by halving. */
static double beta_quantile(double p, double a, double b)
{
	double lo = 0, hi = 1, x = 0.5;

	for (; lo < x && x < hi && hi - lo > 1e-15 * x; x = (lo + hi) / 2)
		*(stats_beta_cdf(x, a, b) < p ? &lo : &hi) = x;
	return x;
}

struct estimate stats_proportion(unsigned k, unsigned n, double level)
{
	struct estimate e = {NAN, NAN, NAN, NAN, n, n};
	double tail = (1 - level) / 2, hits = k, misses = n - k;

	if (!n || k > n)
		return e;
	e.value = hits / n;
	e.lo = k ? beta_quantile(tail, hits, misses + 1) : 0;
	e.hi = k < n ? beta_quantile(1 - tail, hits + 1, misses) : 1;
	e.level = level;
	return e;
}

/* Normal, beta, Student and binomial: everything hangs on erfc and the incomplete beta function. */

double stats_normal_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

static double beta_away_from_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8), by Lentz. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / beta_away_from_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / beta_away_from_zero(1 + even * d);
		c = beta_away_from_zero(1 + even / c);
		f *= c * d;
		d = 1 / beta_away_from_zero(1 + odd * d);
		c = beta_away_from_zero(1 + odd / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

double stats_log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double stats_beta_cdf(double x, double a, double b)
{
	double front;

	if (!(x > 0))
		return isnan(x) ? NAN : 0;
	if (x >= 1)
		return 1;
	front = exp(stats_log_gamma(a + b) - stats_log_gamma(a) - stats_log_gamma(b) + a * log(x) +
		    b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double stats_t_cdf(double t, double df)
{
	double tail;

	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(df))
		return stats_normal_cdf(t);
	tail = 0.5 * stats_beta_cdf(df / (df + t * t), df / 2, 0.5);
	return t > 0 ? 1 - tail : tail;
}

/*
 * Newton's method from a t above the quantile of the lower tail. Below 0 the cdf is convex, so each
 * step ends above the quantile, too. The error of the last step is about its square.
 */
double stats_t_quantile(double p, double df)
{
	const double lower = p > 0.5 ? 1 - p : p,
		     scale = isinf(df) ? sqrt(M_1_PI / 2)
				       : exp(stats_log_gamma((df + 1) / 2) -
					     stats_log_gamma(df / 2)) /
						 sqrt(df * M_PI);
	double t = -1, step = 1, log_density;

	if (!(p > 0 && p < 1) || !(df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	while (stats_t_cdf(t, df) > lower && t > -1e300)
		t *= 2;
	t = t == -1 ? 0 : t / 2;
	while (step > 1e-9 * -t) {
		log_density = isinf(df) ? -t * t / 2 : -(df + 1) / 2 * log1p(t * t / df);
		step = (stats_t_cdf(t, df) - lower) / (scale * exp(log_density));
		t -= step;
	}
	return p > 0.5 ? -t : t;
}

double stats_normal_quantile(double p)
{
	return stats_t_quantile(p, INFINITY);
}

double stats_binomial_cdf(long k, unsigned n, double p)
{
	if (k < 0)
		return 0;
	if (k >= (long)n)
		return 1;
	return stats_beta_cdf(1 - p, (double)n - (double)k, (double)k + 1);
}
