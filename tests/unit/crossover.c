// SPDX-License-Identifier: GPL-2.0-only
/* Crossovers: by hand, and the coverage of their interval by simulation. */
#include "analyze/figures/figures.h"

#include "lib/stats.h"
#include "tests/unit/unit.h"

enum { VALUES = 6, RUNS = 6 };

struct world {
	double base[VALUES][RUNS], new[VALUES][RUNS];
	struct crossover_point points[VALUES];
};

static double normal(struct prng *r)
{
	double u = ((double)(prng_next(r) >> 11) + 0.5) / 9007199254740992.0;

	return stats_normal_quantile(u);
}

/*
 * Makes runs at 1, 4, 16 ... Base costs 100. New costs 100 x (x / zero)^-slope, so that the lines
 * cross at `zero`. Each run has a log-normal error of `noise`.
 */
static void world_make(struct world *w, struct prng *r, double zero, double slope, double noise)
{
	double at = 1;

	for (int i = 0; i < VALUES; i++, at *= 4) {
		for (int k = 0; k < RUNS; k++) {
			w->base[i][k] = 100 * exp(noise * normal(r));
			w->new[i][k] = 100 * pow(at / zero, -slope) * exp(noise * normal(r));
		}
		w->points[i] = (struct crossover_point){
			at, "", w->base[i], w->new[i], RUNS, RUNS, VERDICT_NONE, 0, false};
	}
}

TEST(lines_without_noise_cross_where_they_cross)
{
	struct prng r;
	struct world w;
	struct crossover c;

	prng_seed(&r, 1);
	world_make(&w, &r, 23, 0.3, 1e-9);
	c = crossover_find(w.points, VALUES, -1, true);
	assert_int_equal(c.kind, CROSSOVER_BEGINS);
	assert_float_equal(c.at, 23, 1e-4);
	assert_int_equal(c.better, 3);
	assert_int_equal(c.worse, 3);
	c = crossover_find(w.points, VALUES, 1, true);
	assert_int_equal(c.kind, CROSSOVER_ENDS);
	assert_float_equal(c.at, 23, 1e-4);
}

TEST(lines_that_do_not_cross_have_no_crossing)
{
	struct prng r;
	struct world w;
	struct crossover c;

	prng_seed(&r, 1);
	world_make(&w, &r, 0.1, 0.3, 0.01);
	c = crossover_find(w.points, VALUES, -1, true);
	assert_int_equal(c.kind, CROSSOVER_ALWAYS);
	assert_true(isnan(c.at));
	world_make(&w, &r, 1e6, 0.3, 0.01);
	assert_int_equal(crossover_find(w.points, VALUES, -1, true).kind, CROSSOVER_NEVER);
	w.points[0].nbase = w.points[1].nbase = 0;
	assert_int_equal(crossover_find(w.points, VALUES, -1, true).n, VALUES - 2);
	assert_int_equal(crossover_find(w.points, 3, -1, true).kind, CROSSOVER_NONE);
}

TEST(single_runs_show_no_crossing)
{
	struct prng r;
	struct world w;
	struct crossover c;

	prng_seed(&r, 1);
	world_make(&w, &r, 23, 0.3, 0.01);
	for (int i = 0; i < VALUES; i++)
		w.points[i].nbase = w.points[i].nnew = 1;
	c = crossover_find(w.points, VALUES, -1, true);
	assert_int_equal(c.kind, CROSSOVER_UNCLEAR);
	assert_int_equal(c.needed, 5); /* six values were measured */
	assert_true(isnan(c.at) && isnan(c.lo) && isnan(c.hi));
}

