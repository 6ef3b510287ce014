// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/diff.h"
#include "analyze/compare/gate.h"
#include "tests/unit/unit.h"

static const struct verdict_rule rule = {.alpha = 0.05, .threshold = 0.02};

static void near(double x, double y)
{
	if (isnan(x) != isnan(y) || fabs(x - y) > 1e-9 * fmax(1, fabs(y)))
		fail_msg("%.12g, expected %.12g", x, y);
}

TEST(verdicts)
{
	struct verdict_rule copied = rule;

	copied.copied = true;
	assert_int_equal(verdict_of(&rule, +1, 100, 110, 0.01), VERDICT_BETTER);
	assert_int_equal(verdict_of(&rule, -1, 100, 110, 0.01), VERDICT_WORSE);
	assert_int_equal(verdict_of(&rule, +1, 100, 90, 0.01), VERDICT_WORSE);
	assert_int_equal(verdict_of(&rule, -1, 100, 90, 0.01), VERDICT_BETTER);
	assert_int_equal(verdict_of(&rule, +1, 100, 102, 0.01), VERDICT_SAME); /* not above 2 % */
	assert_int_equal(verdict_of(&rule, +1, 100, 102.1, 0.01), VERDICT_BETTER);
	assert_int_equal(verdict_of(&rule, +1, 100, 200, 0.05), VERDICT_SAME);
	assert_int_equal(verdict_of(&rule, -1, 0, 5, 0.01), VERDICT_WORSE); /* appeared */
	assert_int_equal(verdict_of(&rule, +1, 100, 110, NAN), VERDICT_NONE);
	assert_int_equal(verdict_of(&rule, 0, 100, 110, 0.01), VERDICT_NONE);
	/* No speed-up of a variant that copied; that it is worse may still be said. */
	assert_int_equal(verdict_of(&copied, +1, 100, 110, 0.01), VERDICT_COPIED);
	assert_int_equal(verdict_of(&copied, +1, 100, 90, 0.01), VERDICT_WORSE);
	assert_int_equal(verdict_of(&rule, 0, 100, 110, 0.05), VERDICT_SAME);
	assert_int_equal(verdict_of(&rule, +1, -100, -102, 0.01), VERDICT_SAME);
	assert_int_equal(verdict_of(&rule, +1, 100, NAN, 0.01), VERDICT_NONE);
	assert_null(verdict_name(VERDICT_NONE));
	assert_string_equal(verdict_name(VERDICT_FEW), "too few runs");
}

/* 2 / choose(2n, n): 3 and 3 runs give 0.1, 4 and 4 0.0286, 5 and 5 0.0079. */
TEST(too_few)
{
	assert_false(verdict_possible(&rule, 3, 3, 1));
	assert_true(verdict_possible(&rule, 4, 4, 1));
	assert_true(verdict_possible(&rule, 3, 5, 1));
	assert_false(verdict_possible(&rule, 1, 100, 3));
	assert_true(verdict_possible(&rule, 5, 5, 6));
	assert_false(verdict_possible(&rule, 5, 5, 7));
	assert_int_equal(verdict_runs_needed(&rule, 1), 4);
	assert_int_equal(verdict_runs_needed(&rule, 7), 6);
	assert_int_equal(verdict_runs_needed(&rule, 0), 4);
	/* With alpha 0.5 two and two runs give a verdict, with alpha 0 none do. */
	assert_int_equal(verdict_runs_needed(&(struct verdict_rule){.alpha = 0.5}, 1), 2);
	assert_int_equal(verdict_runs_needed(&(struct verdict_rule){.alpha = 0}, 1), 1000);
}

