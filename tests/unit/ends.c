// SPDX-License-Identifier: GPL-2.0-only
/* Comparisons of two ends that are small enough to work out every figure by hand. */
#include "analyze/compare/diff.h"
#include "analyze/compare/gate.h"
#include "tests/unit/world.h"

/* Two variants of a store, or of two stores. */
static struct comparison comparison_of(struct store *s, struct store *new)
{
	return (struct comparison){.rule = {.alpha = 0.05, .threshold = 0.02},
				   .end = {{.store = s, .variant = "a", .label = "a"},
					   {.store = new, .variant = "b", .label = "b"}}};
}

/* Compares the call trees of receivers a and b. */
static void read_trees(struct call_diff *cd, struct store *s)
{
	struct comparison c = comparison_of(s, s);
	freed(table_free) struct table notes;

	c.side[BASE] = c.side[NEW] = "receiver";
	table_init(&notes, "flame", NULL, 0);
	assert_int_equal(call_diff_read(cd, &c, false, &notes, &err), 0);
}

/* A variant whose samples are in chain[0], chain[1] below it and so on: 1000 ns per KiB. */
static void add_variant(struct store *s, const char *name, const char *const *chain,
			const uint64_t *samples, size_t n)
{
	uint32_t at = PROFILE_NONE;
	struct world w;

	add_basis(s, name);
	start_world(&w);
	for (size_t i = 0; i < n; i++) {
		at = frame(&w, at, chain[i]);
		if (samples[i])
			add(&w, at, 1, CTX_SYSCALL, samples[i]);
	}
	store_world(s, add_run_of(s, name, "profile", 1), &w);
}

static const struct call_change *change_of(const struct call_diff *cd, const char *symbol)
{
	for (uint32_t i = 0; i < cd->tree.nframes; i++)
		if (!strcmp(cd->tree.labels[cd->tree.frames[i].label].symbol, symbol))
			return &cd->changes[IN_BOTH][i];
	fail_msg("no frame '%s'", symbol);
	return NULL;
}

/* Of 1000 ns at each end, tcp_a has 980, skb_b 960, rare 10 and rarest 9: below 1 %. */
TEST(frames_with_98_percent_of_a_caller_share_its_test)
{
	static const char *const chain[] = {"main", "tcp_a", "skb_b", "rare", "rarest"};
	static const uint64_t samples[] = {20, 20, 950, 1, 9};
	struct store *s = small_store();
	freed(call_diff_free) struct call_diff cd;

	add_variant(s, "a", chain, samples, array_size(chain));
	add_variant(s, "b", chain, samples, array_size(chain));
	read_trees(&cd, s);
	assert_float_equal(change_of(&cd, "main")->cost[BASE], 1000, 0);
	assert_float_equal(change_of(&cd, "tcp_a")->cost[NEW], 980, 0);
	assert_float_equal(change_of(&cd, "rarest")->cost[NEW], 9, 0);
	assert_ptr_equal(change_of(&cd, "prog")->row, change_of(&cd, "main")->row);
	assert_ptr_equal(change_of(&cd, "tcp_a")->row, change_of(&cd, "main")->row);
	assert_non_null(change_of(&cd, "main")->row);
	assert_int_equal(cd.d.tests, 3);
	assert_null(change_of(&cd, "rarest")->row);
}

/* tcp_a has 98.25 % of both runs, but 97.5 % of the second one. */
TEST(a_frame_with_less_than_98_percent_in_a_run_has_its_own_test)
{
	static const char *const chain[] = {"main", "tcp_a"};
	struct store *s = small_store();
	freed(call_diff_free) struct call_diff cd;

	add_variant(s, "a", chain, (const uint64_t[]){10, 990}, array_size(chain));
	add_variant(s, "b", chain, (const uint64_t[]){25, 975}, array_size(chain));
	read_trees(&cd, s);
	assert_ptr_equal(change_of(&cd, "prog")->row, change_of(&cd, "main")->row);
	assert_true(change_of(&cd, "tcp_a")->row != change_of(&cd, "main")->row);
}

/* A stack with the weight 1 has samples: it is half of two, with the error of that share. */
TEST(stack_with_the_least_weight_has_samples)
{
	const double error = stats_normal_quantile(0.975) * sqrt(0.5 * 0.5 / 2) * 1000;
	struct store *s = small_store();
	freed(call_diff_free) struct call_diff cd;

	for (int v = 0; v < 2; v++) {
		struct profile_cost cost = {
			.cpu = 1, .context = CTX_SYSCALL, .samples = 1, .weight = 1};
		struct world w;

		add_basis(s, v ? "b" : "a");
		start_world(&w);
		cost.event = w.event;
		cost.frame = frame(&w, PROFILE_NONE, "main");
		cost.comm = intern_str(&w.p.strings, "one");
		profile_add(&w.p, &cost);
		cost.comm = intern_str(&w.p.strings, "two");
		profile_add(&w.p, &cost);
		w.p.events[w.event].samples = w.p.events[w.event].weight = 2;
		w.p.events[w.event].weight2 = 2;
		store_world(s, add_run_of(s, v ? "b" : "a", "profile", 1), &w);
	}
	read_trees(&cd, s);
	assert_non_null(change_of(&cd, "one")->row);
	assert_float_equal(change_of(&cd, "one")->row->delta_sampling, hypot(error, error), 1e-3);
}