/* An open end covers all values beyond. Worlds without a single crossing have no interval. */
TEST(the_95_percent_interval_covers_95_percent)
{
	enum { WORLDS = 1000 };
	static const double noises[] = {0.03, 0.1, 0.3};
	unsigned int covered, crossed, i; /* 95 % of 1000 have a standard error of 0.7 % */
	struct crossover c;
	struct world w;
	struct prng r;

	prng_seed(&r, 20261123);
	each (row, noises) {
		covered = crossed = 0;
		for (i = 0; i < WORLDS; i++) {
			double zero = exp(log(4) * (1.2 + 2.6 * (i % 100) / 100.0));

			world_make(&w, &r, zero, 0.3, *row);
			c = crossover_find(w.points, VALUES, -1, true);
			if (c.kind != CROSSOVER_BEGINS)
				continue;
			crossed++;
			covered += !(c.lo > zero) && !(c.hi < zero);
		}
		print_message("# noise %g: %u of %u crossings covered\n", *row, covered, crossed);
		assert_true(crossed > WORLDS / 2);
		assert_in_range(1000 * covered / crossed, 935, 980);
	}
}

TEST(setting_is_printed_with_the_factor_of_its_like)
{
	static const struct {
		double x;
		const char *like, *text;
	} cases[] = {
		{65537.2, "1400", "65537"},
		{1400, "9000", "1400"},
		{999, "4K", "999"},
		{1023, "4K", "1023"},
		{1024, "4K", "1k"},
		{1536, "4KB", "1.5k"},
		{6100, "4KiB", "5.96k"},
		{1536, "4kbit", "1.54k"},
		{3.0 * (1 << 20), "4K", "3M"},
		{5.0 * (1 << 30), "4K", "5G"},
		{7.0 * (1ULL << 40), "4K", "7T"},
		{2.0 * (1ULL << 50), "4K", "2048T"},
	};

	each (c, cases) {
		autofree char *text = setting_text(c->x, c->like);

		assert_string_equal(text, c->text);
	}
}

/* Five runs and five beyond them have p = 2 / 252, six and six 2 / 924. Seven values take six runs.
 */
TEST(verdicts_are_corrected_for_the_number_of_values)
{
	static const double base[] = {1, 2, 3, 4, 5, 6}, above[] = {7, 8, 9, 10, 11, 12};
	struct crossover_point points[7];
	struct crossover c;

	for (size_t n = 6; n <= 7; n++) {
		for (size_t i = 0; i < n; i++)
			points[i] = (struct crossover_point){(double)i + 1, "", base, above, 5, 5,
							     VERDICT_NONE,  0,	false};
		c = crossover_find(points, n, 1, false);
		assert_int_equal(c.better, n == 6 ? 6 : 0);
		assert_int_equal(c.kind, n == 6 ? CROSSOVER_ALWAYS : CROSSOVER_UNCLEAR);
		assert_int_equal(points[0].verdict, n == 6 ? VERDICT_BETTER : VERDICT_FEW);
		assert_int_equal(c.needed, n == 6 ? 0 : 6);
		c = crossover_find(points, n, -1, false);
		assert_int_equal(c.kind, n == 6 ? CROSSOVER_NEVER : CROSSOVER_UNCLEAR);
	}
}

/* At each value both ends have the same median with noise, but for the lowest, where new is dearer.
 */
TEST(noise_is_no_crossing_and_a_difference_at_few_values_is_shown)
{
	struct prng r;
	struct world w;
	struct crossover c;
	int crossings = 0, claims = 0;

	prng_seed(&r, 5);
	for (int i = 0; i < 1000; i++) {
		world_make(&w, &r, 1, 0, 0.1);
		c = crossover_find(w.points, VALUES, -1, true);
		crossings += !isnan(c.at);
		claims += c.better + c.worse > 0;
	}
	print_message("# noise: %d crossings and %d claims in 1000 worlds\n", crossings, claims);
	assert_int_equal(crossings, 0);
	assert_in_range(claims, 1, 50);
	for (int k = 0; k < RUNS; k++)
		w.new[0][k] *= 2;
	c = crossover_find(w.points, VALUES, -1, true);
	assert_int_equal(c.kind, CROSSOVER_UNCLEAR);
	assert_int_equal(w.points[0].verdict, VERDICT_WORSE);
	assert_int_equal(c.worse, 1);
}