/* The ranges of 1, 2, 3 and of 10, 11 add up to 3. */
TEST(a_drift_explains_no_more_than_the_ranges_of_both_ends)
{
	static const double base[] = {2, 3, 1}, new[] = {11, 10};
	static const struct {
		bool apart, drifts;
		enum verdict v;
		double change;
		enum verdict after;
	} rows[] = {
		{true, false, VERDICT_BETTER, 3, VERDICT_DRIFT},
		{true, false, VERDICT_BETTER, 3.1, VERDICT_BETTER},
		{true, false, VERDICT_WORSE, -3, VERDICT_DRIFT},
		{true, false, VERDICT_WORSE, -3.1, VERDICT_WORSE},
		{true, false, VERDICT_COPIED, 2, VERDICT_DRIFT},
		{true, true, VERDICT_WORSE, 100, VERDICT_DRIFT},
		{true, true, VERDICT_SAME, 0, VERDICT_SAME},
		{true, true, VERDICT_FEW, 1, VERDICT_FEW},
		{false, true, VERDICT_WORSE, 1, VERDICT_WORSE},
	};

	each (c, rows) {
		struct verdict_rule r = rule;

		r.apart = c->apart;
		r.drifts = c->drifts;
		assert_int_equal(verdict_after_drift(&r, c->v, c->change, base, 3, new, 2),
				 c->after);
	}
}

TEST(an_interval_opposes_a_change_on_the_other_side)
{
	assert_true(verdict_opposed(&(struct estimate){.lo = 1, .hi = 2}, 1, 0.9));
	assert_false(verdict_opposed(&(struct estimate){.lo = 0.99, .hi = 2}, 1, 0.9));
	assert_false(verdict_opposed(&(struct estimate){.lo = 1, .hi = 2}, 1, 1));
	assert_false(verdict_opposed(&(struct estimate){.lo = 1.2, .hi = 2}, 1, 1.1));
	assert_true(verdict_opposed(&(struct estimate){.lo = 0.5, .hi = 1}, 1, 1.1));
	assert_false(verdict_opposed(&(struct estimate){.lo = 0.5, .hi = 1.01}, 1, 1.1));
	assert_false(verdict_opposed(&(struct estimate){.lo = 0.5, .hi = 1}, 1, 1));
	assert_false(verdict_opposed(&(struct estimate){.lo = NAN, .hi = NAN}, 1, 2));
}

struct row {
	const char *symbol;
	int samples;
	double ns, sampling;
};

/* The costs of all runs together. */
enum { POOLED = -1 };

static void take(struct diff *d, enum end e, int run, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct diff_cost cost = {rows[i].symbol,	 "[kernel]",	  rows[i].ns,
					       rows[i].sampling, rows[i].samples, 1};

		if (run == POOLED)
			diff_add_cost(d, e, &cost);
		else
			diff_add_run(d, e, (size_t)run, &cost);
	}
}

