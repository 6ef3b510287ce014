// SPDX-License-Identifier: GPL-2.0-only
/* Costs on a world small enough to add up by hand. */
#include "analyze/costs/call_tree.h"
#include "analyze/costs/costs.h"
#include "tests/unit/world.h"

static double half(const struct table *t, const char *key, const char *value, const char *column)
{
	return table_interval(t, find(t, key, value), column).half;
}

static double sum(const struct table *t, const char *column)
{
	int c = table_column(t, column);
	double all = 0;

	for (size_t row = 0; row < t->rows; row++)
		all += table_cell(t, row, c)->real;
	return all;
}

TEST(functions)
{
	struct query q = {.work.rate = 1e7, .all = true};
	freed(world_free) struct world w;
	struct table t;

	make_world(&w, 3);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "functions", q);
	assert_int_equal(t.rows, 4);
	assert_string_equal(table_cell(&t, 0, 0)->str, "do_idle");
	/* wall: 2 CPUs x 100 ns; idle stays */
	cells_are(&t, "tcp_a self_share = 30, tcp_a total_share = 60, tcp_a self_ns = 60, "
		      "tcp_a total_ns = 120, skb_b total_share = 40, main self_share = 0, "
		      "main total_share = 60, skb_b samples = 3");
	assert_true(isnan(half(&t, "symbol", "skb_b", "self_ns"))); /* 3 samples are too few */
	assert_float_equal(sum(&t, "self_share"), 100, 1e-9);
	assert_float_equal(sum(&t, "self_ns"), 200, 1e-9);
}

TEST(busy_and_filters)
{
	struct query q = {.work.busy_ns = 6000, .work.units = 100, .unit = "message"};
	struct cpuset cpus = {0};
	freed(world_free) struct world w;
	struct table t;

	make_world(&w, 3);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "functions", q);
	assert_int_equal(t.rows, 3); /* no idle */
	assert_float_equal(cell(&t, "symbol", "tcp_a", "self_ns"), 30, 1e-9);
	assert_float_equal(sum(&t, "self_ns"), 60, 1e-9);
	assert_string_equal(t.columns[table_column(&t, "self_ns")].unit, "ns/message");

	q = (struct query){
		.bare.profile = &w.p, .symbol = "skb_*", .cpus = &cpus, .work.rate = 1e7};
	cpuset_add(&cpus, 1);
	t = small_store_table(NULL, "functions", q);
	assert_int_equal(t.rows, 1); /* a filter hides rows, the shares stay those of CPU 1 */
	row_is(&t, find(&t, "symbol", "skb_b"), "self_share = 50, self_ns = 50");
}

/* The weights of an event that counts cycles are the cycles: 60 that are not idle, of 10 packets.
 */
TEST(cycles_of_weights)
{
	struct query q = {.in = IN_CYCLES, .work.units = 10, .all = true};
	freed(world_free) struct world w;
	struct table t;

	make_world(&w, 3);
	w.p.events[w.event].name = intern_str(&w.p.strings, "cpu_core/cycles/P");
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "functions", q);
	cells_are(&t, "skb_b self_cycles = 3, tcp_a total_cycles = 6");
	assert_float_equal(sum(&t, "self_cycles"), 6, 1e-9);
	assert_string_equal(t.columns[table_column(&t, "self_cycles")].unit, "cycles/packet");
	q.basis = BASIS_WALL; /* idle stays */
	t = small_store_table(NULL, "functions", q);
	assert_float_equal(cell(&t, "symbol", "do_idle", "self_cycles"), 4, 1e-9);
	assert_float_equal(sum(&t, "self_cycles"), 10, 1e-9);
	q.work.cycles = q.work.units = 1; /* the total of the query comes before the weights */
	t = small_store_table(NULL, "functions", q);
	assert_float_equal(cell(&t, "symbol", "do_idle", "self_cycles"), 0.4, 1e-9);
	q.in = IN_INSTRUCTIONS; /* it does not count those */
	t = small_store_table(NULL, "functions", q);
	assert_int_equal(table_cell(&t, 0, table_column(&t, "self_instructions"))->type, V_NONE);
}

/* main calls tcp_a in 60 of 100. tcp_a is the leaf in 30 of them, 10 of these below itself. */
TEST(recursion_counts_once_in_callers_and_callees)
{
	struct query q = {.symbol = "tcp_a"};
	freed(world_free) struct world w;
	struct table t;

	make_world(&w, 3);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "callers", q);
	cells_are(&t, "rows = 1, main total_share = 60");
	t = small_store_table(NULL, "callees", q);
	cells_are(&t, "rows = 2, [self] total_share = 30, skb_b total_share = 30");
	q.symbol = "tcp_b";
	small_store_refuses(NULL, "callers", q, -ENOENT, "did you mean tcp_a?");
}