static const struct call_change *change_in(const struct call_diff *cd, enum call_region of,
					   const char *symbol)
{
	return cd->changes[of] + (change_of(cd, symbol) - cd->changes[IN_BOTH]);
}

/*
 * Each of 20 and 19 runs has 100 samples, 1000 ns in all. A stack that none of 1900 samples is in
 * may cost up to 1.94 ns. A stack in 18 of 20 runs is in nearly all, one in 17 of 19 is not.
 */
TEST(stacks_of_one_end_alone_are_a_region)
{
	static const struct {
		const char *symbol;
		int variant, runs;
		uint64_t samples;
		enum call_region region;
	} stacks[] = {
		{"old", 0, 20, 20, VANISHED},	   {"eighteen", 0, 18, 10, VANISHED},
		{"seventeen", 0, 17, 10, IN_BOTH}, {"of19", 1, 17, 10, IN_BOTH},
		{"fresh", 1, 19, 30, APPEARED},	   {"rare", 1, 3, 1, IN_BOTH},
	};
	struct store *s = small_store();
	freed(call_diff_free) struct call_diff cd;

	for (int v = 0; v < 2; v++) {
		add_basis(s, v ? "b" : "a");
		for (int r = 0; r < (v ? 19 : 20); r++) {
			uint64_t rest = 100;
			struct world w;
			uint32_t root;

			start_world(&w);
			root = frame(&w, PROFILE_NONE, "main");
			each (row, stacks) {
				if (row->variant != v || r >= row->runs)
					continue;
				add(&w, frame(&w, frame(&w, root, row->symbol), "leaf"), 1,
				    CTX_SYSCALL, row->samples);
				rest -= row->samples;
			}
			add(&w, root, 1, CTX_SYSCALL, rest);
			store_world(s, add_run_of(s, v ? "b" : "a", "profile", r + 1), &w);
		}
	}
	read_trees(&cd, s);
	each (at, stacks) {
		double cost = (double)(at->samples * (uint64_t)at->runs) / (at->variant ? 1.9 : 2);

		for (int of = 0; of < REGIONS; of++)
			assert_float_equal(
				change_in(&cd, (enum call_region)of, at->symbol)->cost[at->variant],
				of == (int)at->region ? cost : 0, 1e-9);
	}
	assert_float_equal(cd.regions[VANISHED].cost[BASE], 290, 1e-9);
	assert_float_equal(cd.regions[VANISHED].cost[NEW], 0, 0);
	assert_float_equal(cd.regions[APPEARED].cost[NEW], 300, 1e-9);
	assert_float_equal(cd.regions[IN_BOTH].cost[BASE], 710, 1e-9);
	assert_float_equal(cd.regions[IN_BOTH].cost[NEW], 700, 1e-9);
	assert_float_equal(change_in(&cd, VANISHED, "main")->cost[BASE], 290, 1e-9);
	assert_float_equal(cd.d.total[BASE], 1000, 1e-9);
}

/* Adds runs of a variant with these positions and figures, 0 for none. Ends at position 0. */
static void add_runs(struct store *s, const char *variant, const int *positions, const double *rate,
		     const double *busy)
{
	for (int i = 0; positions[i]; i++) {
		int64_t run = small_store_run(s, (struct run){.variant = variant,
							      .repeat = i + 1,
							      .position = positions[i]});

		small_store_metric(s, run, "rate_kib", rate[i]);
		if (busy[i] > 0)
			small_store_metric(s, run, "cpu_pct", busy[i]);
	}
}

static struct str drift_of(struct store *s, struct store *new, struct comparison *c)
{
	struct str lines = {0};

	*c = comparison_of(s, new);
	assert_int_equal(compare_drift(c, &lines, NULL), 0);
	return lines;
}

/* Runs take turns where the variant changes more often than half of the runs of an end. */
TEST(runs_with_few_changes_of_the_variant_do_not_take_turns)
{
	static const struct {
		int base[6], new[6];
		bool apart;
	} cases[] = {
		{{1, 2, 3}, {4, 5, 6}, true},
		{{4, 5, 6}, {1, 2, 3}, true},
		{{1, 3, 5}, {2, 4, 6}, false},
		{{1, 2, 7, 8}, {3, 4, 5, 6}, true},
		{{1, 2, 7}, {3, 4, 5, 6}, false},
		{{3, 4, 5, 6}, {1, 2, 7}, false},
		{{1}, {2}, false},
		{{1, 2}, {3, 4}, true},
	};
	static const double same[] = {1, 1, 1, 1, 1, 1};

	each (r, cases) {
		struct store *s = small_store_named("one");
		struct comparison c;
		freed(str_free) struct str lines;

		add_runs(s, "a", r->base, same, same);
		add_runs(s, "b", r->new, same, same);
		lines = drift_of(s, s, &c);
		assert_int_equal(c.rule.apart, r->apart);
		assert_int_equal(lines.len > 0, r->apart);
		assert_false(c.rule.drifts);
		if (r->apart)
			assert_non_null(strstr(lines.buf, "drift within base: not tested, "));
	}
}

/*
 * Rates of 2, 1, 3, 4, 5, 6: 6 of 720 orders have neighbours as much alike, 12 such a trend. Four
 * tests at 5 % take less than 1.25 %. In 2 of 120 orders five values rise or fall.
 */
