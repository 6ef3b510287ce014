// SPDX-License-Identifier: GPL-2.0-only
/* Normal, beta, Student and binomial: everything hangs on erfc and the incomplete beta function. */
#include "lib/stats.h"

#include <math.h>

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
	int m;

	for (m = 1; m < 10000; m++) {
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

double stats_beta_cdf(double x, double a, double b)
{
	double front;

	if (!(x > 0))
		return isnan(x) ? NAN : 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double stats_t_cdf(double t, double df)
{
	double tail;

	if (isnan(t) || !(df > 0))
		return NAN;
	tail = 0.5 * stats_beta_cdf(df / (df + t * t), df / 2, 0.5);
	return t > 0 ? 1 - tail : tail;
}

/* Where a lower tail reaches p <= 1/2, by bisection below 0, where the cdf keeps its digits. */
static double quantile_lower(double p, double df, double (*cdf)(double x, double df))
{
	double lo = -1, hi = 0, mid;
	int i;

	while (cdf(lo, df) > p && lo > -1e300)
		lo *= 2;
	for (i = 0; i < 200; i++) {
		mid = 0.5 * (lo + hi);
		if (mid == lo || mid == hi)
			break;
		if (cdf(mid, df) < p)
			lo = mid;
		else
			hi = mid;
	}
	return 0.5 * (lo + hi);
}

static double normal_cdf_df(double z, double df)
{
	(void)df;
	return stats_normal_cdf(z);
}

double stats_normal_quantile(double p)
{
	if (!(p > 0 && p < 1))
		return NAN;
	return p > 0.5 ? -quantile_lower(1 - p, 0, normal_cdf_df)
		       : quantile_lower(p, 0, normal_cdf_df);
}

double stats_t_quantile(double p, double df)
{
	if (!(p > 0 && p < 1) || !(df > 0))
		return NAN;
	return p > 0.5 ? -quantile_lower(1 - p, df, stats_t_cdf)
		       : quantile_lower(p, df, stats_t_cdf);
}

double stats_binomial_cdf(long k, unsigned n, double p)
{
	if (k < 0)
		return 0;
	if (k >= (long)n)
		return 1;
	return stats_beta_cdf(1 - p, (double)n - (double)k, (double)k + 1);
}