/* Of 100, f has 10 without a caller and 20 below main. It runs a softirq of 30 and an interrupt
 * of 40. */
TEST(callers_and_callees_have_interrupts_and_ends)
{
	static const struct {
		const char *symbol, *says;
	} wrong[] = {
		{"sysvec_y", "did you mean sysvec_x?"},
		{"do_soft", "did you mean do_softirq?"},
		{"zz", "; 'zcost report functions --all' lists the functions"},
		{"sysabcde", "lists the functions"},
	};
	struct query q = {.symbol = "f"};
	freed(world_free) struct world w;
	struct table t;
	uint32_t f;

	start_world(&w);
	add(&w, frame(&w, PROFILE_NONE, "f"), 1, CTX_SYSCALL, 1);
	f = frame(&w, frame(&w, PROFILE_NONE, "main"), "f");
	add(&w, f, 1, CTX_SYSCALL, 2);
	add(&w, frame(&w, frame(&w, f, "do_softirq"), "g"), 1, CTX_SOFTIRQ, 3);
	add(&w, frame(&w, frame(&w, f, "sysvec_x"), "h"), 1, CTX_HARDIRQ, 4);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "callers", q);
	cells_are(&t, "symbol = main [no caller], 0 total_share = 90, 1 total_share = 10");
	t = small_store_table(NULL, "callees", q);
	cells_are(&t, "symbol = sysvec_x [self] do_softirq, 0 total_share = 40, "
		      "1 total_share = 30");
	small_store_says(
		&t,
		"all 3 rows (the total of 'f'): 100.00 %, of that softirqs inside it 30.00 %, hardirqs 40.00 %; basis");
	q.symbol = "sys*"; /* a glob, where no function has the name */
	t = small_store_table(NULL, "callers", q);
	cells_are(&t, "symbol = f, 0 total_share = 40");
	each (c, wrong) {
		q.symbol = c->symbol;
		small_store_refuses(NULL, "callers", q, -ENOENT, c->says);
	}
}

/* Instructions of equal cost are in the order of their offsets. */
TEST(hotspots_are_in_order_of_cost_or_of_offset)
{
	struct profile_spot spots[] = {{.offset = 0x20, .weight = 2},
				       {.offset = 0x10, .weight = 3},
				       {.offset = 0x30, .weight = 2},
				       {.offset = 0x4, .weight = 3}};
	struct query q = {.symbol = "f", .limit = 2, .work.busy_ns = 100, .work.units = 1};
	freed(world_free) struct world w;
	struct table t;

	start_world(&w);
	add(&w, frame(&w, PROFILE_NONE, "f"), 1, CTX_SYSCALL, 1);
	each (c, spots) {
		c->event = w.event;
		c->symbol = w.p.frames[0].symbol;
		c->line = PROFILE_NONE;
		c->samples = 1;
	}
	w.p.spots = spots;
	w.p.nspots = array_size(spots);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "hotspots", q);
	cells_are(&t, "offset = +0x4 +0x10, 0 function_share = 30, 0 self_ns = 30");
	small_store_says(&t, "2 of 4 rows; --all shows all");
	q.limit = 4;
	t = small_store_table(NULL, "hotspots", q);
	small_store_column_is(&t, "offset", "+0x4 +0x10 +0x20 +0x30");
	assert_false(small_store_noted(&t, "of 4 instructions"));
	spots[0].weight = 9;
	q.limit = 0;
	t = small_store_table(NULL, "hotspots", q);
	small_store_column_is(&t, "offset", "+0x20 +0x4 +0x10 +0x30");
	q.all = true;
	t = small_store_table(NULL, "hotspots", q);
	small_store_column_is(&t, "offset", "+0x4 +0x10 +0x20 +0x30");
	w.p.spots = NULL;
}

TEST(by)
{
	struct query q = {.by = "context,cpu"};
	freed(world_free) struct world w;
	struct table t;

	make_world(&w, 3);
	q.bare.profile = &w.p;
	t = small_store_table(NULL, "components", q);
	assert_string_equal(t.columns[0].name, "context");
	assert_string_equal(t.columns[1].name, "cpu");
	assert_string_equal(t.columns[2].name, "component");
	cells_are(&t, "skb self_share = 30, idle self_share = 40, syscall self_share = 20");
	assert_float_equal(sum(&t, "self_share"), 100, 1e-9);
	assert_int_equal(table_cell(&t, 0, table_column(&t, "self_ns"))->type, V_NONE);
	/* totals by context: tcp_a is in 30 + 10 of softirq, once per sample */
	q.by = "context";
	t = small_store_table(NULL, "functions", q);
	assert_float_equal(cell(&t, "context", "softirq", "total_share"), 40, 1e-9);
	q.by = "colour";
	small_store_refuses(NULL, "functions", q, -EINVAL, "colour");
}