TEST(drift_is_seen_in_the_rate_or_in_the_cost)
{
	static const int first[] = {1, 2, 3, 4, 5, 6, 0}, last[] = {7, 8, 9, 10, 11, 0};
	static const double rising[] = {2, 1, 3, 4, 5, 6}, even[] = {1, 1, 1, 1, 1, 1},
			    five[] = {1, 2, 3, 4, 5}, gap[] = {2, 1, 0, 4, 5, 6};
	static const struct {
		const double *rate, *busy;
		bool drifts;
		const char *base;
	} cases[] = {
		{rising, rising, true,
		 "base: YES (p: trend 0.017, autocorrelation 0.0083; 6 runs); new"},
		{even, rising, true,
		 "base: YES (p: trend 0.017, autocorrelation 0.0083; 6 runs); new"},
		{even, even, false, "base: not tested, 6 runs; new"},
		{even, gap, false, "base: not tested, 6 runs; new"},
	};

	each (r, cases) {
		struct store *s = small_store_named("one");
		struct comparison c;
		freed(str_free) struct str lines;

		add_runs(s, "a", first, r->rate, r->busy);
		add_runs(s, "b", last, five, five);
		lines = drift_of(s, s, &c);
		assert_true(c.rule.apart);
		assert_int_equal(c.rule.drifts, r->drifts);
		if (!strstr(lines.buf, r->base))
			fail_msg("'%s' does not say '%s'", lines.buf, r->base);
		assert_non_null(strstr(
			lines.buf,
			"; new: not seen (p: trend 0.017, autocorrelation 0.017; 5 runs)\n"));
	}
}

TEST(runs_of_two_captures_never_take_turns)
{
	static const int odd[] = {1, 3, 5, 0}, even[] = {2, 4, 6, 0};
	static const double same[] = {1, 1, 1};
	struct store *base = small_store_named("one"), *new = small_store_named("two");
	struct comparison c;
	freed(str_free) struct str lines;

	store_capture_put(base, "created", "monday", NULL);
	store_capture_put(new, "created", "friday", NULL);
	add_runs(base, "a", odd, same, same);
	add_runs(new, "b", even, same, same);
	lines = drift_of(base, new, &c);
	assert_true(c.rule.apart);
	assert_non_null(strstr(lines.buf, "lie apart in time (monday and friday), and a drift"));
	str_free(&lines);
	store_capture_put(new, "created", "monday", NULL);
	lines = drift_of(base, new, &c);
	assert_non_null(strstr(lines.buf, "lie apart in time, and a drift"));
}

#define UNTESTED ": too small a part to be tested", "not known"

static const struct {
	double base, delta, ci, sampling, p;
	enum verdict verdict;
	const char *words, *real;
} movements[] = {
	{600, -100, 1.86, 1, 0.0061, VERDICT_BETTER,
	 "-100.0 ns/KiB (600.0 to 500.0), +-1.9, p = 0.0061: real, better", "yes"},
	{1, 0.5, 0.02, 1, 0.01, VERDICT_WORSE,
	 "+0.50 ns/KiB (1.00 to 1.50), +-0.02, p = 0.01: real, worse", "yes"},
	{10, -2, 0.5, 1, 0.01, VERDICT_COPIED,
	 "-2.0 ns/KiB (10.0 to 8.0), +-0.5, p = 0.01: real, but it copied: no speed-up is claimed",
	 "yes"},
	{10, 1, 0.1, 1, 0.049, VERDICT_SAME,
	 "+1.0 ns/KiB (10.0 to 11.0), +-0.1, p = 0.049: real, but no more than 2 % of it", "yes"},
	{10, 0.5, 0.5, 1, 0.01, VERDICT_SAME,
	 "+0.50 ns/KiB (10.00 to 10.50), +-0.50, p = 0.01: an outlier among the runs may explain it",
	 "no"},
	{10, 2, 0.5, 1, 0.05, VERDICT_SAME,
	 "+2.0 ns/KiB (10.0 to 12.0), +-0.5, p = 0.05: not distinguishable from chance (p is corrected for all tested rows, +- is not)",
	 "no"},
	{10, 2, 2.5, 1, 0.05, VERDICT_SAME,
	 "+2.0 ns/KiB (10.0 to 12.0), +-2.5, p = 0.05: not distinguishable from chance", "no"},
	{10, 2, 0.5, 1, 0.01, VERDICT_DRIFT,
	 "+2.0 ns/KiB (10.0 to 12.0), +-0.5, p = 0.01: no more than a drift between runs that did not take turns",
	 "not known"},
	{10, 2, NAN, NAN, 0.01, VERDICT_FEW, "+2.0 ns/KiB (10.0 to 12.0): too few runs to tell",
	 "not known"},
	{10, 2, NAN, 1.5, 0.01, VERDICT_FEW,
	 "+2.0 ns/KiB (10.0 to 12.0), sampling error 1.5: beyond its error, but too few runs to tell",
	 "not known"},
	{10, -2, 2, 1.5, 0.01, VERDICT_FEW,
	 "-2.0 ns/KiB (10.0 to 8.0), +-2.0: within its error, and too few runs to tell",
	 "not known"},
	{10, 2, 0.5, 1, NAN, VERDICT_NONE, "+2.0 ns/KiB (10.0 to 12.0), +-0.5" UNTESTED},
	/* no more than five digits of the cost, and six behind the point */
	{1000, -0.5, 0.01, 1, NAN, VERDICT_NONE, "-0.5 ns/KiB (1000.0 to 999.5), +-0.0" UNTESTED},
	{999, 0.5, 0.01, 1, NAN, VERDICT_NONE, "+0.50 ns/KiB (999.00 to 999.50), +-0.01" UNTESTED},
	{10, 0.095, 0.02, 1, NAN, VERDICT_NONE,
	 "+0.095 ns/KiB (10.000 to 10.095), +-0.020" UNTESTED},
	{10, 0.105, 0.02, 1, NAN, VERDICT_NONE, "+0.10 ns/KiB (10.00 to 10.11), +-0.02" UNTESTED},
	{0.001, -1e-8, NAN, NAN, NAN, VERDICT_NONE,
	 "-0.000000 ns/KiB (0.001000 to 0.001000)" UNTESTED},
	/* a movement and an error of 1e-10 of the cost are noise */
	{100, 1e-8, 1e-8, 1, NAN, VERDICT_NONE, "+0.0 ns/KiB (100.0 to 100.0), +-0.0" UNTESTED},
	{100, 1e-8, 0.01, 1, NAN, VERDICT_NONE, "+0.00 ns/KiB (100.00 to 100.00), +-0.01" UNTESTED},
};