#define TAKE(d, e, run, ...)                                     \
	take((d), (e), (run), (const struct row[]){__VA_ARGS__}, \
	     sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

/* One profile each: 1000 samples, 100 ns against 80 ns; one function is gone, one is new. */
static void make_one(struct diff *d)
{
	*d = (struct diff){0};
	diff_set_runs(d, BASE, 1);
	TAKE(d, BASE, POOLED, {"copy", 600, 60, 3}, {"tcp", 390, 39, 2}, {"gone", 10, 1, 0.5});
	TAKE(d, BASE, 0, {"copy", 600, 60, 3}, {"tcp", 390, 39, 2}, {"gone", 10, 1, 0.5});
	diff_set_runs(d, NEW, 1);
	TAKE(d, NEW, POOLED, {"tcp", 500, 40, 4}, {"map", 500, 40, 1});
	TAKE(d, NEW, 0, {"tcp", 500, 40, 4}, {"map", 500, 40, 1});
}

TEST(rows)
{
	freed(diff_free) struct diff d = {0};
	double sum = 0, none;

	make_one(&d);
	diff_judge(&d, &rule);
	assert_int_equal(d.n, 4);
	assert_string_equal(d.rows[0].key, "copy"); /* vanished: the largest */
	near(d.rows[0].delta, -60);
	near(d.rows[0].cost[NEW], 0);
	/* its error: 3 of the old, and the limit of the new total for what was never sampled */
	none = stats_proportion(0, 1000, 0.95).hi;
	near(d.rows[0].delta_sampling, hypot(3, none * 80));
	near(d.rows[0].delta_ci, NAN);		   /* single runs */
	assert_string_equal(d.rows[1].key, "map"); /* appeared */
	near(d.rows[1].delta, 40);
	near(d.rows[1].delta_sampling, hypot(1, none * 100));
	near(diff_find(&d, "tcp", "[kernel]")->delta, 1);
	near(diff_find(&d, "tcp", "[kernel]")->delta_sampling, hypot(2, 4));
	for (size_t i = 0; i < d.n; i++)
		sum += d.rows[i].delta;
	assert_true(sum == d.total[NEW] - d.total[BASE] && sum == -20);
	/* "gone" costs 0.56 % of both: not tested, also not "too few" */
	assert_int_equal(diff_find(&d, "gone", NULL)->verdict, VERDICT_NONE);
	assert_int_equal(diff_find(&d, "copy", NULL)->verdict, VERDICT_FEW);
	assert_int_equal(d.tests, 3);
	assert_null(diff_find(&d, "tcp", "[veth]"));
}

/* A row is tested from 1 % of the costs of both ends on. */
TEST(a_row_is_tested_from_its_share_of_the_family_on)
{
	freed(diff_free) struct diff d = {0};

	for (int e = 0; e < ENDS; e++) {
		diff_set_runs(&d, e, 1);
		TAKE(&d, e, POOLED, {"large", 980, 98.25, 1}, {"edge", 10, 1, 1},
		     {"small", 7, 0.75, 1});
		TAKE(&d, e, 0, {"large", 980, 98.25, 1}, {"edge", 10, 1, 1}, {"small", 7, 1, 1});
	}
	assert_true(d.total[BASE] == 100 && d.total[NEW] == 100);
	diff_judge(&d, &rule);
	assert_int_equal(d.tests, 2);
	assert_int_equal(diff_find(&d, "edge", NULL)->verdict, VERDICT_FEW);
	assert_int_equal(diff_find(&d, "small", NULL)->verdict, VERDICT_NONE);
	near(diff_find(&d, "small", NULL)->p, NAN);
}

static void six_runs(struct diff *d, enum end e, double copy, double tcp, double step)
{
	diff_set_runs(d, e, 6);
	TAKE(d, e, POOLED, {"copy", 900, copy, 0.1}, {"tcp", 900, tcp, 0.1});
	for (int i = 0; i < 6; i++)
		TAKE(d, e, i, {"copy", 150, copy + (i - 2.5) * step, 1},
		     {"tcp", 150, tcp - (i - 2.5) * step, 1});
}

TEST(significant)
{
	const struct diff_row *row;
	freed(diff_free) struct diff d = {0};

	six_runs(&d, BASE, 60, 40, 0.2);
	six_runs(&d, NEW, 50, 40.1, 0.2);
	near(d.run_count[NEW][3], 2);
	diff_judge(&d, &rule);
	assert_true(d.possible);
	row = diff_find(&d, "copy", NULL);
	assert_int_equal(row->verdict, VERDICT_BETTER);
	near(row->p, 2 * 2.0 / 924); /* fully apart, twice for Holm */
	/* t.test(-5:0 / 5, -5:0 / 5): 0.2 x sqrt(3.5 / 6 x 2) x qt(0.975, 10) */
	near(row->delta_ci, 0.2 * sqrt(3.5 / 3) * stats_t_quantile(0.975, 10));
	row = diff_find(&d, "tcp", NULL);
	assert_int_equal(row->verdict, VERDICT_SAME);
	assert_true(row->p > 0.05);
}

/*
 * 3 and 3 runs have ten splits. The rows "all" and "part" are apart in the same split, "other" in
 * another one. A cheaper row does not compete with a costlier one.
 */
TEST(rows_that_vary_together_count_once)
{
	static const struct {
		const char *key;
		double runs[6], p;
	} rows[] = {
		{"all", {101, 102, 103, 104, 105, 106}, 0.1},
		{"part", {51, 52, 53, 54, 55, 56}, 0.1},
		{"other", {1, 5, 2, 4, 3, 6}, 0.4},
	};

	for (int costly = 0; costly < 2; costly++) {
		freed(diff_free) struct diff d = {.joint = true};

		diff_set_runs(&d, BASE, 3);
		diff_set_runs(&d, NEW, 3);
		each (k, rows) {
			struct diff_row *row = diff_add_row(&d, k->key, 0);

			for (int i = 0; i < 6; i++) {
				row->runs[i / 3][i % 3] = k->runs[i];
				row->cost[i / 3] +=
					k->runs[i] * (k == &rows[2] && costly ? 100 : 1);
			}
		}
		d.total[BASE] = d.total[NEW] = 500;
		diff_judge(&d, &rule);
		each (k, rows)
			near(diff_find(&d, k->key, NULL)->p,
			     k == &rows[2] ? k->p : k->p * (1 + costly));
	}
}

/* Apart by no more than the noise of arithmetic: ties, not two samples fully apart. */
TEST(ties)
{
	const struct diff_row *row;
	freed(diff_free) struct diff d = {0};

	assert_true(stats_significant(100) == stats_significant(nextafter(nextafter(100, 0), 0)));
	assert_true(stats_significant(100) != stats_significant(100.0000001));
	assert_true(stats_significant(-1.5e-300) == -1.5e-300);
	assert_true(stats_significant(0) == 0);
	assert_true(isnan(stats_significant(NAN)));
	six_runs(&d, BASE, 60, 40, 0);
	diff_set_runs(&d, NEW, 6);
	TAKE(&d, NEW, POOLED, {"copy", 900, 60, 0.1}, {"tcp", 900, 40, 0.1});
	for (int i = 0; i < 6; i++)
		TAKE(&d, NEW, i, {"copy", 150, 60 + 2e-14, 1}, {"tcp", 150, 40 - 2e-14, 1});
	diff_judge(&d, &rule);
	row = diff_find(&d, "copy", NULL);
	near(row->p, 1);
	assert_true(row->delta_ci < 1e-12);
	assert_int_equal(row->verdict, VERDICT_SAME);
}

/*
 * An outlier pulls the pooled difference over all others. The interval is as wide as that, and the
 * test of ranks alone makes no verdict.
 */
TEST(outlier)
{
	const double base[] = {60, 61, 62, 63, 64, 65}, new[] = {50, 51, 52, 53, 54, 260};
	const struct diff_row *row;
	freed(diff_free) struct diff d = {0};

	for (int e = 0; e < ENDS; e++) {
		const double *x = e == BASE ? base : new;

		diff_set_runs(&d, e, 6);
		TAKE(&d, e, POOLED, {"copy", 900, stats_mean(x, 6), 0.1});
		for (int i = 0; i < 6; i++)
			TAKE(&d, e, i, {"copy", 150, x[i], 1});
	}
	diff_judge(&d, &rule);
	row = diff_find(&d, "copy", NULL);
	assert_true(row->delta > 24 && row->delta - row->delta_ci < -11 &&
		    row->delta + row->delta_ci > 35);
	assert_int_equal(row->verdict, VERDICT_SAME);
}

/* A row that one end does not have: the other end's error, and the limit of what was not seen. */
TEST(vanished)
{
	const struct diff_row *row;
	freed(diff_free) struct diff d = {0};

	six_runs(&d, BASE, 60, 40, 0.2);
	diff_set_runs(&d, NEW, 6);
	TAKE(&d, NEW, POOLED, {"tcp", 900, 40, 0.1});
	for (int i = 0; i < 6; i++)
		TAKE(&d, NEW, i, {"tcp", 150, 40, 1});
	d.has_errors[NEW] = true;
	diff_judge(&d, &rule);
	row = diff_find(&d, "copy", NULL);
	near(row->delta, -60);
	near(row->delta_ci, hypot(0.2 * sqrt(3.5 / 6) * stats_t_quantile(0.975, 5),
				  stats_proportion(0, 900, 0.95).hi * 40));
	assert_int_equal(row->verdict, VERDICT_BETTER);
}

static double gauss(struct prng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)prng_below(r, 1 << 30) / (1 << 30);
	return sum;
}