/* Returns whether the table warns that the samples cover this much of the wall time. */
static bool warns_of_coverage(struct query *q, const char *expected)
{
	freed(note_lines_free) struct note_lines lines;
	struct table t;
	bool found = false;

	t = small_store_table(NULL, "functions", *q);
	note_lines_make(&lines, &t.notes);
	for (size_t i = 0; i < lines.n; i++)
		found |= lines.line[i].severity == SEVERITY_WARNING &&
			 strstr(lines.line[i].text, expected) != NULL;
	return found;
}

/* 100 ns of samples on two CPUs. */
TEST(wall_basis_warns_of_time_without_samples)
{
	struct query q = {.work.rate = 1e7, .all = true};
	freed(world_free) struct world w;

	make_world(&w, 3);
	q.bare.profile = &w.p;
	w.p.first_ns = 1000;
	w.p.last_ns = 1165;
	assert_true(warns_of_coverage(&q, "the samples cover 29 % of the time of 2 CPUs"));
	q.work.rate = 0; /* shares only */
	assert_false(warns_of_coverage(&q, "samples cover"));
	q.work.rate = 1e7;
	w.p.last_ns = 1041; /* with the first sample's period 51 ns on 2 CPUs */
	assert_false(warns_of_coverage(&q, "samples cover"));
	q.basis = BASIS_BUSY;
	q.work.busy_ns = 100;
	q.work.units = 1;
	w.p.last_ns = 1165;
	assert_false(warns_of_coverage(&q, "samples cover"));
}

/*
 * Two profiled runs whose shares of skb_b are 3/6 and 5/8 of the busy samples; two measured runs
 * of 400 and 600 busy ns per KiB. Pooled share 8/14; basis 500 (median).
 */
TEST(store)
{
	struct query q = {0};
	struct world w;
	struct table t;
	int64_t id;
	struct store *s = small_store();

	for (int i = 1; i <= 2; i++) {
		id = add_run(s, "measure", i);
		put_metric(s, id, "cpu_pct", "%", 20.0 + 20 * i);
		put_metric(s, id, "rate_kib", "KiB/s", 1e6);
		id = add_run(s, "profile", i);
		put_metric(s, id, "cpu_pct", "%", 100);
		put_metric(s, id, "rate_kib", "KiB/s", 1);
		make_world(&w, i == 1 ? 3 : 5);
		store_world(s, id, &w);
	}
	t = small_store_table(s, "functions", q);
	cells_are(&t, "skb_b self_share = 57.1428571429, skb_b self_ns = 285.714285714");
	assert_true(isnan(half(&t, "symbol", "skb_b", "self_ns"))); /* 8 samples are too few */
	assert_float_equal(sum(&t, "self_ns"), 500, 1e-9);
	q.repeat = 1; /* selects repeat 1 of each pass */
	t = small_store_table(s, "functions", q);
	assert_float_equal(cell(&t, "symbol", "skb_b", "self_share"), 50, 1e-9);
	assert_float_equal(sum(&t, "self_ns"), 400, 1e-9);
	q.pass = "profile"; /* one CPU for one KiB/s */
	t = small_store_table(s, "functions", q);
	assert_float_equal(sum(&t, "self_ns"), 1e9, 1e-9);
	q.pass = NULL;
	q.variant = "w";
	small_store_refuses(s, "functions", q, -ENOENT, "");
}

/*
 * CPUs that were busy half of the time, with samples of 60 for it, were idle for another 60. Where
 * the profile has at most half of that, the rest is added to the wall time.
 */
TEST(wall_time_counts_idle_time_without_samples)
{
	for (uint64_t idle = 3; idle <= 4; idle++) {
		struct table t;
		struct world w;
		int64_t id;
		struct store *s = small_store();

		id = add_run(s, "all", 1);
		put_metric(s, id, "seconds", "s", 1);
		put_metric(s, id, "cpu_pct", "%", 50);
		put_metric(s, id, "rate_kib", "KiB/s", 1e6);
		start_world(&w);
		add(&w, frame(&w, PROFILE_NONE, "tcp_a"), 1, CTX_SYSCALL, 6);
		add(&w, frame(&w, PROFILE_NONE, "do_idle"), 1, CTX_IDLE, idle);
		store_world(s, id, &w);
		t = small_store_table(s, "functions", (struct query){.basis = BASIS_WALL});
		assert_float_equal(cell(&t, "symbol", "tcp_a", "self_share"), idle == 3 ? 50 : 60,
				   1e-9);
	}
}