TEST(words_of_a_movement_say_what_its_error_and_its_test_tell)
{
	each (c, movements) {
		struct diff_row row = {.key = "copy",
				       .key2 = "[kernel]",
				       .cost = {c->base, c->base + c->delta},
				       .delta = c->delta,
				       .delta_ci = c->ci,
				       .delta_sampling = c->sampling,
				       .p = c->p,
				       .verdict = c->verdict};
		struct diff d = {.rows = &row, .n = 1, .possible = true};
		struct movements m = {0};
		freed(table_free) struct table t;

		table_init(&t, "metrics", NULL, 0);
		movements_add(&m, "", &d, "KiB");
		movements_add_notes(
			&m, &(struct comparison){.rule = {.alpha = 0.05, .threshold = 0.02}}, &t,
			"component");
		assert_int_equal(t.detail->rows, 1);
		assert_true(str_starts(table_text(t.detail, 0, "words"), "copy "));
		assert_string_equal(table_text(t.detail, 0, "words") + strlen("copy "), c->words);
		assert_string_equal(table_text(t.detail, 0, "real"), c->real);
		assert_string_equal(table_text(t.detail, 0, "unit"), "ns/KiB");
		assert_string_equal(table_text(t.detail, 0, "verdict"),
				    c->verdict ? verdict_name(c->verdict) : "");
		assert_int_equal(isnan(table_real(t.detail, 0, "p")), !strstr(c->words, "p = "));
		free(m.list);
	}
}

/* Adds the notes of `n` rows with these movements, each with an error of 1 unless `error` says. */
static struct table table_of_movements(const double *deltas, size_t n, double error,
				       enum verdict verdict, const size_t runs[ENDS], size_t tests)
{
	static const char *const dsos[] = {"", "b", "c", "d", "e", "f", "g"};
	struct diff_row rows[7] = {0};
	struct diff d = {.rows = rows, .n = n, .nruns = {runs[BASE], runs[NEW]}, .tests = tests};
	struct movements m = {0};
	struct table t;

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct diff_row){.key = i < 3 ? "same" : "[one]",
					    .key2 = dsos[i],
					    .cost = {10, 10 + deltas[i]},
					    .delta = deltas[i],
					    .delta_ci = error,
					    .delta_sampling = error,
					    .p = 0.5,
					    .verdict = verdict};
	table_init(&t, "metrics", NULL, 0);
	movements_add(&m, "sender", &d, "KiB");
	movements_add_notes(&m, &(struct comparison){.rule = {.alpha = 0.05, .threshold = 0.02}},
			    &t, "component");
	free(m.list);
	return small_store_keep(t);
}