TEST(a_value_beside_other_programs_has_no_verdict)
{
	static const double base[] = {1, 1, 1, 1, 1, 1}, high[] = {2, 2, 2, 2, 2, 2};
	struct crossover_point points[] = {{1, "", base, high, 6, 6, VERDICT_NONE, 20, false},
					   {2, "", base, high, 6, 6, VERDICT_NONE, 20.1, false}};

	assert_int_equal(crossover_find(points, 2, 1, false).better, 1);
	assert_int_equal(points[1].verdict, VERDICT_OTHERS);
}

TEST(a_gain_of_a_variant_that_copied_is_no_better_verdict)
{
	static const double base[] = {1, 1, 1, 1, 1, 1}, high[] = {2, 2, 2, 2, 2, 2};
	struct crossover_point points[] = {{1, "", base, high, 6, 6, VERDICT_NONE, 0, true},
					   {2, "", high, base, 6, 6, VERDICT_NONE, 0, true}};
	struct crossover c = crossover_find(points, 2, 1, false);

	assert_int_equal(points[0].verdict, VERDICT_COPIED);
	assert_int_equal(points[1].verdict, VERDICT_WORSE);
	assert_int_equal(c.better, 0);
	assert_int_equal(c.kind, CROSSOVER_UNCLEAR);
	assert_true(isnan(c.at));
}

/* The line of the logarithms of 1 / 2, 2, 2, 1 / 2 at 1, 2, 3, 4 is 0 halfway. */
TEST(lines_may_cross_more_than_once)
{
	static const double base[] = {1, 1, 1, 1, 1, 1}, high[] = {2, 2, 2, 2, 2, 2},
			    low[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
	struct crossover_point points[] = {{1, "", base, low, 6, 6, VERDICT_NONE, 0, false},
					   {2, "", base, high, 6, 6, VERDICT_NONE, 0, false},
					   {3, "", base, high, 6, 6, VERDICT_NONE, 0, false},
					   {4, "", base, low, 6, 6, VERDICT_NONE, 0, false}};
	struct crossover c = crossover_find(points, 4, 1, false);

	assert_int_equal(c.kind, CROSSOVER_OFTEN);
	assert_true(isnan(c.at));
	c = crossover_find(points, 3, 1, false);
	assert_int_equal(c.kind, CROSSOVER_BEGINS);
	assert_float_equal(c.at, 1.5, 1e-12);
	c = crossover_find(points + 1, 3, 1, false);
	assert_int_equal(c.kind, CROSSOVER_ENDS);
	assert_float_equal(c.at, 3.5, 1e-12);
	c = crossover_find(points, 3, -1, false);
	assert_int_equal(c.kind, CROSSOVER_ENDS);
	c = crossover_find(points, 3, 1, true); /* over the logarithm of the place */
	assert_float_equal(c.at, sqrt(2), 1e-12);
}

TEST(settings_are_numbers_with_factors)
{
	static const struct {
		const char *text;
		double number;
		const char *rest;
	} cases[] = {
		{"1500", 1500, ""},
		{"64k", 65536, ""},
		{"64K", 65536, ""},
		{"4KB", 4096, "B"},
		{"4kiB", 4096, "iB"},
		{"3kx", 3000, "x"},
		{"10Gbit/s", 1e10, "bit/s"},
		{"5M", 5.0 * (1 << 20), ""},
		{"2T", 2.0 * (1LL << 40), ""},
		{"1.5us", 1.5, "us"},
		{"-1", -1, ""},
	};
	const char *rest;
	double number;

	each (c, cases) {
		assert_true(setting_number(c->text, &number, &rest));
		assert_float_equal(number, c->number, 0);
		assert_string_equal(rest, c->rest);
	}
	assert_false(setting_number("on", &number, &rest));
	assert_false(setting_number("", &number, &rest));
}