/* Skewed, as times are: the exponential of a sum of twelve. */
static double noise(struct prng *r, double sd)
{
	return exp(sd * gauss(r));
}

enum { SIMULATED_ROWS = 8 };

static void simulate(struct diff *d, struct prng *r, size_t runs, size_t rows, double shift)
{
	char names[SIMULATED_ROWS][24];

	*d = (struct diff){0};
	for (int e = 0; e < ENDS; e++) {
		diff_set_runs(d, e, runs);
		for (size_t k = 0; k < rows; k++) {
			double cost = 10.0 * (double)(k + 1) * (e == NEW && !k ? 1 + shift : 1);

			double sum = 0, run;

			snprintf(names[k], sizeof(names[k]), "row%zu", k);
			for (size_t i = 0; i < runs; i++) {
				run = cost * noise(r, 0.05);
				sum += run / (double)runs;
				TAKE(d, e, (int)i, {names[k], 100, run, 1});
			}
			TAKE(d, e, POOLED, {names[k], 1000, sum, 0.1});
		}
	}
}

/* Splits with a row whose p is below alpha. A claim needs an interval that leaves 0 out. */
static int count_alarms(size_t runs, size_t rows, double shift, int rounds)
{
	int alarms = 0;
	struct prng r;
	struct diff d;

	prng_seed(&r, 17);
	for (int round = 0; round < rounds; round++) {
		bool any = false;

		simulate(&d, &r, runs, rows, shift);
		diff_judge(&d, &rule);
		assert_int_equal(d.tests, rows);
		for (size_t i = 0; i < d.n; i++) {
			const struct diff_row *row = &d.rows[i];

			any |= row->p < rule.alpha;
			assert_true(!verdict_is_claim(row->verdict) ||
				    fabs(row->delta) > row->delta_ci);
		}
		alarms += any;
		diff_free(&d);
	}
	return alarms;
}