TEST(five_largest_movements_are_notes)
{
	static const double deltas[] = {1.5, -3, 0, 6, -5, 4, -4}, most[] = {6, -5, 4, -4, -3},
			    two[] = {5, 3};
	static const size_t runs[ENDS] = {2, 2}, single[ENDS] = {1, 2}, alone[ENDS] = {2, 1};
	struct table t = table_of_movements(deltas, 7, 1, VERDICT_FEW, runs, 4);

	assert_int_equal(t.detail->rows, 5);
	for (size_t i = 0; i < 5; i++)
		assert_float_equal(table_real(t.detail, i, "delta_ns"), most[i],
				   0); /* the first one among equals */
	assert_string_equal(table_text(t.detail, 0, "side"), "sender");
	/* The DSO tells names apart, and says whose a name in brackets is. */
	small_store_says(&t, "sender [one] of d +6.0 ns/KiB");
	small_store_says(&t, "sender same of b -3.0 ns/KiB");
	assert_int_equal(t.notes.n, 5);
	t = table_of_movements(deltas, 3, 1, VERDICT_FEW, runs, 4);
	assert_int_equal(t.detail->rows, 2); /* the third row did not move */
	small_store_says(&t, "sender same +1.5 ns/KiB");
	t = table_of_movements(deltas, 1, 1, VERDICT_FEW, runs, 4);
	small_store_says(&t, "sender same +1.5 ns/KiB");
	assert_int_equal(t.notes.n, 1);
	t = table_of_movements(two, 2, 1, VERDICT_FEW, runs, 4);
	small_store_says(&t, "sender same of b +3.0 ns/KiB");
	/* Nothing is beyond its error: more runs could tell, unless a side has a single run. */
	t = table_of_movements(deltas, 1, 1.5, VERDICT_FEW, runs, 4);
	small_store_says(&t, "sender same +1.5 ns/KiB");
	small_store_says(&t, "too few runs to test 4 components at once (that takes 5 a side)");
	assert_int_equal(t.notes.n, 2);
	t = table_of_movements(deltas, 1, 1.5, VERDICT_FEW, single, 4);
	small_store_says(
		&t,
		"no component passed the test: p < 0.05 after Holm's correction, a change above 2 %");
	assert_int_equal(t.notes.n, 1);
	t = table_of_movements(deltas, 1, 1.5, VERDICT_FEW, alone, 4);
	small_store_says(&t, "no component passed the test");
	t = table_of_movements(deltas, 1, NAN, VERDICT_FEW, single, 4);
	small_store_says(&t, "sender same +1.5 ns/KiB");
	small_store_says(
		&t,
		"one run or two on a side give no error, so any change of a component may be chance");
	assert_int_equal(t.notes.n, 2);
	t = table_of_movements(deltas + 2, 1, NAN, VERDICT_FEW, single, 4); /* no row moved */
	small_store_says(&t, "no component passed the test");
	t = table_of_movements(deltas, 7, 1, VERDICT_SAME, single, 4);
	small_store_says(&t, "no component passed the test");
	assert_int_equal(t.detail->rows, 5);
	t = table_of_movements(deltas, 0, 1, VERDICT_SAME, single, 4);
	assert_int_equal(t.notes.n, 0);
}

/* Five repeats of both sides, each with 1 % more CPU time than the one before. `part`: of the work.
 */
static void add_sides(struct store *s, const char *variant, double scale, double part)
{
	static const char *const sides[] = {"receiver", "sender"}, *const hosts[] = {"h", "g"};

	for (int r = 1; r <= 5; r++)
		for (int i = 0; i < 2; i++) {
			int64_t run =
				small_store_with(s,
						 (struct run){.variant = variant,
							      .side = sides[i],
							      .host = hosts[i],
							      .repeat = r,
							      .position = 2 * r + (scale < 1)},
						 "seconds = 2, throughput = 8, "
						 "rate_kib = 1000, rate_packets = 100");
			small_store_metric(s, run, "cpu_pct",
					   (i ? 30 : 50) * scale * (1 + 0.01 * r));
			small_store_metric(s, run, "counter:context-switches",
					   20 * scale + 0.01 * r);
			small_store_metrics(s, run,
					    "irq:total = 0, snmp:TcpRetransSegs = 4, "
					    "tcp_socket_retransmits = 0");
			if (part > 0) {
				small_store_metric(s, run, "transfer_sides", 3);
				small_store_metric(s, run, "transfer:throughput", 16);
				small_store_metric(s, run, "transfer:rate_packets", 200);
				small_store_metric(s, run, "transfer_part", part);
			}
		}
}

static size_t metric_row(const struct table *t, const char *side, const char *metric)
{
	for (size_t i = 0; i < t->rows; i++)
		if (!strcmp(table_text(t, i, "side"), side) &&
		    !strcmp(table_text(t, i, "metric"), metric))
			return i;
	fail_msg("no %s of the %s", metric, side);
	return 0;
}

static void check_metric(const struct table *t, const char *side, const char *metric, double base,
			 double new, const char *verdict)
{
	size_t i = metric_row(t, side, metric);

	if (fabs(table_real(t, i, "base") - base) > 1e-9 * base ||
	    fabs(table_real(t, i, "new") - new) > 1e-9 * new)
		fail_msg("%s %s: %.12g, %.12g", side, metric, table_real(t, i, "base"),
			 table_real(t, i, "new"));
	assert_string_equal(table_text(t, i, "verdict"), verdict);
	assert_float_equal(table_real(t, i, "change_pct"), 100 * (new / base - 1), 1e-9);
	row_is(t, i, "base_runs = 5, new_runs = 5");
}

static struct table metrics_of(struct comparison *c, struct store *s, const char *base,
			       const char *new, struct outcome *out)
{
	struct error err = {0};
	struct table t;

	c->rule = (struct verdict_rule){.alpha = 0.05, .threshold = 0.02};
	c->end[BASE] = (struct compare_end){.store = s, .variant = base, .label = (char *)base};
	c->end[NEW] = (struct compare_end){.store = s, .variant = new, .label = (char *)new};
	compare_table_init(&comparison_metrics, &t);
	*out = (struct outcome){.gate = out->gate};
	if (comparison_metrics.run(c, &t, out, &err))
		fail_msg("%s", err.text);
	return small_store_keep(t);
}