/* The cost of copying of the workload alone needs to know its processes, in any variant. */
TEST(summary_says_once_that_the_workloads_copies_are_not_known)
{
	static const char *const variants[] = {"v", "w"};
	struct table t;
	struct world w;
	size_t n = 0;
	struct store *s = small_store();

	each (c, variants) {
		put_metric(s, add_basis(s, *c), "workload_cpu_pct", "%", 10);
		make_world(&w, 3);
		store_world(s, add_run_of(s, *c, "profile", 1), &w);
	}
	t = small_store_table(s, "summary", (struct query){.workload_only = true});
	assert_int_equal(t.rows, 2);
	for (size_t i = 0; i < t.notes.n; i++)
		n += note_is(&t.notes.note[i], NOTE_workload_copy);
	assert_int_equal(n, 1);
}

/* A loss in a measured run concerns costs only where their basis comes from. */
TEST(costs_are_lossy_where_their_basis_is)
{
	static const struct {
		enum note_id kind;
		bool lossy;
	} notes[] = {
		{NOTE_window_missing, true},	     /* every figure */
		{NOTE_uring_completions_lost, true}, /* workload */
		{NOTE_power_gap, false},
		{NOTE_cpu_others, false}, /* a warning about the CPU time */
	};
	const char *groups[] = {"copy=skb_*"};
	struct query q = {.groups = groups, .ngroups = 1};
	struct store *s;
	struct table t;
	struct world w;

	each (c, notes) {
		const struct note_kind *kind = &note_kinds[c->kind];
		struct note note = {.kind = kind, .severity = kind->severity};

		s = small_store();
		assert_int_equal(store_note_add(s, add_basis(s, "v"), &note, &err), 0);
		make_world(&w, 3);
		store_world(s, add_run(s, "profile", 1), &w);
		t = small_store_table(s, "functions", q);
		assert_int_equal(t.lossy, c->lossy);
		t = small_store_table(s, "groups", q);
		assert_int_equal(t.lossy, c->lossy);
	}
}

/* The load of 10, 20 and 60 % of a CPU is 20 % as median and 30 % as mean. */
TEST(measured_load_is_estimated_as_the_query_asks)
{
	static const double loads[] = {10, 20, 60};
	struct store *s = small_store();
	struct table t;
	struct world w;
	int64_t id;

	for (size_t i = 0; i < array_size(loads); i++) {
		id = small_store_run(s, (struct run){.pass = "all", .repeat = (int)i + 1});
		small_store_metric(s, id, "cpu_pct", loads[i]);
		small_store_metric(s, id, "rate_kib", 1000);
		make_world(&w, 3);
		store_world(s, id, &w);
	}
	t = small_store_table(s, "components", (struct query){.load_measured = true});
	small_store_says(&t, "the measured load of 20.00 % of the time of the side's CPUs");
	t = small_store_table(s, "components",
			      (struct query){.load_measured = true, .estimator = "mean"});
	small_store_says(&t, "the measured load of 30.00 % of the time of the side's CPUs");
}

/* Returns the weight of the frames of a function below the root of a command. */
static double weight_below(const struct call_tree *tree, const char *command, const char *symbol)
{
	double *totals = call_tree_totals(tree, 0, tree->nruns), sum = 0;
	uint32_t root;

	for (uint32_t i = 0; i < tree->nframes; i++) {
		for (root = i; tree->frames[root].parent != CALL_NONE;)
			root = tree->frames[root].parent;
		if (!strcmp(tree->labels[tree->frames[root].label].symbol, command) &&
		    !strcmp(tree->labels[tree->frames[i].label].symbol, symbol))
			sum += totals[i];
	}
	free(totals);
	return sum;
}