/* near `rate` of so many rounds, within three standard deviations */
static void near_rate(int hits, int rounds, double rate)
{
	double sd = sqrt(rate * (1 - rate) * rounds);

	if (fabs(hits - rate * rounds) > 3 * sd)
		fail_msg("%d of %d, expected %.1f +- %.1f", hits, rounds, rate * rounds, sd);
}

TEST(false_alarms)
{
	double step = stats_mann_whitney_level(6, 6, rule.alpha / SIMULATED_ROWS);

	/* One row: the level that 6 and 6 runs can attain, 38 of 924; 10 and 10 come closer to 5 %.
	 */
	near_rate(count_alarms(6, 1, 0, 4000), 4000, 38.0 / 924);
	near_rate(count_alarms(10, 1, 0, 4000), 4000, stats_mann_whitney_level(10, 10, 0.05));
	/* Any of eight, that have nothing to do with each other: Holm's first step decides. */
	near_rate(count_alarms(6, SIMULATED_ROWS, 0, 2000), 2000,
		  1 - pow(1 - step, SIMULATED_ROWS));
	assert_true(1 - pow(1 - step, SIMULATED_ROWS) < 0.05);
	/* And a change of 40 % under noise of 5 % is not overlooked. */
	assert_int_equal(count_alarms(6, SIMULATED_ROWS, 0.4, 100), 100);
}

/* A figure of merit by itself: interval, p and verdict of 6 and 6 runs agree, and are not wrong
 * more often than 38 of 924 times. */
TEST(false_figures)
{
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0}, .estimator = EST_MEDIAN};
	double x[6], y[6];
	struct figure_runs base = {x, 6, 6, NAN, 0}, new = {y, 6, 6, NAN, 0};
	int alarms = 0, claims = 0, without = 0;
	struct change k;
	struct prng r;

	prng_seed(&r, 23);
	for (int round = 0; round < 4000; round++) {
		for (int i = 0; i < 6; i++) {
			x[i] = 10 * noise(&r, 0.1);
			y[i] = 10 * noise(&r, 0.1);
		}
		k = figure_change(&c, +1, &base, &new);
		alarms += k.p < 0.05;
		claims += k.verdict == VERDICT_BETTER || k.verdict == VERDICT_WORSE;
		without += isnan(k.ratio.lo);
		if (!isnan(k.ratio.lo))
			assert_int_equal(k.p<0.05, k.ratio.lo> 1 || k.ratio.hi < 1);
		if (k.verdict == VERDICT_BETTER)
			assert_false(k.ratio.lo < 1);
		if (k.verdict == VERDICT_WORSE)
			assert_false(k.ratio.hi > 1);
	}
	near_rate(alarms, 4000, 38.0 / 924);
	assert_true(without < 80); /* the change of the medians is outside of the interval */
	assert_true(claims <= alarms && claims > alarms / 2);
}