/* Repeat 3 has 1.03 x the CPU time. b needs half of what a needs. */
TEST(metrics_compare_each_side_and_the_total)
{
	const double roi = 64 / 51.5;
	struct store *s = small_store_named("one");
	struct comparison c = {.limit = 0};
	freed(gate_free) struct gate better = {0}, worse = {0};
	struct outcome out = {.gate = &better};
	struct table t;
	size_t i;

	add_sides(s, "a", 1, 0);
	add_sides(s, "b", 0.5, 0);
	t = metrics_of(&c, s, "a", "b", &out);
	check_metric(&t, "receiver", "ns_per_kib", 515000, 257500, "better");
	check_metric(&t, "sender", "ns_per_kib", 309000, 154500, "better");
	check_metric(&t, "total", "ns_per_kib", 824000, 412000, "better");
	check_metric(&t, "receiver", "throughput", 8, 8, "~");
	check_metric(&t, "receiver", "cpu", 51.5, 25.75, "");
	check_metric(&t, "receiver", "roi_c", roi, 2 * roi, "");
	check_metric(&t, "sender", "context_switches_per_mib", 20.03 * 0.512, 10.03 * 0.512, "");
	check_metric(&t, "sender", "retransmits_per_mib", 2.048, 2.048, "");
	i = metric_row(&t, "receiver", "ns_per_kib");
	row_is(&t, i, "p = 0.0396825396825, better = less, scope = cpus");
	assert_true(table_interval(&t, i, "change_pct").low < -50);
	i = metric_row(&t, "sender", "roi_c");
	row_is(&t, i, "better = more, unit = T^2/C");
	i = metric_row(&t, "receiver",
		       "workload_retransmits_per_mib"); /* 0, as no other socket's */
	row_is(&t, i, "new = 0, change_pct = -");
	assert_int_equal(t.rows, 18); /* no interrupts, drops, packets and power */
	gate_judge(&better);
	assert_int_equal(better.failed, 0);
	out.gate = &worse;
	c.query.roi_n = 1;
	t = metrics_of(&c, s, "b", "a", &out);
	check_metric(&t, "total", "ns_per_kib", 412000, 824000, "worse");
	assert_string_equal(table_text(&t, metric_row(&t, "sender", "roi_c"), "unit"), "T/C");
	out.gate = NULL;
	gate_judge(&worse);
	assert_int_equal(worse.failed, 4);
	assert_int_equal(worse.checked, 5);
	c.query.roi_n = 0;
	c.query.unit = "packet";
	t = metrics_of(&c, s, "a", "b", &out);
	check_metric(&t, "total", "ns_per_packet", 8240000, 4120000, "better");
	check_metric(&t, "total", "rate_packets", 100, 100, "~");
	c = (struct comparison){.side = {"sender", "sender"}};
	t = metrics_of(&c, s, "a", "b", &out);
	check_metric(&t, "sender", "ns_per_kib", 309000, 154500, "better");
	for (i = 0; i < t.rows; i++)
		assert_string_equal(table_text(&t, i, "side"), "sender");
	c = (struct comparison){.total = true};
	t = metrics_of(&c, s, "a", "b", &out);
	check_metric(&t, "total", "throughput", 8, 8, "~");
	for (i = 0; i < t.rows; i++)
		assert_string_equal(table_text(&t, i, "side"), "total");
}

TEST(total_weighs_each_side_with_its_part_of_the_work)
{
	struct store *s = small_store_named("one");
	struct comparison c = {.query = {.unit = "packet"}};
	struct outcome out = {0};
	struct table t;

	add_sides(s, "a", 1, 0.5);
	add_sides(s, "b", 0.5, 0.5);
	t = metrics_of(&c, s, "a", "b", &out);
	check_metric(&t, "receiver", "ns_per_kib", 515000, 257500, "");
	check_metric(&t, "total", "ns_per_kib", 412000, 206000, "");
	check_metric(&t, "total", "ns_per_packet", 4120000, 2060000, "better");
	check_metric(&t, "total", "rate_packets", 200, 200, "");
	check_metric(&t, "total", "throughput", 16, 16, "");
}

static void add_fact(struct store *s, const char *host, const char *variant, const char *name,
		     const char *value)
{
	assert_int_equal(store_fact_add(s,
					&(struct fact_row){.host = host,
							   .variant = variant,
							   .name = name,
							   .value = value},
					NULL),
			 0);
}

/* Variant a ran on host h, b on host g. */
static struct store *store_of_settings(void)
{
	static const char *const sides[] = {"receiver", "sender"};
	struct store *s = small_store_named("one");

	for (int i = 0; i < 2; i++) {
		const char *variant = i ? "b" : "a", *host = i ? "g" : "h";

		store_variant_add(s, variant, NULL, NULL, NULL);
		store_setting_add(s, variant, "mtu", i ? "9000" : "1500", NULL);
		for (int r = 0; r < 2; r++) {
			int64_t run = small_store_run(s, (struct run){.variant = variant,
								      .host = host,
								      .side = sides[r],
								      .cpus = r	  ? "2"
									      : i ? "1,3"
										  : "1",
								      .position = i + 1});

			small_store_metric(s, run, "nic:host/eth0/driver=veth", 1);
			small_store_metric(s, run, "nic_state:host/eth0/speed_mbps",
					   i ? 1e5 : 25e3);
			small_store_metric(s, run, i ? "tool:perf=6.2" : "tool:perf=6.1", 1);
		}
		add_fact(s, host, NULL, "release", i ? "6.2" : "6.1");
		add_fact(s, host, NULL, "cpu_model", "same");
		add_fact(s, host, NULL, "sysctl:net.core.rmem", i ? "2" : "1");
		add_fact(s, host, NULL, i ? "CONFIG_B" : "CONFIG_A", "y");
		add_fact(s, NULL, variant, "command",
			 i ? "tcpzc --rx mmap --size 4k" : "tcpzc --rx read --size 4k");
		add_fact(s, NULL, variant, "receiver.cpus", i ? "1,3" : "1");
		add_fact(s, NULL, variant, "sender.args", i ? "" : "x");
		add_fact(s, NULL, variant, "setting.mtu", i ? "9000" : "1500");
		add_fact(s, NULL, variant, "var:flows", i ? "2" : "1");
		add_fact(s, NULL, variant, "duration", i ? "5" : "4");
		add_fact(s, NULL, variant, "units", "same");
	}
	return s;
}