TEST(call_tree_has_the_chains_of_each_command)
{
	freed(table_free) struct table notes;
	freed(cost_part_free) struct cost_part part;
	freed(call_tree_free) struct call_tree tree;
	struct query q = {0};
	freed(world_free) struct world w;
	const struct block file = {0};
	uint32_t a, b;

	start_world(&w);
	a = frame(&w, frame(&w, PROFILE_NONE, "main"), "tcp_a");
	b = frame(&w, a, "skb_b");
	w.comm = intern_str(&w.p.strings, "one");
	add(&w, b, 1, CTX_SYSCALL, 2);
	w.comm = intern_str(&w.p.strings, "two");
	add(&w, b, 1, CTX_SYSCALL, 3);
	add(&w, a, 1, CTX_SYSCALL, 4);
	w.comm = intern_str(&w.p.strings, ":77"); /* perf does not know the name */
	add(&w, a, 1, CTX_SYSCALL, 1);
	q.bare.profile = &w.p;
	table_init(&notes, "flame", NULL, 0);
	call_tree_init(&tree, false);
	assert_int_equal(call_tree_read(&tree, NULL, &q, &file, &part, &notes, &err), 0);
	assert_float_equal(weight_below(&tree, "one", "skb_b"), 20, 0);
	assert_float_equal(weight_below(&tree, "one", "main"), 20, 0);
	assert_float_equal(weight_below(&tree, "two", "skb_b"), 30, 0);
	assert_float_equal(weight_below(&tree, "two", "main"), 70, 0);
	assert_float_equal(weight_below(&tree, "[unknown]", "tcp_a"), 10, 0);
	assert_int_equal(tree.nframes, 11); /* 3 commands, and 3, 3 and 2 functions below */
}

/* An interrupt of a system call runs a softirq: by its callers an interrupt has it, by the frame
 * the call. */
TEST(call_tree_has_the_softirqs_of_the_table_contexts)
{
	static const enum context contexts[] = {CTX_SOFTIRQ, CTX_SOFTIRQ_IN_SYSCALL};
	const struct block file = {0};

	each (context, contexts) {
		freed(table_free) struct table notes;
		freed(cost_part_free) struct cost_part part;
		freed(call_tree_free) struct call_tree tree;
		freed(world_free) struct world w;
		struct query q = {.bare.profile = &w.p};
		size_t begins = 0;
		uint32_t at;

		start_world(&w);
		at = frame(&w, frame(&w, PROFILE_NONE, "do_syscall_64"), "asm_sysvec_x");
		add(&w, frame(&w, frame(&w, at, "handle_softirqs"), "g"), 1, *context, 2);
		table_init(&notes, "flame", NULL, 0);
		call_tree_init(&tree, false);
		assert_int_equal(call_tree_read(&tree, NULL, &q, &file, &part, &notes, &err), 0);
		for (size_t i = 0; i < tree.nlabels; i++)
			if (!strcmp(tree.labels[i].symbol, "g"))
				assert_int_equal(tree.labels[i].context, *context);
			else
				begins +=
					tree.labels[i].begins && tree.labels[i].context == *context;
		assert_int_equal(begins, 1);
	}
}