enum { FIGURE_SIDES = 3, FIGURE_RUNS = 10, FIGURE_ROUNDS = 1000 };

/* A heavy tail: Student's t with 2 degrees of freedom, by its quantile. */
static double tail(struct prng *r)
{
	double u = ((double)(prng_next(r) >> 11) + 0.5) / 9007199254740992.0;

	return (2 * u - 1) / sqrt(2 * u * (1 - u));
}

/* The figures of receiver, sender and total that every capture of a TCP workload has, and two that
 * are secondary. */
static const enum figure_id simulated_figures[] = {
	FIGURE_THROUGHPUT, FIGURE_CPU, FIGURE_NS_PER_KIB, FIGURE_COPY, FIGURE_IRQS, FIGURE_ROI_C};

struct simulated {
	double x[FIGURE_SIDES][FIGURES][ENDS][FIGURE_RUNS];
	struct side_figures side[FIGURE_SIDES];
};

static double simulate_noise(struct prng *r, bool heavy)
{
	return heavy ? exp(0.05 * fmax(-40, fmin(40, tail(r)))) : noise(r, 0.1);
}

/* Fills one run: the throughput is that of all sides, costs and scores follow from it. */
static void simulate_run(struct simulated *s, struct prng *r, bool heavy, int e, size_t run)
{
	double speed = 10 * simulate_noise(r, heavy), busy[FIGURE_SIDES] = {0};

	for (int i = 0; i < FIGURE_SIDES; i++) {
		bool total = i == FIGURE_SIDES - 1;

		busy[i] = total ? busy[0] + busy[1] : 80 * simulate_noise(r, heavy);
		s->x[i][FIGURE_THROUGHPUT][e][run] = speed;
		s->x[i][FIGURE_CPU][e][run] = busy[i];
		s->x[i][FIGURE_NS_PER_KIB][e][run] = busy[i] / speed;
		s->x[i][FIGURE_COPY][e][run] = simulate_noise(r, heavy);
		s->x[i][FIGURE_IRQS][e][run] = simulate_noise(r, heavy);
		s->x[i][FIGURE_ROI_C][e][run] = speed * speed / busy[i];
	}
}

static void simulate_figures(struct simulated *s, struct prng *r, bool heavy, size_t runs)
{
	static const char *const names[FIGURE_SIDES] = {"receiver", "sender", "total"};

	for (size_t run = 0; run < runs; run++)
		for (int e = 0; e < ENDS; e++)
			simulate_run(s, r, heavy, e, run);
	for (int i = 0; i < FIGURE_SIDES; i++) {
		s->side[i] = (struct side_figures){.side = names[i]};
		each (c, simulated_figures)
			for (int e = 0; e < ENDS; e++)
				s->side[i].of[*c][e] =
					(struct figure_runs){s->x[i][*c][e], runs, runs, NAN, 0};
	}
}