TEST(settings_that_differ_are_listed_once)
{
	static const char *const lines[] = {
		"setting: command: ... --rx read --size 4k -> ... --rx mmap --size 4k",
		"setting: duration: 4 -> 5",
		"setting: var:flows: 1 -> 2",
		"setting: set:mtu: 1500 -> 9000",
		"setting: receiver cpus: 1 -> 1,3",
		"setting: sender args: x -> (empty)",
		"setting: kernel: 6.1 -> 6.2",
		"setting: receiver side_cpus: 1 -> 1,3",
		"setting: nic:host/eth0/speed_mbps: 25000 -> 100000",
		"setting: sysctl:net.core.rmem: 1 -> 2",
		"setting: CONFIG_A: y -> (none)",
		"setting: CONFIG_B: (none) -> y",
		"setting: tool:perf: 6.1 -> 6.2",
	};
	struct store *s = store_of_settings();
	struct comparison c = comparison_of(s, s);
	freed(str_free) struct str expected = {0}, text = {0};
	struct outcome out = {0};
	freed(table_free) struct table t;

	each (l, lines)
		str_printf(&expected, "%s\n", *l);
	assert_int_equal(compare_settings(&c, array_size(lines), &text, &err), 0);
	assert_string_equal(text.buf, expected.buf);
	str_reset(&text);
	str_reset(&expected);
	str_printf(&expected, "%s\n%s\n11 more in --table settings\n", lines[0], lines[1]);
	assert_int_equal(compare_settings(&c, 2, &text, &err), 0);
	assert_string_equal(text.buf, expected.buf);
	compare_table_init(compare_table_find("settings"), &t);
	assert_int_equal(compare_table_find("settings")->run(&c, &t, &out, &err), 0);
	assert_int_equal(t.rows, array_size(lines));
	row_is(&t, 1, "name = duration, new = 5");
	table_free(&t);
	c.side[BASE] = c.side[NEW] = "sender"; /* all settings are those of the side */
	str_reset(&text);
	assert_int_equal(compare_settings(&c, 1, &text, &err), 0);
	assert_non_null(strstr(text.buf, "setting: sender command: ... --rx read"));
	assert_non_null(strstr(text.buf, "10 more"));
	c.side[BASE] = c.side[NEW] = NULL;
	c.end[NEW] = c.end[BASE];
	compare_table_init(compare_table_find("settings"), &t);
	assert_int_equal(compare_table_find("settings")->run(&c, &t, &out, &err), 0);
	assert_int_equal(t.rows, 0);
	assert_non_null(strstr(t.title, "no setting differs"));
}

TEST(conditions_name_cpus_and_the_busiest_card)
{
	static const struct {
		const char *name;
		double of_a, of_b;
	} metrics[] = {
		{"seconds", 2, 4},
		{"nic:host/eth0/link/rx_bytes", 5, 5},
		{"nic:host/eth0/link/tx_bytes", 1, 1},
		{"nic:host/eth1/link/rx_bytes", 3, 4},
		{"nic:host/eth1/link/tx_bytes", 3, 3},
		{"nic:host/eth1/link/rx_packets", 99, 99},
		{"nic:host/eth0/driver=mlx5_core", 1, 1},
		{"nic:host/eth1/driver=veth", 1, 1},
		{"nic_state:host/eth0/speed_mbps", 500, 500},
		{"nic_state:host/eth1/speed_mbps", 500, 500},
		{"nic_state:host/eth0/mtu", 1, 1},
	};
	struct store *s = small_store_named("one");
	struct comparison c = comparison_of(s, s);
	freed(str_free) struct str text = {0};

	for (int v = 0; v < 2; v++) {
		int64_t run = small_store_run(
			s, (struct run){.variant = v ? "b" : "a",
					.command = v ? "/usr/bin/tcpzc --rx" : "/bin/iperf3",
					.position = v + 1});

		each (r, metrics)
			small_store_metric(s, run, r->name, v ? r->of_b : r->of_a);
	}
	c.table = &comparison_metrics;
	assert_int_equal(compare_conditions(&c, NULL, &text, &err), 0);
	assert_string_equal(
		text.buf,
		"zero copy: no evidence\n"
		"Linux (unknown) on host h; workload: iperf3 -> tcpzc; CPUs: 1; "
		"NIC: eth0 (mlx5_core), 0.5 Gbit/s, MTU 1 -> eth1 (veth)\n"
		"n: 1 run of 2 s and 1 run of 4 s, in turns; p: exact Mann-Whitney, two-sided\n");
}

static void add_shares(struct store *s, const char *variant, const uint64_t samples[4])
{
	static const char *const functions[] = {"tcp_a", "skb_b", "udp_c", "main"};
	struct world w;

	add_basis(s, variant);
	start_world(&w);
	for (size_t i = 0; i < array_size(functions); i++)
		if (samples[i])
			add(&w, frame(&w, PROFILE_NONE, functions[i]), 1, CTX_SYSCALL, samples[i]);
	store_world(s, add_run_of(s, variant, "profile", 1), &w);
}

