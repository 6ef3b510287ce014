// SPDX-License-Identifier: GPL-2.0-only
#include "lib/stats.h"

#include "tests/unit/unit.h"

enum { YEAR = 365 };

static struct prng prng;
static double x[YEAR];
static struct stats_change found[YEAR / STATS_SEGMENT];

static double uniform(void)
{
	return ((double)(prng_next(&prng) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return stats_normal_quantile(uniform());
}

/* A heavy tail to one side, as delays of a busy machine have: lognormal. */
static double skewed(void)
{
	return exp(normal());
}

static void fill(size_t n, double (*noise)(void))
{
	for (size_t i = 0; i < n; i++)
		x[i] = 100 + noise();
}

TEST(a_step_is_found_where_it_is)
{
	prng_seed(&prng, 1);
	fill(60, normal);
	for (size_t i = 37; i < 60; i++)
		x[i] += 6;
	assert_int_equal(stats_changes(x, 60, 0.01, found), 1);
	assert_int_equal(found[0].at, 37);
	assert_true(found[0].p > 0 && found[0].p <= 0.01);
}

TEST(several_steps_are_found_in_order)
{
	prng_seed(&prng, 2);
	fill(200, normal);
	for (size_t i = 0; i < 200; i++)
		x[i] += i < 50 ? 0 : i < 120 ? -8 : i < 150 ? 9 : 0;
	assert_int_equal(stats_changes(x, 200, 0.05 / YEAR, found), 3);
	assert_int_equal(found[0].at, 50);
	assert_int_equal(found[1].at, 120);
	assert_int_equal(found[2].at, 150);
}

TEST(equal_and_few_values_have_no_change)
{
	for (size_t i = 0; i < YEAR; i++)
		x[i] = 0.1;
	assert_int_equal(stats_changes(x, YEAR, 0.05, found), 0);
	for (size_t i = 0; i < 9; i++)
		x[i] = i < 5 ? 1 : 2;
	assert_int_equal(stats_changes(x, 9, 0.05, found), 0);
	assert_int_equal(stats_changes(x, 0, 0.05, found), 0);
}

TEST(an_outlier_is_no_change)
{
	prng_seed(&prng, 3);
	fill(100, normal);
	x[40] += 1000;
	assert_int_equal(stats_changes(x, 100, 0.01, found), 0);
}

TEST(the_statistic_is_that_of_the_formula)
{
	/* Ten values, one split of five and five: Q = 25 / 10 x (2 x 10 - 1.6 - 1.6) if they are
	 * 0 to 4 / 2 and the same plus 10. The order is one of 252, and so is the reverse. */
	double distance = 0, p;

	for (size_t i = 0; i < 10; i++)
		x[i] = (double)(i % 5) / 2 + (i < 5 ? 0 : 10);
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < i; j++)
			distance += (i - j) / 2.0 / 10;
	assert_float_equal(distance, 1, 1e-12);
	assert_int_equal(stats_changes(x, 10, 0.05, found), 1);
	p = found[0].p;
	assert_true(fabs(p - 2.0 / 252) < 4 * sqrt(2.0 / 252 / 1000));
	assert_int_equal(found[0].at, 5);
}

/* Returns how many of the series without a change have one at this level. */
static unsigned false_alarms(unsigned series, size_t n, double (*noise)(void), double alpha)
{
	unsigned alarms = 0;

	for (unsigned i = 0; i < series; i++) {
		fill(n, noise);
		alarms += stats_changes(x, n, alpha, found) > 0;
	}
	return alarms;
}

TEST(false_alarms_of_a_look_are_as_rare_as_alpha)
{
	double (*const noises[])(void) = {normal, skewed};

	prng_seed(&prng, 4);
	for (size_t i = 0; i < array_size(noises); i++) {
		/* Ten values are the first that a split divides: they have one look. */
		unsigned alarms = false_alarms(500, 2 * STATS_SEGMENT, noises[i], 0.1);

		assert_true(stats_proportion(alarms, 500, 0.999).lo <= 0.1);
		assert_true(stats_proportion(alarms, 500, 0.999).hi >= 0.08);
	}
}

TEST(a_year_of_looks_stays_in_its_budget)
{
	prng_seed(&prng, 5);
	assert_true(stats_proportion(false_alarms(12, YEAR, normal, 0.05 / YEAR), 12, 0.999).lo <=
		    0.05);
	assert_true(stats_proportion(false_alarms(12, YEAR, skewed, 0.05 / YEAR), 12, 0.999).lo <=
		    0.05);
}

TEST(a_change_that_was_undone_stays_found)
{
	prng_seed(&prng, 6);
	fill(300, normal);
	for (size_t i = 0; i < 300; i++)
		x[i] += i % 60 >= 40 ? 6 : 0;
	assert_int_equal(stats_changes(x, 300, 0.05 / YEAR, found), 9);
	for (size_t i = 0; i < 9; i++)
		assert_true(labs((long)found[i].at - (long)(i / 2 * 60 + (i % 2 ? 60 : 40))) <= 1);
}

TEST(the_spread_within_captures_is_told_from_that_between)
{
	/* R: a <- aov(y ~ factor(c)) of y = 1 3, 4 6 8, 2 2: MS within 10/4, between 46/3/2 */
	const double a[] = {1, 3}, b[] = {4, 6, 8}, c[] = {2, 2};
	const double *const captures[] = {a, b, c};
	const size_t n[] = {2, 3, 2}, one[] = {1, 1, 1};
	double weight = 7 - 17.0 / 7, mean = 26.0 / 7;
	double between = 2 * (2 - mean) * (2 - mean) * 2 + 3 * (6 - mean) * (6 - mean);
	struct stats_spread s = stats_spread_of(captures, n, 3, NULL, 0);

	assert_float_equal(s.within, sqrt(10 / 4.0), 1e-12);
	assert_float_equal(s.between, sqrt((between - 2 * 2.5) / weight), 1e-12);
	s = stats_spread_of(captures, one, 3, NULL, 0);
	assert_true(isnan(s.within) && isnan(s.between));
	/* In segments of one capture, nothing is known of the spread between captures. */
	s = stats_spread_of(captures, n, 3, (const struct stats_change[]){{1, 0}, {2, 0}}, 2);
	assert_float_equal(s.within, sqrt(10 / 4.0), 1e-12);
	assert_true(isnan(s.between));
}