/* Each of ten runs has 100 samples. A row has an interval with 50 samples in 9 of the runs. */
TEST(interval_needs_50_samples_in_9_of_10_runs)
{
	static const struct {
		const char *name;
		uint64_t samples[10];
		bool has;
	} rows[] = {
		{"nine", {10, 10, 10, 10, 10, 10, 10, 10, 10, 0}, true},
		{"eight", {10, 10, 10, 10, 10, 10, 10, 10, 0, 0}, false},
		{"fifty", {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, true},
		{"fortynine", {5, 5, 5, 5, 5, 5, 5, 5, 5, 4}, false},
		{"rest", {70, 70, 70, 70, 70, 70, 70, 70, 80, 91}, true},
	};
	struct world w;
	struct table t;
	int64_t id;
	struct store *s = small_store();

	for (size_t i = 0; i < 10; i++) {
		id = add_run(s, "measure", (int)i + 1);
		put_metric(s, id, "cpu_pct", "%", 40);
		put_metric(s, id, "rate_kib", "KiB/s", 1e6);
		id = add_run(s, "profile", (int)i + 1);
		w = (struct world){0};
		profile_init(&w.p);
		w.event = profile_event(&w.p, "cpu-clock", true);
		w.kernel = profile_dso(&w.p, "[kernel.kallsyms]", NULL, DSO_KERNEL);
		w.comm = intern_str(&w.p.strings, "prog");
		each (r, rows)
			if (r->samples[i])
				add(&w, frame(&w, PROFILE_NONE, r->name), 1, CTX_SYSCALL,
				    r->samples[i]);
		store_world(s, id, &w);
	}
	t = small_store_table(s, "functions", (struct query){0});
	each (c, rows)
		assert_int_equal(!isnan(half(&t, "symbol", c->name, "self_ns")), c->has);
}

/* Two runs give Student's t of one degree of freedom: 20 +- 101. */
TEST(interval_needs_three_runs)
{
	for (int runs = 1; runs <= 3; runs++) {
		struct store *s = small_store();
		struct world w;
		struct table t;

		for (int i = 1; i <= runs; i++) {
			small_store_metrics(s, add_run(s, "measure", i),
					    "cpu_pct = 40, rate_kib = 1e6");
			start_world(&w);
			add(&w, frame(&w, PROFILE_NONE, "f"), 1, CTX_SYSCALL, 100 + (uint64_t)i);
			add(&w, frame(&w, PROFILE_NONE, "g"), 1, CTX_SYSCALL, 100);
			store_world(s, add_run(s, "profile", i), &w);
		}
		t = small_store_table(s, "functions", (struct query){0});
		assert_int_equal(!isnan(half(&t, "symbol", "f", "self_ns")), runs == 3);
		assert_int_equal(table_has_values(&t, "self_sampling_error"), runs < 3);
	}
}

static void add_of(struct world *w, uint32_t leaf, const char *comm, uint32_t pid, uint32_t tid,
		   uint32_t cpu, enum context context, uint64_t n)
{
	struct profile_cost c = {.event = w->event,
				 .cpu = cpu,
				 .pid = pid,
				 .tid = tid,
				 .comm = comm ? intern_str(&w->p.strings, comm) : PROFILE_NONE,
				 .context = context,
				 .frame = leaf,
				 .samples = n,
				 .weight = 10 * n};

	profile_add(&w->p, &c);
	w->p.events[w->event].samples += n;
	w->p.events[w->event].weight += 10 * n;
	w->p.events[w->event].weight2 += 100.0 * (double)n;
}

/* Thread 2 of process 1 has 4 of 10 samples, thread 1 has 3, process 5 has 2 and an unknown one 1.
 */
TEST(samples_are_split_by_each_key)
{
	static const struct {
		const char *by, *column, *names;
		double shares[4];
	} cases[] = {
		{"comm", "comm", "a b -", {70, 20, 10}},
		{"pid", "pid", "1 5 -", {70, 20, 10}},
		{"tid", "tid", "2 1 5 -", {40, 30, 20, 10}},
		{"thread", "thread", "a:2 a:1 b:5 -", {40, 30, 20, 10}},
		{"cpu", "cpu", "3 0 -", {60, 30, 10}},
		{"context", "context", "syscall softirq user", {50, 30, 20}},
	};
	struct query q = {.symbol = "f*"};
	struct cpuset cpus = {0};
	freed(world_free) struct world w;
	struct table t;
	uint32_t f;

	start_world(&w);
	f = frame(&w, PROFILE_NONE, "f");
	add_of(&w, f, "a", 1, 2, 3, CTX_SYSCALL, 4);
	add_of(&w, f, "a", 1, 1, 0, CTX_SOFTIRQ, 3);
	add_of(&w, f, "b", 5, 5, 3, CTX_USER, 2);
	add_of(&w, f, NULL, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, CTX_SYSCALL, 1);
	q.bare.profile = &w.p;
	each (c, cases) {
		q.by = c->by;
		t = small_store_table(NULL, "functions", q);
		small_store_column_is(&t, c->column, c->names);
		for (size_t k = 0; k < t.rows; k++)
			assert_float_equal(table_real(&t, k, "self_share"), c->shares[k], 1e-9);
	}
	q.by = NULL;
	q.comm = "b";
	t = small_store_table(NULL, "functions", q);
	assert_float_equal(table_real(&t, 0, "self_share"), 20, 1e-9);
	q.comm = NULL;
	q.cpus = &cpus;
	cpuset_add(&cpus, 3);
	q.by = "comm"; /* 40 of 60 on CPU 3 */
	t = small_store_table(NULL, "functions", q);
	cells_are(&t, "comm = a b, 0 self_share = 66.6666666667");
	cpuset_add(&cpus, 7);
	t = small_store_table(NULL, "functions", q);
	small_store_says(&t, "CPU 7");
}

/*
 * Process 1 is the workload: 2 of its 4 samples on CPU 3 are interrupts. Its threads took 40 % of a
 * CPU, 400 ns per KiB. The 50 % and the samples of process 5 are no part of that.
 */
TEST(workload_costs_the_cpu_time_of_its_threads)
{
	static const struct {
		const char *metrics;
		bool cpu; /* with --cpu 3 */
		const char *row, *says;
	} cases[] = {
		{"workload_cpu_pct = 40", false, "self_share = 100, self_ns = 400, samples = 5",

		 "5 samples of cpu-clock in 1 run, 50.00 % of the weight"},
		{"workload_cpu_pct = 40, threads_hold_irq = 1", true,
		 "self_share = 80, total_share = 80, self_ns = 320, samples = 4",

		 "(1 run), on any CPU; the rows are of CPU 3; 5 samples"},
		{"workload_cpu_pct = 40, threads_hold_irq = 0", false,
		 "self_share = 100, self_ns = 400, samples = 3",
		 "basis workload: 400.0 ns/KiB of its threads (1 run)"},
		{"threads_hold_irq = 1", false, "self_share = 100, self_ns = -",

		 "basis none: no run has both its work and the CPU time"},
	};

	each (c, cases) {
		struct query q = {.workload_only = true};
		struct cpuset cpus = {0};
		struct store *s = small_store();
		int64_t run = small_store_run(s, (struct run){.pass = "all"});
		struct table t;
		struct world w;

		small_store_metrics(s, run, "cpu_pct = 50, rate_kib = 1000000");
		small_store_metrics(s, run, c->metrics);
		start_world(&w);
		add_of(&w, frame(&w, PROFILE_NONE, "tcp_a"), "a", 1, 1, 3, CTX_SYSCALL, 2);
		add_of(&w, 0, "a", 1, 1, 3, CTX_SOFTIRQ, 1);
		add_of(&w, 0, "a", 1, 1, 3, CTX_HARDIRQ, 1);
		add_of(&w, 0, "a", 1, 1, 4, CTX_SYSCALL, 1);
		add_of(&w, 0, "b", 5, 5, 3, CTX_HARDIRQ, 5);
		profile_add_own(&w.p, 1);
		profile_sort_own(&w.p);
		store_world(s, run, &w);
		cpuset_add(&cpus, 3);
		q.cpus = c->cpu ? &cpus : NULL;
		t = small_store_table(s, "functions", q);
		assert_int_equal(t.rows, 1);
		row_is(&t, 0, c->row);
		small_store_says(&t, c->says);
		q.in = IN_CYCLES;
		t = small_store_table(s, "functions", q);
		small_store_says(&t, "basis none: events are counted for all that runs");
		q.basis = BASIS_WALL;
		small_store_refuses(s, "functions", q, -EINVAL,
				    "--basis wall is the time of whole");
	}
}

/* Adds a run with 100 samples, `part` of them in skb_b, and a basis of `ns` per KiB. */
static void add_share(struct store *s, const char *pass, int repeat, uint64_t part, double ns)
{
	int64_t run = small_store_run(s, (struct run){.pass = pass, .repeat = repeat});
	struct world w;

	small_store_metric(s, run, "cpu_pct", ns / 10);
	small_store_metric(s, run, "rate_kib", 1e6);
	if (!part)
		return;
	start_world(&w);
	add(&w, frame(&w, PROFILE_NONE, "skb_b"), 1, CTX_SYSCALL, part);
	add(&w, frame(&w, PROFILE_NONE, "tcp_a"), 1, CTX_SYSCALL, 100 - part);
	store_world(s, run, &w);
}

/*
 * Shares of 50, 60 and 70 % differ by -0.1, 0 and 0.1 from the pooled share. Three values with an
 * excess kurtosis of 1 have 2 / (2 / 2 + 1 / 3) = 1.5 degrees of freedom.
 */
TEST(interval_of_a_cost_adds_the_errors_of_share_and_basis)
{
	static const double basis[] = {400, 600, 500};
	const double t15 = stats_t_quantile(0.975, 1.5), plain = 100 / sqrt(3);
	struct stats_error of_basis = stats_error_of(EST_MEDIAN, basis, 3), of_share, all;
	double stretch = of_basis.se / plain, x[3];
	struct query q = {0};
	struct store *s;
	struct table t;

	/* Other runs give the basis: both errors are independent. */
	s = small_store();
	for (int i = 0; i < 3; i++) {
		add_share(s, "profile", i + 1, 50 + 10 * (uint64_t)i, 7);
		add_share(s, "measure", i + 1, 0, basis[i]);
	}
	t = small_store_table(s, "functions", q);
	of_share = (struct stats_error){0.1 / sqrt(3) * 500, 1.5};
	all = stats_error_add(of_share, stats_error_times(of_basis, 0.6));
	assert_float_equal(cell(&t, "symbol", "skb_b", "self_ns"), 300, 1e-9);
	assert_float_equal(half(&t, "symbol", "skb_b", "self_ns"), stats_error_half(all, 0.95),
			   1e-9);
	assert_float_equal(half(&t, "symbol", "skb_b", "total_ns"), stats_error_half(all, 0.95),
			   1e-9);
	/* The same runs give both. */
	s = small_store();
	for (int i = 0; i < 3; i++) {
		add_share(s, "all", i + 1, 50 + 10 * (uint64_t)i, basis[i]);
		x[i] = 0.1 * (i - 1) * 500 + (basis[i] - 500) * stretch * 0.6;
	}
	t = small_store_table(s, "functions", q);
	assert_float_equal(half(&t, "symbol", "skb_b", "self_ns"), t15 * stats_sd(x, 3) / sqrt(3),
			   1e-9);
	/* Without a basis, the shares have the interval. */
	s = small_store();
	for (int i = 0; i < 3; i++) {
		struct world w;

		start_world(&w);
		add(&w, frame(&w, PROFILE_NONE, "skb_b"), 1, CTX_SYSCALL, 50 + 10 * (uint64_t)i);
		add(&w, frame(&w, PROFILE_NONE, "tcp_a"), 1, CTX_SYSCALL, 50 - 10 * (uint64_t)i);
		store_world(s, add_run(s, "profile", i + 1), &w);
	}
	t = small_store_table(s, "functions", q);
	assert_float_equal(half(&t, "symbol", "skb_b", "self_share"), 100 * t15 * 0.1 / sqrt(3),
			   1e-9);
	assert_true(isnan(cell(&t, "symbol", "skb_b", "self_ns")));
}

/* The runs of the profile pass are surely slower or faster by more than 10 %, or may be alike. */
TEST(profile_of_another_rate_is_warned_of)
{
	static const struct {
		double profile, step;
		const char *says;
	} cases[] = {
		{8.02, 0.1,
		 "the profile pass did 0.8 times the work of the measure pass (8.2 against 10.2 Gbit/s)"},
		{12.02, 0.1,
		 "the profile pass did 1.2 times the work of the measure pass (12.2 against 10.2 Gbit/s)"},
		{9.2, 0.1, NULL},
		{7, 1.5, NULL}, /* 7 to 11.5 */
	};
	struct world w;
	struct table t;

	each (c, cases) {
		struct store *s = small_store();

		for (int r = 0; r < 4; r++) {
			small_store_metric(s, small_store_run(s, (struct run){.repeat = r + 1}),
					   "throughput", 10.02 + 0.1 * r);
			int64_t run = small_store_run(
				s, (struct run){.pass = "profile", .repeat = r + 1});

			small_store_metric(s, run, "throughput", c->profile + c->step * r);
			make_world(&w, 3);
			store_world(s, run, &w);
		}
		t = small_store_table(s, "functions", (struct query){0});
		assert_int_equal(small_store_noted(&t, "times the work of the measure pass"),
				 c->says != NULL);
		if (c->says)
			small_store_says(&t, c->says);
		t = small_store_table(s, "functions", (struct query){.repeat = 1});
		assert_false(small_store_noted(&t, "times the work of the measure pass"));
	}
}

/* 30 of 100 samples: 1.96 x sqrt(0.3 x 0.7 / 100) of the basis, which may be a share of 1. */
TEST(single_run_has_sampling_errors)
{
	const double of = stats_normal_quantile(0.975) * sqrt(0.3 * 0.7 / 100);
	struct store *s = small_store();
	struct query q = {.system_load = 50};
	struct table t;

	add_share(s, "all", 1, 30, 400);
	t = small_store_table(s, "functions", q);
	cells_are(&t, "skb_b self_ns = 120, skb_b self_ns.half = -, skb_b cpu_use_pct = 15");
	assert_float_equal(cell(&t, "symbol", "skb_b", "self_sampling_error"), 400 * of, 1e-3);
	assert_float_equal(cell(&t, "symbol", "skb_b", "total_sampling_error"), 400 * of, 1e-3);
	small_store_says(&t, "all 2 rows: 100.00 % = 400.0 ns/KiB; basis busy: 400.0 ns/KiB");
	small_store_says(&t, "100 samples of cpu-clock in 1 run; unclassified functions 0.00 %");
	q = (struct query){.limit = 1};
	t = small_store_table(s, "functions", q);
	small_store_says(
		&t,
		"all 2 rows: 100.00 % = 400.0 ns/KiB (the 1 shown: 70.00 %, --all shows all); basis");
	q = (struct query){.symbol = "skb_*"};
	t = small_store_table(s, "functions", q);
	small_store_says(&t, "1 row: 30.00 % = 120.0 ns/KiB; basis");
	small_store_says(&t, "unclassified functions 0.00 % of all samples");
}