static struct table list_of(struct store *s, const char *name, long limit, struct outcome *out)
{
	const struct compare_table *table = compare_table_find(name);
	struct comparison c = comparison_of(s, s);
	struct table t;

	c.table = table;
	c.limit = limit;
	c.side[BASE] = c.side[NEW] = "receiver";
	c.by = "functions";
	compare_table_init(table, &t);
	if (table->run(&c, &t, out, &err))
		fail_msg("%s", err.text);
	return small_store_keep(t);
}

/* Of 1000 ns at each end: tcp_a 400 to 300, skb_b 300 to none, udp_c none to 450, main 300 to 250.
 */
static struct store *store_of_shares(void)
{
	static const uint64_t of_a[] = {400, 300, 0, 300}, of_b[] = {300, 0, 450, 250};
	struct store *s = small_store_named("one");

	add_shares(s, "a", of_a);
	add_shares(s, "b", of_b);
	return s;
}

static void check_costs(const struct table *t, size_t row, double base, double new, double delta)
{
	assert_float_equal(table_real(t, row, "base_ns"), base, 1e-9);
	assert_float_equal(table_real(t, row, "new_ns"), new, 1e-9);
	assert_float_equal(table_real(t, row, "delta_ns"), delta, 1e-9);
}

TEST(rows_beyond_the_limit_are_added_up)
{
	struct store *s = store_of_shares();
	freed(gate_free) struct gate gate = {0};
	struct outcome out = {.gate = &gate};
	struct table t = list_of(s, "functions", 0, &out);

	cells_are(&t, "symbol = udp_c skb_b tcp_a main, state = new vanished - -");
	check_costs(&t, 0, 0, 450, 450);
	check_costs(&t, 3, 300, 250, -50);
	assert_string_equal(t.title, "functions of the receiver, ns per KiB: b against a");
	assert_string_equal(out.unit, "KiB");
	assert_string_equal(out.side, "receiver");
	out.gate = NULL;
	gate_judge(&gate);
	assert_int_equal(gate.verdicts[VERDICT_FEW], 4);
	assert_int_equal(out.tests, 4);
	small_store_says(&t, "1000.00 (a) +0.00 = 1000.00 (b)");
	t = list_of(s, "functions", 2, &out);
	small_store_column_is(&t, "symbol", "udp_c skb_b (2 other functions)");
	check_costs(&t, 2, 700, 550, -150);
	assert_true(isnan(table_real(&t, 2, "p")));
	t = list_of(s, "functions", 4, &out);
	assert_int_equal(t.rows, 4);
}

/* What is saved comes before what is added, and the largest of each first. */
TEST(steps_of_a_waterfall_lead_from_base_to_new)
{
	static const double deltas[] = {NAN, -300, -100, -50, 450, NAN},
			    totals[] = {1000, 700, 600, 550, 1000, 1000};
	struct store *s = store_of_shares();
	struct outcome out = {0};
	struct table t = list_of(s, "waterfall", 0, &out);

	cells_are(&t, "step = base: a skb_b [kernel.kallsyms] tcp_a [kernel.kallsyms] main "
		      "[kernel.kallsyms] udp_c [kernel.kallsyms] new: b, rows = 6");
	for (size_t i = 0; i < t.rows; i++) {
		assert_float_equal(table_real(&t, i, "total_ns"), totals[i], 1e-9);
		assert_int_equal(isnan(table_real(&t, i, "delta_ns")), isnan(deltas[i]));
		if (!isnan(deltas[i]))
			assert_float_equal(table_real(&t, i, "delta_ns"), deltas[i], 1e-9);
	}
	small_store_column_is(&t, "state", "- vanished - - new -");
	assert_string_equal(t.title, "functions of the receiver, ns per KiB: from a to b");
	t = list_of(s, "waterfall", 1, &out); /* the largest step alone */
	cells_are(&t, "step = base: a udp_c [kernel.kallsyms] (3 other functions) new: b, "
		      "1 total_ns = 1450, 2 delta_ns = -450");
}

TEST(variants_without_settings_are_pairs)
{
	static const char *const variants[] = {"old+a", "new+a"};
	struct store *s = small_store_named("one");
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0.02}};
	struct outcome out = {0};
	freed(table_free) struct table t;

	for (size_t i = 0; i < array_size(variants); i++) {
		store_variant_add(s, variants[i], NULL, NULL, NULL);
		small_store_metric(s,
				   small_store_run(s, (struct run){.variant = variants[i],
								   .position = (int)i + 1}),
				   "throughput", 4 * (double)(i + 1));
	}
	c.end[BASE] = (struct compare_end){.store = s, .label = "old+*"};
	c.end[NEW] = (struct compare_end){.store = s, .label = "new+*"};
	compare_table_init(&comparison_pairs, &t);
	assert_int_equal(comparison_pairs.run(&c, &t, &out, &err), 0);
	cells_are(&t, "base_variant = old+a, new_variant = new+a, 0 throughput_change_pct = 100");
	table_free(&t);
	c.end[NEW].label = "mid*";
	compare_table_init(&comparison_pairs, &t);
	assert_int_equal(comparison_pairs.run(&c, &t, &out, &err), -ENOENT);
	assert_non_null(
		strstr(err.text, "no variant of 'mid*' has the settings of a variant of 'old+*'"));
}