/* Returns how many of the comparisons have a verdict in any row, better or worse. */
static int count_comparisons(bool heavy, size_t runs, int rounds)
{
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0}, .estimator = EST_MEDIAN};
	static struct simulated s;
	struct figures f = {.side = s.side, .n = FIGURE_SIDES, .cap = FIGURE_SIDES};
	int claims = 0;
	struct prng r;

	prng_seed(&r, 31);
	for (int round = 0; round < rounds; round++) {
		freed(gate_free) struct gate gate = {0};
		struct outcome out = {.gate = &gate};
		bool any = false;

		simulate_figures(&s, &r, heavy, runs);
		figures_judge(&f, &c, &out);
		assert_int_equal(out.tests, 5); /* throughput, three costs, the total's score */
		gate_judge(&gate);
		assert_int_equal(gate.verdicts[VERDICT_FEW], runs < 5 ? 5 : 0);
		for (int i = 0; i < FIGURE_SIDES; i++)
			for (int k = 0; k < FIGURES; k++) {
				const struct change *change = &s.side[i].change[k];

				any |= verdict_is_claim(change->verdict);
				if (change->verdict != VERDICT_FEW && change->ratio.lo > 0)
					assert_int_equal(change->p<0.05, change->ratio.lo> 1 ||
							 change->ratio.hi < 1);
			}
		claims += any;
	}
	printf("# %s, %zu runs: %d of %d comparisons with a verdict\n",
	       heavy ? "heavy tails" : "skewed", runs, claims, rounds);
	return claims;
}

/* docs/method.md has the rates that this prints. */
TEST(of_1000_equal_ends_at_most_5_percent_have_any_verdict)
{
	static const size_t runs[] = {5, 6, 8, 10};

	assert_int_equal(count_comparisons(false, 4, 3), 0); /* too few for five tests */
	each (c, runs) {
		assert_in_range(count_comparisons(false, *c, FIGURE_ROUNDS), 1, 50);
		assert_in_range(count_comparisons(true, *c, FIGURE_ROUNDS), 1, 50);
	}
}

enum { DRIFT_RUNS = 6, DRIFT_ROUNDS = 600, DRIFT_SEED = 29 };

static bool drift_is_seen(const double *x)
{
	struct order_test t = stats_order_test(&x, 1, DRIFT_RUNS);

	return fmin(t.serial, t.trend) * 4 < 0.05;
}

/*
 * Compares 6 runs with the 6 runs after a gap of `gap` runs, with noise of 3 % and a correlation of
 * phi between neighbours. Counts the verdicts, without the rule for runs apart and with it.
 */
static void count_drift(double phi, int gap, double change, double *before, double *after)
{
	struct comparison c = {.rule = rule, .estimator = EST_MEDIAN};
	double x[DRIFT_RUNS], y[DRIFT_RUNS], z;
	struct figure_runs base = {x, DRIFT_RUNS, DRIFT_RUNS, NAN, 0},
			   new = {y, DRIFT_RUNS, DRIFT_RUNS, NAN, 0};
	struct prng r;

	prng_seed(&r, DRIFT_SEED);
	*before = *after = 0;
	for (int round = 0; round < DRIFT_ROUNDS; round++) {
		z = gauss(&r);
		for (int i = 0; i < 2 * DRIFT_RUNS + gap; i++) {
			if (i < DRIFT_RUNS)
				x[i] = 100 + 3 * z;
			else if (i >= DRIFT_RUNS + gap)
				y[i - DRIFT_RUNS - gap] = (1 + change) * (100 + 3 * z);
			z = phi * z + sqrt(1 - phi * phi) * gauss(&r);
		}
		c.rule.apart = c.rule.drifts = false;
		*before += verdict_is_claim(figure_change(&c, +1, &base, &new).verdict);
		c.rule.apart = true;
		c.rule.drifts = drift_is_seen(x) || drift_is_seen(y);
		*after += verdict_is_claim(figure_change(&c, +1, &base, &new).verdict);
	}
	*before *= 100.0 / DRIFT_ROUNDS;
	*after *= 100.0 / DRIFT_ROUNDS;
	printf("# phi %.2f gap %2d change %.2f: %.1f %% before, %.1f %% after\n", phi, gap, change,
	       *before, *after);
}

/* docs/method.md has the rates that this prints. */
TEST(drift_between_runs_apart_rarely_gives_a_verdict)
{
	static const double phi[] = {0, 0.5, 0.8};
	double before, after;

	each (c, phi)
		for (int gap = 0; gap <= 24; gap += gap ? 18 : 6) {
			count_drift(*c, gap, 0, &before, &after);
			if (after > 5 || (*c > 0 && before < 10))
				fail_msg("seed %d, phi %g, gap %d: %g %% before, %g %% after",
					 DRIFT_SEED, *c, gap, before, after);
		}
	count_drift(0, 0, 0.3, &before, &after);
	assert_true(before > 99 && after > 90); /* a change of ten times the noise is not missed */
	for (int gap = 0; gap <= 24; gap += gap ? 18 : 6)
		count_drift(0.95, gap, 0, &before, &after);
	for (size_t i = 2; i < 8; i++)
		count_drift(0, 0, 0.03 * (double)i, &before, &after);
}

TEST(splits)
{
	static const struct {
		size_t runs, most, n;
		bool every;
	} cases[] = {
		{6, SPLITS, 10, true}, /* choose(6, 3) / 2: run 0 is always in the first half */
		{6, 10, 10, true},     {6, 9, 9, false},
		{7, SPLITS, 35, true}, /* choose(7, 3) */
		{7, 34, 34, false},    {40, SPLITS, SPLITS, false},
		{1, SPLITS, 0, true},
	};
	freed(splits_free) struct splits s;

	each (c, cases) {
		splits_make(&s, c->runs, c->runs / 2, c->most);
		assert_int_equal(s.n, c->n);
		if (c->n)
			assert_int_equal(s.every, c->every);
		for (size_t i = 0; i < s.n; i++) {
			assert_int_equal(__builtin_popcountll(s.of[i]), c->runs / 2);
			if (s.every && c->runs == 6)
				assert_true(s.of[i] & 1);
			if (s.every && c->runs == 7)
				assert_in_range(s.of[i], 7, 7 << 4);
			for (size_t k = 0; s.every && k < i; k++)
				assert_true(s.of[k] != s.of[i]);
		}
		if (c->most == 10) {
			assert_int_equal(s.first_half, 7);
			assert_int_equal(s.alternate, 1 + 4 + 16);
		}
		splits_free(&s);
	}
	splits_make(&s, 64, 32, 2); /* one more than the bits of a split */
	assert_int_equal(s.runs, 63);
	assert_int_equal(s.base, 31);
	assert_int_equal(__builtin_popcountll(s.alternate), 32);
	splits_free(&s);
	splits_make(&s, 7, 2, SPLITS); /* halves of 2 and 5 runs: choose(7, 2) */
	assert_int_equal(s.n, 21);
	assert_int_equal(s.first_half, 3);
	splits_free(&s);
}

/*
 * The mean of NEW is more than all runs of the base and all but one of its own: no interval of the
 * test holds it, and none is printed at its edge.
 */
TEST(outlier_of_a_figure)
{
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0}, .estimator = EST_MEAN};
	double x[] = {10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7},
	       y[] = {10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 1000};
	struct figure_runs base = {x, 8, 8, NAN, 0}, new = {y, 8, 8, NAN, 0};
	struct change k = figure_change(&c, +1, &base, &new);

	near(k.new, stats_mean(y, 8));
	near(k.ratio.lo, NAN);
	near(k.ratio.hi, NAN);
	assert_int_equal(k.verdict, VERDICT_SAME);
}

/* All runs of an end are equal, so the ratio is at both ends of its interval. */
TEST(ratio_at_the_end_of_its_interval_has_it)
{
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0}, .estimator = EST_MEAN};
	double x[] = {8, 8, 8, 8, 8, 8}, y[] = {10, 10, 10, 10, 10, 10};
	struct figure_runs base = {x, 6, 6, NAN, 0}, new = {y, 6, 6, NAN, 0};
	struct change k = figure_change(&c, +1, &base, &new);

	near(k.ratio.value, 1.25);
	near(k.ratio.lo, 1.25);
	near(k.ratio.hi, 1.25);
	assert_int_equal(k.verdict, VERDICT_BETTER);
}

TEST(ends_in_two_units_are_refused)
{
	freed(diff_free) struct diff d = {0};

	assert_int_equal(diff_set_unit(&d, "KiB", &err), 0);
	assert_int_equal(diff_set_unit(&d, "KiB", &err), 0);
	assert_int_equal(diff_set_unit(&d, "packet", &err), -EINVAL);
	assert_non_null(strstr(err.text, "give --unit"));
}
