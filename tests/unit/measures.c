// SPDX-License-Identifier: GPL-2.0-only
/* Tables of stores that are small enough to work out every figure by hand. */
#include "analyze/costs/basis.h"
#include "analyze/costs/call_tree.h"
#include "analyze/probes/counters/table.h"
#include "analyze/scope/runs.h"
#include "tests/unit/small_store.h"
#include "tests/unit/world.h"

#include <malloc.h>

static void add_syscall(struct store *s, int64_t run, int nr, const char *name, const char *comm,
			int tid, uint64_t ns)
{
	struct syscall_row r = {.nr = nr,
				.name = name,
				.comm = comm,
				.pid = 7,
				.tid = tid,
				.calls = 1,
				.total_ns = ns,
				.min_ns = ns,
				.max_ns = ns};

	r.time_hist[9] = 1;
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
}

TEST(calls_of_equal_time_are_in_order_of_name_command_and_thread)
{
	static const struct {
		const char *name, *comm;
		int tid;
		uint64_t ns;
	} rows[] = {
		{"write", "a", 1, 600}, {"read", "b", 1, 600}, {"read", "a", 3, 600},
		{"read", "a", 2, 600},	{"zz", "z", 9, 700},
	};
	struct query q = {.by = "tid"};
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.pass = "syscalls"});
	struct table t;

	for (size_t i = 0; i < array_size(rows); i++)
		add_syscall(s, run, (int)i, rows[i].name, rows[i].comm, rows[i].tid, rows[i].ns);
	t = small_store_table(s, "syscalls", q);
	cells_are(&t, "syscall = zz read read read write, comm = z a a b a, 1 tid = 2, 2 tid = 3");
	small_store_refuses(s, "syscalls", (struct query){.by = "comm,colour"}, -EINVAL, "");
	t = small_store_table(s, "syscalls", (struct query){.by = "syscall"});
	cells_are(&t, "syscall = read zz write, 0 calls = 3");
	q.limit = 2;
	t = small_store_table(s, "syscalls", q);
	small_store_column_is(&t, "syscall", "zz read");
	q.limit = 1;
	t = small_store_table(s, "syscalls", q);
	small_store_column_is(&t, "syscall", "zz");
	q.limit = 5;
	t = small_store_table(s, "syscalls", q);
	assert_int_equal(t.rows, 5);
}

/*
 * 2 calls of 128 to 256 ns, none shorter than 150, and 2 of 512 to 1024 ns, none longer than 900.
 * The mean is 500 ns, and m2 / 3 / 4 = 10000 is the square of a standard error of 100 ns, 20 %.
 */
TEST(figures_of_a_call_come_from_sums_and_buckets)
{
	struct syscall_row r = {.name = "recvfrom",
				.comm = "c",
				.pid = 7,
				.tid = 7,
				.calls = 4,
				.errors = 1,
				.total_ns = 2000,
				.min_ns = 150,
				.max_ns = 900,
				.m2 = 120000,
				.bytes = 1000,
				.has_bytes = true};
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.pass = "syscalls"});
	struct table t;

	r.time_hist[7] = r.time_hist[9] = 2;
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	r = (struct syscall_row){.name = "poll", .comm = "c", .pid = 7, .tid = 7, .unfinished = 1};
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	small_store_metrics(s, run, "rate_kib = 2, seconds = 2");
	t = small_store_table(s, "syscalls", (struct query){0});
	cells_are(&t, "syscall = recvfrom poll, 0 total_ms = 0.002, 0 min_ms = 0.00015, "
		      "0 avg_ms = 0.0005, 0 max_ms = 0.0009, 0 stddev_pct = 20, "
		      "0 p50_ms = 0.000256");
	/* 1.96 of the 2 calls in 512 to 900 ns */
	cells_are(&t, "0 p99_ms = 0.00089224, 0 bytes_per_call = 250, 0 calls_per_mib = 1024, "
		      "0 ns_per_kib = 500, 1 p50_ms = -");
	assert_true(isnan(table_real(&t, 1, "avg_ms"))); /* no call of poll has returned */
	r.pid = r.tid = 8;
	r.unfinished = 2;
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	t = small_store_table(s, "syscalls", (struct query){.by = "syscall"});
	small_store_column_is(&t, "syscall", "recvfrom poll");
	small_store_says(&t, "calls that had not returned at the end: poll 3");
	t = small_store_table(s, "syscalls", (struct query){.by = "pid"});
	small_store_column_is(&t, "syscall", "recvfrom poll poll");
}

/*
 * Of 4 calls with a mean of 500 ns and a sum of squares of 120000, and one of 1000 ns: the mean is
 * 600, the sum 120000 + 500^2 x 4 / 5 = 320000, and sqrt(320000 / 4 / 5) / 600 is 21.08 %.
 */
TEST(calls_of_threads_are_added_up)
{
	static const int tids[] = {8, 7, 9, 0};
	struct syscall_row r = {.name = "read", .comm = "c", .pid = 7, .tid = 7};
	struct store *s = small_store();
	struct query q = {.by = "syscall"};
	struct table t;
	int64_t run;

	for (int i = 0; i < 2;
	     i++) { /* one thread in each run, and one whose call did not return */
		run = small_store_with(s, (struct run){.pass = "syscalls", .repeat = i + 1},
				       "rate_kib = 1, seconds = 1");
		if (!i) {
			r.unfinished = 2;
			assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
			r.unfinished = 0;
		}
		r.tid = tids[i];
		r.calls = i ? 1 : 4;
		r.errors = i ? 0 : 3;
		r.total_ns = i ? 1000 : 2000;
		r.min_ns = i ? 1000 : 150;
		r.max_ns = i ? 1000 : 900;
		r.m2 = i ? 0 : 120000;
		r.bytes = i ? 500 : 1000;
		r.has_bytes = true;
		r.time_hist[9] = r.calls;
		assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
		r = (struct syscall_row){.name = "read", .comm = "c", .pid = 7, .tid = 7};
	}
	t = small_store_table(s, "syscalls", q);
	cells_are(&t, "rows = 1, 0 calls = 5, 0 errors = 3, 0 total_ms = 0.003, "
		      "0 min_ms = 0.00015, 0 avg_ms = 0.0006, 0 max_ms = 0.001, "
		      "0 stddev_pct = 21.0818510678, 0 bytes_per_call = 300, "
		      "0 calls_per_mib = 2560, 0 ns_per_kib = 1500");
	small_store_says(&t, "v receiver: 5 calls in all, 0.003 ms; 1 of 1 row");
	small_store_says(&t, "calls that had not returned at the end: read 2");
	assert_int_equal(table_column(&t, "tid"), -1);
	assert_int_equal(table_column(&t, "comm"), -1);
	assert_int_equal(table_column(&t, "variant"), -1);
	q.by = "tid,syscall,variant";
	r.tid = tids[3]; /* threads that ended before zcost read their names */
	r.calls = r.total_ns = r.min_ns = r.max_ns = 6;
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	t = small_store_table(s, "syscalls", q);
	cells_are(&t, "rows = 3, 0 tid = 8");
	/* one call has no deviation */
	cells_are(&t, "1 tid = 7, 1 calls = 1, 1 stddev_pct = 0, 2 tid = -, variant = v v v");
	small_store_says(&t, "6 calls of ended threads");
	q = (struct query){.comm = "d*"};
	t = small_store_table(s, "syscalls", q);
	assert_int_equal(t.rows, 0);
}

TEST(distances_of_clocks_have_a_fitting_unit)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{-1.5, "-1.5 s"},
		     {1, "1 s"},
		     {0.25, "250 ms"},
		     {-0.001, "-1 ms"},
		     {0.0005, "500 us"}};

	each (c, cases) {
		autofree char *text = clocks_text(c->seconds);

		assert_string_equal(text, c->text);
	}
}

/* A run whose first frame comes late has no weight in the frames before it. */
TEST(frames_without_samples_have_zero_weight_and_samples)
{
	struct call_tree tree;
	char name[] = "a";

	mallopt(M_PERTURB, 165); /* fresh memory is not zero */
	call_tree_init(&tree, false);
	for (; *name <= 't'; ++*name)
		call_tree_add_root(&tree, 0, name, 2, 3);
	call_tree_add_root(&tree, 1, "t", 5, 7);
	assert_int_equal(tree.nruns, 2);
	for (uint32_t i = 0; i < 20; i++) {
		assert_float_equal(tree.runs[0].weight[i], 2, 0);
		assert_int_equal(tree.runs[0].samples[i], 3);
		assert_float_equal(tree.runs[1].weight[i], i == 19 ? 5 : 0, 0);
		assert_int_equal(tree.runs[1].samples[i], i == 19 ? 7 : 0);
	}
	call_tree_free(&tree);
	mallopt(M_PERTURB, 0);
}

TEST(timeline_counts_seconds_from_the_windows_start)
{
	struct query q = {.name = "power_w:*"};
	struct store *s = small_store();
	struct table t;
	int64_t run = small_store_run(s, (struct run){0});

	small_store_refuses(s, "timeline", q, -ENOENT, "it has: none");
	store_series_put(s, run, "power_w:wall", 9500000000, 60, NULL);
	store_series_put(s, run, "power_w:wall", 11000000000, 80, NULL);
	store_series_put(s, run, "tcp_retransmits_per_s", 11000000000, 4, NULL);
	t = small_store_table(s, "timeline", q);
	cells_are(&t, "rows = 2, 0 t_s = -0.5, 1 t_s = 1, 1 seconds = 2, 1 value = 80, unit = W W");
	q = (struct query){.limit = 1};
	t = small_store_table(s, "timeline", q);
	small_store_column_is(&t, "name", "power_w:wall");
	q.name = "power";
	small_store_refuses(s, "timeline", q, -ENOENT,
			    "it has: power_w:wall, tcp_retransmits_per_s");
}

TEST(side_without_a_complete_run_has_no_host)
{
	struct store *s = small_store();
	struct run_facts f;

	small_store_run(s, (struct run){.status = "failed"});
	f = run_facts_of(s, "v", "receiver");
	assert_null(f.host);
	assert_null(f.command);
	run_facts_free(&f);
	small_store_run(s, (struct run){.repeat = 2});
	f = run_facts_of(s, "v", "receiver");
	assert_string_equal(f.host, "h");
	run_facts_free(&f);
}

/* Adds a run on a host whose clock is `offset` s ahead at `at` s. */
static void add_clock(struct store *s, const char *host, int repeat, double at, double offset,
		      double error, double skew_us)
{
	struct run r = {.variant = "v",
			.pass = "measure",
			.side = "receiver",
			.host = host,
			.status = "ok",
			.repeat = repeat,
			.position = repeat,
			.start_ns = (uint64_t)(at * 1e9),
			.end_ns = (uint64_t)(at * 1e9) + 1};

	assert_int_equal(store_run_add(s, &r, NULL), 0);
	small_store_metric(s, r.id, "clock_offset", offset);
	small_store_metric(s, r.id, "clock_error", error);
	if (!isnan(skew_us))
		small_store_metric(s, r.id, "window_skew_us", skew_us);
}

TEST(clock_of_a_host_is_that_of_its_first_run)
{
	struct store *s = small_store();
	struct clock_facts f;
	struct table t;

	add_clock(s, "g", 1, 10, 0.5, 0.001, 40);
	add_clock(s, "other", 2, 50, 7, 0.5, NAN);
	add_clock(s, "g", 3, 60, 9, 0.001, 3000);
	add_clock(s, "g", 4, 110, 0.501, 0.002, 20);
	assert_int_equal(clocks_of_host(s, "g", &f, NULL), 0);
	assert_true(f.known);
	assert_float_equal(f.offset, 0.5, 1e-12);
	assert_float_equal(f.error, 0.001, 1e-12);
	t = small_store_table(s, "summary", (struct query){0});
	small_store_says(&t, "3 ms");
	small_store_says(&t, "2 ms");
	assert_int_equal(clocks_of_host(s, "none", &f, NULL), 0);
	assert_false(f.known);
}

TEST(runs_have_the_marks_of_doubt)
{
	static const struct {
		const char *metric, *column;
		double value, shown;
	} marks[] = {
		{"window_start_error_us", NULL, 5, 0},
		{"window_end_error_us", "window_error_us", 9, 9},
		{"window_first_reading_us", "readings_us", 70, 70},
		{"window_last_reading_us", NULL, 60, 0},
		{"window_skew_us", "skew_us", 3, 3},
		{"stalled_s", "stalled_s", 0.5, 0.5},
		{"cpu_steal_pct", "steal_pct", 3, 1.5},
		{"throttled_quota", "throttled", 4, 4},
		{"coverage_pct", "coverage_pct", 99, 99},
		{"throughput", "throughput_gbps", 8, 8},
		{"cpu_pct", "cpu_pct", 50, 50},
		{"seconds", "seconds", 2, 2},
	};
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.ncpus = 2, .position = 3});
	struct table t;

	small_store_run(s, (struct run){.status = "failed",
					.why = "it crashed",
					.pass = "profile",
					.repeat = 2,
					.side = "sender",
					.variant = "w",
					.position = 4});
	each (c, marks)
		small_store_metric(s, run, c->metric, c->value);
	t = small_store_table(s, "runs", (struct query){0});
	cells_are(&t, "status = ok failed, 1 why = it crashed");
	each (r, marks) {
		if (!r->column)
			continue;
		assert_float_equal(table_real(&t, 0, r->column), r->shown, 1e-12);
		assert_true(isnan(table_real(&t, 1, r->column)));
	}
	row_is(&t, 0, "position = 3, start_ns = 10000000000");
	assert_int_equal(t.notes.n, 0);
	t = small_store_table(s, "runs", (struct query){.figures_only = true});
	assert_true(isnan(table_real(&t, 0, "seconds")));
	for (size_t i = 0; i < 5; i++) {
		const struct query q[] = {{.variant = "w"},
					  {.side = "sender"},
					  {.pass = "profile"},
					  {.repeat = 2},
					  {.variant = "x"}};

		assert_int_equal(measure_run("runs", s, &q[i], &t, &err), i == 4 ? -ENOENT : 0);
		assert_int_equal(t.rows, i < 4);
		if (i < 4)
			assert_string_equal(table_text(&t, 0, "status"), "failed");
		table_free(&t);
	}
}

/* A run of two sides succeeds if both do. */
TEST(variants_count_runs_of_all_sides_once)
{
	static const struct {
		const char *variant, *pass, *status[2];
		int repeat;
	} runs[] = {
		{"a", "measure", {"ok", "ok"}, 1},     {"a", "measure", {"ok", "failed"}, 2},
		{"a", "profile", {"ok", "ok"}, 2},     {"a", "syscalls", {"failed", "failed"}, 2},
		{"b", "measure", {"failed", "ok"}, 1},
	};
	static const char *const sides[] = {"receiver", "sender"};
	struct store *s = small_store();
	struct table t;

	store_variant_add(s, "a", "it reads", NULL, NULL);
	store_variant_add(s, "b", NULL, "a", NULL);
	for (size_t i = 0; i < array_size(runs); i++)
		for (size_t k = 0; k < 2; k++)
			small_store_run(s, (struct run){.variant = runs[i].variant,
							.pass = runs[i].pass,
							.side = sides[k],
							.status = runs[i].status[k],
							.repeat = runs[i].repeat,
							.position = (int)i + 1});
	t = small_store_table(s, "variants", (struct query){0});
	assert_int_equal(table_column(&t, "base"), -1);
	store_setting_add(s, "b", "size", "4k", NULL);
	t = small_store_table(s, "variants", (struct query){0});
	cells_are(&t, "variant = a b, base = a a, size = - 4k, what = it reads -");
	assert_int_equal(table_cell(&t, 0, 3)->integer, 2);
	assert_int_equal(table_cell(&t, 0, 4)->integer, 2);
	assert_int_equal(table_cell(&t, 1, 3)->integer, 0);
	assert_int_equal(table_cell(&t, 1, 4)->integer, 1);
	small_store_refuses(s, "variants", (struct query){.variant = "c*"}, -ENOENT, "");
}

TEST(unknown_table_is_an_error)
{
	small_store_refuses(small_store(), "colours", (struct query){0}, -EINVAL,
			    "no table 'colours'");
}

TEST(cpu_by_refuses_options_that_its_key_cannot_serve)
{
	struct cpuset cpus = {0};
	const struct {
		struct query q;
		const char *says;
	} refused[] = {
		{{.by = "colour"}, "no key 'colour'"},
		{{.by = "cpu,comm"}, "no key 'cpu,comm'"},
		{{.by = "comm", .cpus = &cpus}, "--cpu needs --by cpu"},
		{{.by = "cpu", .comm = "x"}, "--comm needs --by comm"},
		{{.by = "cpu", .workload_only = true}, "--workload-only needs --by comm"},
	};
	struct store *s = small_store();

	each (c, refused)
		small_store_refuses(s, "cpu", c->q, -EINVAL, c->says);
}

static void add_thread(struct store *s, int64_t run, int pid, int tid, const char *comm,
		       double run_ns, double wait_ns, double slices)
{
	struct thread_row r = {.pid = pid,
			       .tid = tid,
			       .comm = comm,
			       .allowed = "1",
			       .cpus = "1",
			       .run_ns = run_ns,
			       .user_ns = run_ns / 4,
			       .system_ns = run_ns / 2,
			       .migrations = 3,
			       .sched_run_ns = run_ns,
			       .wait_ns = wait_ns,
			       .slices = slices,
			       .voluntary = 6,
			       .involuntary = NAN};

	assert_int_equal(store_thread_add(s, run, &r, NULL), 0);
}

/* Thread 8 ran in the first of two runs only, and longer than thread 7. */
static struct store *store_of_threads(void)
{
	struct store *s = small_store();
	int64_t run = small_store_with(s, (struct run){0},
				       "seconds = 2, cpu_pct = 80, workload_cpu_pct = 60");
	add_thread(s, run, 7, 8, "helper", 1e9, 4e6, 8);
	add_thread(s, run, 7, 7, "main", 2e8, 4e6, 2);
	run = small_store_with(s, (struct run){.repeat = 2},
			       "seconds = 2, cpu_pct = 40, workload_cpu_pct = 30");
	add_thread(s, run, 7, 7, "main", 6e8, 4e6, 1);
	return s;
}

TEST(threads_that_waited_equally_are_in_order_of_run_and_thread)
{
	struct store *s = store_of_threads();
	struct table t = small_store_table(s, "sched", (struct query){0});

	cells_are(&t, "comm = main helper main, 1 run = 1, 2 run = 2, 0 runtime_ms = 200, "
		      "0 delay_ms = 4, 0 us_per_slice = 2000, 1 us_per_slice = 500, "
		      "1 voluntary = 6, 1 involuntary = -");
	t = small_store_table(s, "sched", (struct query){.by = "process"});
	small_store_column_is(&t, "comm", "main main"); /* the name of the first thread */
	row_is(&t, 0, "threads = 2, delay_ms = 8, us_per_slice = 800");
	t = small_store_table(s, "sched", (struct query){.by = "comm", .limit = 1});
	cells_are(&t, "comm = main, 0 runtime_ms = 400");
	small_store_says(&t, "1 of 2");
}

/* zcost read thread 0 of a process, and process 0, only after they ended. */
TEST(ended_threads_and_processes_have_rows)
{
	struct store *s = small_store();
	int64_t run = small_store_with(s, (struct run){0},
				       "seconds = 2, cpu_pct = 80, workload_cpu_pct = 80");
	struct table t;

	add_thread(s, run, 7, 9, "worker", 4e8, 2e6, 2);
	add_thread(s, run, 7, 7, "main", 2e8, 3e6, 2);
	add_thread(s, run, 7, 0, "main", 6e8, NAN, NAN);
	add_thread(s, run, 0, 0, NULL, 1e8, NAN, NAN);
	add_thread(s, run, 8, 8, "c", 3e8, 1e6, 4);
	t = small_store_table(s, "cpu", (struct query){.by = "thread"});
	cells_are(&t, "0 comm = main (ended threads), 0 tid = -, 0 pid = 7, 1 comm = worker, "
		      "2 comm = c, 3 comm = main, 4 comm = (ended processes), 4 pid = -, "
		      "0 cpu_pct = 30, 0 user_pct = 7.5, 0 sys_pct = 15");
	t = small_store_table(s, "cpu", (struct query){.by = "process"});
	/* the name is that of the first thread */
	cells_are(&t, "0 comm = main, 0 threads = 2, 0 cpu_pct = 60, 0 migrations = 9, "
		      "1 comm = c, 2 comm = (ended processes), 2 threads = -");
	t = small_store_table(s, "sched", (struct query){0}); /* their waits are not known */
	small_store_column_is(&t, "comm", "main worker c");
	for (int i = 0; i < 3; i++)
		assert_float_equal(table_real(&t, (size_t)i, "delay_ms"), 3 - i, 1e-12);
	cells_are(&t, "2 us_per_slice = 250, 0 slices = 2, 1 runtime_ms = 400");
	assert_int_equal(table_column(&t, "threads"), -1);
	t = small_store_table(s, "sched", (struct query){.by = "thread", .limit = 2});
	small_store_column_is(&t, "comm", "main worker");
	small_store_says(&t, "2 of 3 rows; --all shows all");
	t = small_store_table(s, "sched", (struct query){.by = "thread", .limit = 2, .all = true});
	assert_int_equal(t.rows, 3);
	t = small_store_table(s, "sched", (struct query){.comm = "none"});
	small_store_says(&t, "this table has no figures: see collector 'sched'");
}

/* 0.8 Gbit/s in the measure pass, 0.6 in the profile pass: a quarter is lost. */
TEST(cost_of_a_pass_is_the_loss_of_its_rate)
{
	static const double rates[] = {0.8, 0.6, 0};
	static const char *const passes[] = {"measure", "profile", "syscalls"};
	struct store *s = small_store();
	struct table t;

	for (size_t i = 0; i < array_size(passes); i++)
		small_store_metric(s, small_store_run(s, (struct run){.pass = passes[i]}),
				   "throughput", rates[i]);
	t = small_store_table(s, "passes", (struct query){0});
	cells_are(&t, "pass = measure profile syscalls, 0 cost_pct = -, 1 cost_pct = 25, "
		      "2 cost_pct = 100");
}

/* Both sides of host h are busy for 200 % of a CPU. CPU 1 is of both. */
TEST(passes_have_what_each_collector_costs)
{
	static const struct {
		const char *side, *cpus, *host, *metrics;
	} sides[] = {
		{"receiver", "1", "h",
		 "cpu_pct = 100, cpu_pct:cpu1 = 100, program_cpu_pct:frame = 10, "
		 "program_runs_per_s:frame = 1e6, reading_cpu_pct:frame = 0.05, readings_per_s:frame = 1"},
		{"sender", "0-1", "h", "cpu_pct = 200, cpu_pct:cpu0 = 100, cpu_pct:cpu1 = 100"},
		{"third", "0", "elsewhere", "cpu_pct = 100"},
	};
	struct store *s = small_store();
	struct table t;

	each (side, sides)
		small_store_metrics(s,
				    small_store_run(s, (struct run){.side = side->side,
								    .cpus = side->cpus,
								    .host = side->host}),
				    side->metrics);
	t = small_store_table(s, "passes", (struct query){0});
	cells_are(&t, "collector = - frame - -, 1 cpu_pct = 10, 1 busy_pct = 5, 1 per_s = 1e6, "
		      "1 us_each = 0.1, 1 measured = programs, 1 runs = 1");
	t = small_store_table(s, "passes", (struct query){.all = true});
	cells_are(&t, "collector = - frame frame - -, 2 cpu_pct = 0.05, 2 us_each = 500, "
		      "2 measured = readings");
}

static void add_rates(struct store *s, const char *pass, const char *metric, const double rate[4])
{
	for (int i = 0; i < 4; i++) {
		int64_t run = small_store_run(s, (struct run){.pass = pass, .repeat = i + 1});

		small_store_metric(s, run, metric, rate[i]);
		small_store_metric(s, run, "cpu_pct", 50 + i);
		small_store_metric(s, run, "own_cpu_pct", i);
		small_store_metric(s, run, "rate_kib", 1000);
	}
}

/* The interval of 4 and 4 runs has the ratios of all pairs. */
TEST(loss_of_a_pass_has_an_interval)
{
	static const double measure[] = {10, 10.1, 10.2, 10.3}, slow[] = {8, 8.1, 8.2, 8.3},
			    fast[] = {13, 13.1, 13.2, 13.3}, like[] = {9.9, 10.1, 10.3, 10.2};
	static const struct {
		const double *profile, *syscalls;
		double cost, low, high;
	} cases[] = {
		{slow, like, 100 * (1 - 8.15 / 10.15), 17, 100 * (1 - 8 / 10.3)},
		{fast, slow, 100 * (1 - 13.15 / 10.15), -33, 100 * (1 - 13 / 10.3)},
	};
	struct table t;

	each (c, cases) {
		struct store *s = small_store();

		add_rates(s, "measure", "throughput", measure);
		add_rates(s, "profile", "throughput", c->profile);
		add_rates(s, "syscalls", "throughput", c->syscalls);
		t = small_store_table(s, "passes", (struct query){0});
		cells_are(&t, "pass = measure profile syscalls, 0 throughput_gbps = 10.15, "
			      "0 cpu_pct = 51.5, 0 own_cpu_pct = 1.5, 0 runs = 4");
		assert_float_equal(table_real(&t, 1, "cost_pct"), c->cost, 1e-9);
		assert_float_equal(table_interval(&t, 1, "cost_pct").low, c->low, 1e-9);
		assert_float_equal(table_interval(&t, 1, "cost_pct").high, c->high, 1e-9);
	}
}

/* Three of ten samples are below a function that measures; the two idle ones do not count. */
TEST(profile_pass_has_the_share_of_measuring)
{
	struct store *s = small_store();
	struct world w;
	struct table t;
	uint32_t program;

	add_basis(s, "v");
	start_world(&w);
	program = frame(&w, PROFILE_NONE, "bpf_prog_12ab_zcost_sys_enter");
	add(&w, program, 1, CTX_SYSCALL, 1);
	add(&w, frame(&w, program, "read_tsc"), 1, CTX_SYSCALL, 2);
	add(&w, frame(&w, PROFILE_NONE, "tcp_sendmsg"), 1, CTX_SYSCALL, 7);
	add(&w, frame(&w, PROFILE_NONE, "pv_native_safe_halt"), 1, CTX_IDLE, 2);
	store_world(s, add_run(s, "profile", 1), &w);
	t = small_store_table(s, "passes", (struct query){0});
	cells_are(&t, "pass = measure profile, 0 tracing_pct = -, 1 tracing_pct = 30");
}

/* Packets count where no run has a throughput. */
TEST(passes_are_compared_by_the_rate_that_they_have)
{
	static const double measure[] = {10, 10, 10, 10}, slow[] = {8, 8, 8, 8};
	struct store *s = small_store();
	struct table t;

	add_rates(s, "measure", "rate_messages", measure);
	add_rates(s, "profile", "rate_messages", slow);
	add_rates(s, "syscalls", "rate_packets", slow);
	t = small_store_table(s, "passes", (struct query){0});
	cells_are(&t, "1 cost_pct = 20, 2 cost_pct = -");
	s = small_store();
	small_store_run(s, (struct run){.pass = "all"});
	t = small_store_table(s, "passes", (struct query){0});
	small_store_says(&t, "every collector ran at once");
	cells_are(&t, "pass = all, 0 cost_pct = -");
}

TEST(cpu_counts_the_runs_with_a_value)
{
	struct store *s = small_store();
	struct table t;

	small_store_with(s, (struct run){0}, "seconds = 2, cpu_pct = 50, cpu_pct:cpu1 = 50");
	small_store_with(s, (struct run){.repeat = 2}, "seconds = 2");
	t = small_store_table(s, "cpu", (struct query){.by = "cpu"});
	cells_are(&t, "0 runs = 1");
	t = small_store_table(s, "cpu", (struct query){0});
	cells_are(&t, "0 runs = 1");
}

/* The window has 2 s. A command that did not run in a measured run has 0 there. */
TEST(cpu_by_has_threads_and_everything_else)
{
	struct store *s = store_of_threads();
	struct table t = small_store_table(s, "cpu", (struct query){.by = "comm"});

	cells_are(&t, "comm = helper main (everything else), 0 cpu_pct = 25, 1 cpu_pct = 20, "
		      "1 busy_share = 33.3333333333, 1 user_pct = 5, 1 sys_pct = 10");
	assert_float_equal(table_real(&t, 2, "cpu_pct"), 15,
			   1e-9); /* the median is that of 20 and 10 */
	t = small_store_table(s, "cpu", (struct query){.by = "thread", .limit = 1});
	cells_are(&t, "comm = helper (rows left out) (everything else) main (everything else), "
		      "0 cpu_pct = 50, 1 cpu_pct = 10, 1 busy_share = 12.5, 2 cpu_pct = 20, "
		      "3 cpu_pct = 30");
}

static bool has_row(const struct table *t, const char *comm)
{
	for (size_t i = 0; i < t->rows; i++)
		if (!strcmp(table_text(t, i, "comm"), comm))
			return true;
	return false;
}

/* A difference of the two clocks of up to 2 % is 0, a larger one is a note. */
TEST(everything_else_is_not_below_zero)
{
	static const struct {
		double busy[2], value, low, high;
		int confined;
	} cases[] = {
		{{60.5, 60.5}, 0.5, 0.5, 0.5, 1}, {{60, 60}, 0, 0, 0, 1},
		{{59, 59}, 0, 0, 0, 0},		  {{58, 58}, 0, 0, 0, 1},
		{{63, 59}, 1, 0, 3, 0},		  {{57.5, 57.5}, NAN, NAN, NAN, 1},
		{{57, 57}, NAN, NAN, NAN, 0},
	};

	each (c, cases) {
		const char *others =
			c->confined ? "(everything else)" : "(everything else, at least)";
		struct store *s = small_store();
		struct table t;

		for (int r = 0; r < 2; r++) {
			int64_t run = small_store_run(s, (struct run){.repeat = r + 1});

			small_store_metric(s, run, "seconds", 2);
			small_store_metric(s, run, "cpu_pct", c->busy[r]);
			small_store_metric(s, run, "workload_cpu_pct", 60);
			small_store_metric(s, run, "workload_confined", r ? 1 : c->confined);
			small_store_metric(s, run, "threads_hold_irq", 1);
			add_thread(s, run, 7, 7, "main", 1.2e9, 4e6, 1);
		}
		t = small_store_table(s, "cpu", (struct query){.by = "comm"});
		assert_int_equal(t.rows, isnan(c->value) ? 1 : 2);
		if (isnan(c->value)) {
			small_store_says(
				&t,
				c->confined
					? "ran 2.5 % of a CPU more than the side's CPUs were busy; the"
					: "ran 3.0 % of a CPU more than the side's CPUs were busy, so they ran on other CPUs too; the");
		} else {
			assert_string_equal(table_text(&t, 1, "comm"), others);
			assert_float_equal(table_real(&t, 1, "cpu_pct"), c->value, 1e-9);
			assert_float_equal(table_interval(&t, 1, "cpu_pct").low, c->low, 1e-9);
			assert_float_equal(table_interval(&t, 1, "cpu_pct").high, c->high, 1e-9);
		}
		assert_int_equal(small_store_noted(&t, "the threads may also run on CPUs outside"),
				 !c->confined);
		small_store_says(&t, "a thread's time includes the softirqs and interrupts");
		/* Only the first run could leave the side's CPUs. */
		t = small_store_table(s, "cpu", (struct query){.by = "process"});
		assert_int_equal(has_row(&t, "(everything else, at least)"),
				 !c->confined && !isnan(c->value));
		assert_int_equal(has_row(&t, "(everything else)"), !isnan(c->value));
		t = small_store_table(s, "cpu", (struct query){.by = "comm", .comm = "main"});
		assert_int_equal(t.rows, 1);
		t = small_store_table(s, "cpu", (struct query){.by = "comm", .comm = "none"});
		assert_int_equal(t.rows, 0);
		small_store_says(&t, "no collector saw a thread");
	}
}

/* A thread has its identity in all tables but that of commands. */
TEST(cpu_by_thread_has_pid_tid_run_and_cpus)
{
	struct store *s = store_of_threads();
	struct table t = small_store_table(s, "cpu", (struct query){.by = "thread"});

	cells_are(&t, "comm = helper main (everything else) main (everything else), 0 run = 1, "
		      "2 run = 1, 3 run = 2, 0 pid = 7, 0 tid = 8, 2 pid = -, 2 tid = -, "
		      "cpus = 1 1 - 1 -, 0 migrations = 3");
	assert_int_equal(table_column(&t, "threads"), -1);
	t = small_store_table(s, "cpu", (struct query){.by = "process", .limit = 1});
	cells_are(&t, "comm = main (everything else) main (everything else), 0 threads = 2, "
		      "2 threads = 1, 1 threads = -, 0 cpu_pct = 60, 0 busy_share = 75, "
		      "2 busy_share = 75");
	assert_int_equal(table_column(&t, "tid"), -1);
	assert_false(small_store_noted(&t, "--all shows all"));
	t = small_store_table(s, "cpu", (struct query){.by = "comm", .limit = 1});
	cells_are(&t, "comm = helper (rows left out) (everything else), 1 cpu_pct = 20");
	assert_int_equal(table_column(&t, "run"), -1);
	small_store_says(&t, "1 of 2 rows; --all shows all");
	t = small_store_table(s, "cpu", (struct query){.by = "comm", .limit = 1, .all = true});
	small_store_column_is(&t, "comm", "helper main (everything else)");
	t = small_store_table(s, "cpu", (struct query){.by = "comm", .workload_only = true});
	small_store_column_is(&t, "comm", "helper main");
}

TEST(cpu_by_cpu_has_the_cpus_that_have_figures)
{
	struct store *s = small_store();
	struct cpuset cpus = {0};
	struct table t;

	small_store_with(s, (struct run){.cpus = "0-2"},
			 "cpu_pct = 90, cpu_pct:cpu0 = 20, cpu_pct:cpu2 = 70, "
			 "cpu_idle_pct:cpu2 = 30, workload_cpu_pct = 50");
	small_store_with(s, (struct run){.repeat = 2, .cpus = "0-2"},
			 "cpu_pct = 90, cpu_pct:cpu2 = 60");
	t = small_store_table(s, "cpu", (struct query){.by = "cpu", .estimator = "mean"});
	cells_are(&t, "rows = 2, 0 cpu = 0, 1 cpu = 2, 0 runs = 1, 1 runs = 2, 1 busy_pct = 65, "
		      "1 idle_pct = 30");
	cpuset_add(&cpus, 0);
	cpuset_add(&cpus, 1);
	t = small_store_table(s, "cpu", (struct query){.by = "cpu", .cpus = &cpus});
	cells_are(&t, "rows = 1, 0 cpu = 0");
	t = small_store_table(s, "cpu", (struct query){0});
	cells_are(&t, "rows = 1, 0 runs = 2, 0 busy_pct = 90, 0 workload_pct = 50");
	t = small_store_table(s, "cpu", (struct query){.workload_only = true});
	row_is(&t, 0, "runs = 1, cpu_pct = 50");
}

/* Half of a CPU's time in 1000 stays a second: 500 us each. */
TEST(idle_states_have_the_mean_time_of_a_stay)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){0});
	struct table t;

	small_store_metrics(s, run,
			    "seconds = 2, cpu_pct = 40, cpu_idle_pct = 60, cpu_idle_pct:cpu1 = 55, "
			    "cpu_idle_pct:cpu99999 = 5, cstate_pct:1 C1 = 50, "
			    "cstate_pct:1 C1:cpu1 = 25, cstate_entries:1 C1 = 2000, "
			    "cstate_entries:1 C1:cpu1 = 100, cstate_pct:2 a:b = 10");
	t = small_store_table(s, "idle", (struct query){0});
	cells_are(&t, "state = busy idle C1 a:b idle C1, 0 time_pct = 40, "
		      "2 entries_per_s = 1000, 2 mean_us = 500, 3 mean_us = -, 4 cpu = 1, "
		      "5 mean_us = 5000");
	t = small_store_table(s, "idle", (struct query){.by = "cpu"});
	small_store_column_is(&t, "state", "idle C1");
}

/* Eight CPUs are listed beside their sum, nine are not. Half a stay a second has a mean time. */
TEST(idle_time_of_eight_cpus_is_listed)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.cpus = "0-8"});
	struct cpuset cpus = {0};
	struct table t;
	char name[32];

	/* a state of all CPUs */
	small_store_metrics(s, run,
			    "seconds = 2, cpu_idle_pct = 60, cstate_pct:0 POLL = 5, "
			    "cstate_entries:0 POLL = 1, cstate_pct:1 C1:cpux = 10");
	for (int i = 0; i < 9; i++) {
		if (i == 8) {
			t = small_store_table(s, "idle", (struct query){0});
			cells_are(&t, "rows = 11, cpu = all all all - - - - - - - -");
		}
		snprintf(name, sizeof(name), "cpu_idle_pct:cpu%d", i);
		small_store_metric(s, run, name, i);
	}
	t = small_store_table(s, "idle", (struct query){0});
	cells_are(&t, "state = idle POLL C1:cpux, source = /proc/stat cpuidle cpuidle, "
		      "1 entries_per_s = 0.5, 1 mean_us = 100000");
	small_store_says(&t, "--by cpu shows each");
	t = small_store_table(s, "idle", (struct query){.by = "cpu"});
	cells_are(&t, "rows = 9, 0 cpu = 0, 8 cpu = 8");
	assert_false(small_store_noted(&t, "9 CPUs"));
	cpuset_add(&cpus, 0);
	cpuset_add(&cpus, 20);
	t = small_store_table(s, "idle", (struct query){.cpus = &cpus});
	cells_are(&t, "rows = 1, 0 cpu = 0");
	s = small_store();
	small_store_run(s, (struct run){0});
	t = small_store_table(s, "idle", (struct query){0});
	small_store_says(&t, "no run measured this");
}

/* 10 retransmits in 2 s, in which the workload moved 4 MiB. */
TEST(counters_have_rates_and_kinds)
{
	struct store *s = small_store();
	struct table t;

	small_store_with(s, (struct run){0},
			 "seconds = 2, rate_kib = 2048, snmp:TcpRetransSegs = 10, "
			 "snmp:TcpExtTCPSACKDiscard = 3, snmp:TcpOutSegs = 0");
	t = small_store_table(s, "snmp", (struct query){0});
	cells_are(&t, "name = TcpRetransSegs TcpExtTCPSACKDiscard, kind = retransmit -, "
		      "0 count = 10, 0 per_s = 5, 0 per_mib = 2.5");
	t = small_store_table(s, "snmp", (struct query){.all = true});
	assert_int_equal(t.rows, 3);
}

static size_t row_of(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->rows; i++)
		if (!strcmp(table_text(t, i, "name"), name))
			return i;
	fail_msg("no row '%s'", name);
	return 0;
}

/* Three runs of 2 MiB. Events of group 2 were counted at another time than instructions. */
TEST(counters_have_mean_error_share_of_time_and_ratios)
{
	static const double cycles[] = {100, 110, 130.4};
	struct store *s = small_store();
	struct table t;
	int64_t run;
	size_t row;

	for (size_t i = 0; i < 3; i++) {
		run = small_store_with(s, (struct run){.repeat = (int)i + 1},
				       "seconds = 2, rate_kib = 1024");
		small_store_metric(s, run, "counter:cycles", cycles[i]);
		small_store_metric(s, run, "counter_running:cycles", 50 + (double)i);
		small_store_metric(s, run, "counter:instructions", 2 * cycles[i]);
		small_store_metric(s, run, "counter_group:cycles", 1);
		small_store_metric(s, run, "counter_group:instructions", 1);
		small_store_metric(s, run, "counter:instructions@2", 3 * cycles[i]);
		small_store_metrics(s, run,
				    "counter_running:instructions@2 = 50, "
				    "counter_group:instructions@2 = 2, sched_switches = 6");
		put_metric(s, run, "counter:watts", "W", 1.5);
		small_store_metric(s, run, "counter_not_counted:lost", 1);
		if (!i)
			small_store_metric(s, run, "counter_not_supported:absent", 1);
		if (i == 2)
			small_store_metric(s, run, "counter:once", 7);
	}
	t = small_store_table(s, "counters", (struct query){0});
	cells_are(&t, "name = counter:absent counter:cycles counter:instructions "
		      "counter:instructions@2 counter:lost counter:once counter:watts ipc ipc@2, "
		      "state = <not supported> - - - <not counted> - - - -");
	row = row_of(&t, "counter:cycles");
	assert_float_equal(table_real(&t, row, "value"), 110, 0);
	assert_float_equal(table_interval(&t, row, "value").low, 100, 0);
	assert_float_equal(table_interval(&t, row, "value").high, 130.4, 1e-9);
	assert_float_equal(table_real(&t, row, "mean"), 340.4 / 3, 1e-9);
	/* R: sd(c(100, 110, 130.4)) / sqrt(3) / mean(c(100, 110, 130.4)) */
	row_is(&t, row, "stddev_pct = 7.88360663583, running_pct = 51, runs = 3");
	row = row_of(&t, "counter:once");
	assert_float_equal(table_real(&t, row, "value"), 7, 0);
	assert_true(isnan(table_interval(&t, row, "value").low));
	row_is(&t, row, "mean = -, running_pct = -");
	row = row_of(&t, "counter:watts");
	assert_float_equal(table_real(&t, row, "mean"), 1.5, 0);
	cells_are(&t, "unit = - 1 1 1 - 1 W 1/cycle 1/cycle, ipc value = 2, "
		      "ipc@2 value = 3, ipc running_pct = -");
	small_store_says(&t, "ipc@2: its events took turns");
	assert_false(small_store_noted(&t, "ipc: its events took turns"));
}

static bool value_of_event(const void *arg, const char *event, double *value)
{
	const char *const *known = arg;

	*value = 8;
	for (; *known; known++)
		if (!strcmp(*known, event))
			return true;
	return false;
}

TEST(ratios_divide_counters_of_the_same_kind)
{
	static const char *const known[] = {
		"cycles",    "branches:u", "cpu/cpu-cycles/", "cache-references", "L1-dcache-loads",
		"page-miss", NULL};
	static const struct {
		const char *event, *name;
		double value;
	} ratios[] = {
		{"instructions", "ipc", 0.5},
		{"instructions:u", NULL, 0}, /* the cycles have no :u */
		{"cpu/instructions/", "cpu/ipc", 0.5},
		{"cache-misses", "cache_miss_pct", 50},
		{"branch-misses:u", "branch_miss_pct:u", 50},
		{"branch-misses", NULL, 0},
		{"stalled-cycles-frontend", "frontend_stalled_pct", 50},
		{"L1-dcache-load-misses", "L1-dcache-load_miss_pct", 50},
		{"page-miss-misses", "page-miss_miss_pct", 50},
		{"tlb-misses", NULL, 0},
		{"cycles", NULL, 0},
		{"a-name-of-an-event-that-is-longer-than-any-that-perf-has-by-far-misses", NULL, 0},
		{"instructions:a-modifier-that-is-longer-than-any", NULL, 0},
		{"", NULL, 0},
	};
	struct counter_ratio r;

	each (c, ratios) {
		assert_int_equal(counter_ratio(&r, c->event, 4, value_of_event, known),
				 c->name != NULL);
		if (!c->name)
			continue;
		assert_string_equal(r.name, c->name);
		assert_float_equal(r.value, c->value, 1e-12);
	}
}

TEST(summary_has_the_columns_of_the_units_that_count)
{
	struct store *s = small_store();
	int64_t run = small_store_with(s, (struct run){0}, "rate_kib = 1000, cpu_pct = 50");
	struct table t = small_store_table(s, "summary", (struct query){0});

	assert_true(table_column(&t, "copy_ns_per_kib") >= 0);
	assert_true(table_column(&t, "rate_packets") < 0);
	assert_float_equal(table_real(&t, 0, "ns_per_kib"), 500000, 1e-6);
	small_store_metric(s, run, "rate_packets", 100);
	t = small_store_table(s, "summary", (struct query){.unit = "packet"});
	assert_true(table_column(&t, "copy_ns_per_kib") < 0);
	assert_true(table_column(&t, "copy_ns_per_packet") >= 0);
	assert_true(table_column(&t, "rate_messages") < 0);
	row_is(&t, 0, "ns_per_packet = 5000000, rate_packets = 100");
}

static void add_costs(struct store *s, struct run r, double busy_ns, double cycles)
{
	int64_t run = small_store_run(s, r);

	small_store_metrics(s, run, "seconds = 2, rate_kib = 1024");
	small_store_metric(s, run, "cpu_pct", busy_ns / 2e7);
	small_store_metric(s, run, "counter:cycles", cycles);
	small_store_metrics(s, run, "counter:instructions = 1000000, power_w:wall = 10");
}

static double score(const struct table *t, const char *side, const char *name)
{
	for (size_t i = 0; i < t->rows; i++)
		if (!strcmp(table_text(t, i, "side"), side) &&
		    !strcmp(table_text(t, i, "score"), name))
			return table_real(t, i, "value");
	return NAN;
}

/* Each side moves 2 MiB in 2 s: 4e6 and 6e6 ns, 4e6 and 1e6 cycles, 1e6 instructions, 10 W. */
TEST(scores_of_a_total_add_up_costs_and_divide_sums)
{
	struct store *s = small_store();
	struct table t;
	int64_t run;

	add_costs(s, (struct run){0}, 4e6, 4e6);
	add_costs(s, (struct run){.side = "sender", .host = "g"}, 6e6, 1e6);
	run = small_store_with(s, (struct run){.pass = "syscalls"}, "seconds = 1, rate_kib = 512");
	add_syscall(s, run, 0, "read", "c", 1, 10);
	add_syscall(s, run, 1, "write", "c", 1, 10);
	t = small_store_table(s, "scores", (struct query){0});
	cells_are(&t, "receiver/ns_per_kib value = 1953.125, total/ns_per_kib value = 4882.8125, "
		      "receiver/cycles_per_byte value = 1.90734863281, sender/ipc value = 1, "
		      "receiver/j_per_gb value = 9536.74316406, "
		      "total/j_per_gb value = 19073.4863281, receiver/syscalls_per_mib value = 4");
	assert_float_equal(score(&t, "total", "ipc"), 0.4,
			   1e-12); /* the ratio is that of the sums */
	small_store_says(&t, "context_switches_per_mib are absent: these events were not counted");
	small_store_says(&t, "cache_miss_pct, branch_miss_pct");
	assert_false(small_store_noted(&t, "ns_per_packet")); /* packets do not count here */
	t = small_store_table(s, "scores", (struct query){.side = "total"});
	small_store_column_is(&t, "side", "total total total total total");
}

/* Of three sides, the two with runs did half of the work each. */
TEST(scores_of_a_total_weigh_the_parts_of_the_work)
{
	static const char *const sides[] = {"receiver", "sender"};
	struct store *s = small_store();
	struct table t;

	for (int i = 0; i < 2; i++) {
		int64_t run = small_store_with(s, (struct run){.side = sides[i], .host = sides[i]},
					       "seconds = 2, rate_kib = 1024");
		small_store_metric(s, run, "rate_packets", i ? 50 : 0);
		small_store_metric(s, run, "cpu_pct", i ? 0.3 : 0.2);
		small_store_metric(s, run, "workload_cpu_pct", i ? 0.1 : 0.05);
		small_store_metric(s, run, "counter:cache-misses", i);
		small_store_metric(s, run, "counter:cache-references", 4 * i);
		small_store_metrics(s, run,
				    "sched_switches = 8, power_w:wall = 10, "
				    "transfer_sides = 3, transfer_part = 0.5, "
				    "transfer:rate_kib = 4096");
	}
	t = small_store_table(s, "scores", (struct query){0});
	cells_are(&t, "total/ns_per_kib value = 2441.40625, sender/cache_miss_pct value = 25, "
		      "total/cache_miss_pct value = 25, "
		      "total/workload_context_switches_per_mib value = 4, "
		      "total/j_per_gb value = 4768.37158203, sender/ns_per_packet value = -");
	assert_true(isnan(score(&t, "receiver", "cache_miss_pct"))); /* there are no references */
	t = small_store_table(s, "scores", (struct query){.workload_only = true});
	cells_are(&t, "receiver/ns_per_kib value = 488.28125, "
		      "total/ns_per_kib value = 732.421875, sender/cache_miss_pct value = -");
	small_store_says(&t, "--workload-only: the counts are of all that runs on the side's CPUs");
	t = small_store_table(
		s, "scores",
		(struct query){.unit = "packet", .power_kind = "package", .model_idle = 7});
	assert_float_equal(score(&t, "sender", "ns_per_packet"), 6e4, 1e-6);
	assert_true(isnan(score(&t, "receiver", "ns_per_packet"))); /* there are no packets */
	assert_float_equal(score(&t, "receiver", "j_per_gb"), 1e9 / 1048576 * 7, 1e-6);
}

TEST(scores_have_no_total_of_a_cpu_that_sides_share)
{
	struct store *s = small_store();
	struct table t;

	add_costs(s, (struct run){0}, 4e6, 4e6);
	add_costs(s, (struct run){.side = "sender"}, 6e6, 1e6);
	add_costs(s, (struct run){.variant = "w", .position = 2}, 4e6, 4e6);
	add_costs(s, (struct run){.variant = "w", .position = 3, .side = "sender", .repeat = 2},
		  1e6, 1e6);
	t = small_store_table(s, "scores", (struct query){0});
	cells_are(&t, "sender/ns_per_kib value = 2929.6875, total/ns_per_kib value = -, "
		      "total/j_per_gb value = 9536.74316406");
	small_store_says(&t, "v total: receiver and sender share CPU 1: ");
	small_store_says(&t, "w total: no repeat has the figure on all sides");
	small_store_says(&t, "the watts are those of the whole host");
}

/* A bucket with one call is a known share, and so is an empty one beside it. */
TEST(sizes_are_shares_of_their_histogram)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){0});
	struct table t;

	/* a share of none is not known */
	small_store_metrics(s, run,
			    "recv_size_log2:9 = 1, rx_bytes = 600, rx_calls = 2, "
			    "recv_tokens_log2:3 = 2, return_tokens_log2:3 = 0");
	run = small_store_with(s, (struct run){.repeat = 2},
			       "recv_size_log2:8 = 3, recv_size_log2:9 = 1");
	t = small_store_table(s, "sizes", (struct query){.estimator = "mean"});
	cells_are(&t, "name = recv_size_log2:8 recv_size_log2:9 recv_tokens_log2:3 "
		      "return_tokens_log2:3 recv_pct_log2:8 recv_pct_log2:9 "
		      "recv_tokens_pct_log2:3 bytes_per_receive, 4 value = 37.5, 5 value = 62.5, "
		      "7 value = 300, 5 runs = 2, 7 runs = 1");
	assert_float_equal(table_real(&t, 0, "value"), 1.5, 0); /* 0 and 3 */
}

TEST(columns_of_ns_become_columns_of_cycles)
{
	static const struct column columns[] = {
		{"self_ns", .unit = "ns/KiB"}, {"delta_ns_ci", .unit = "ns"},
		{"share", .unit = "%"},	       {"a_nsb", .unit = "n"},
		{"x_n_ns", .unit = NULL},      {"ns", .unit = "ns"}};
	static const char *const names[] = {"self_cycles", "delta_cycles_ci", "share",
					    "a_nsb",	   "x_n_cycles",      "ns"};
	static const char *const units[] = {"cycles/KiB", "cycles", "%", "n", NULL, "cycles"};
	struct table t;

	table_init(&t, "functions", columns, array_size(columns));
	amount_columns(&t, IN_NS);
	assert_ptr_equal(t.columns, columns);
	amount_columns(&t, IN_CYCLES);
	for (size_t i = 0; i < array_size(columns); i++) {
		assert_string_equal(t.columns[i].name, names[i]);
		assert_string_equal(t.columns[i].unit ? t.columns[i].unit : "",
				    units[i] ? units[i] : "");
	}
	table_free(&t);
}

static void check_file_basis(struct query q, unsigned int ncpus, double ns, bool busy,
			     const char *text)
{
	struct error err = {0};
	struct basis_value v;

	assert_int_equal(basis_of_file(&q, ncpus, &v, &err), 0);
	basis_of_weights(&q, "cycles", 0.5, &v);
	assert_string_equal(v.text, text);
	assert_int_equal(v.exclude_idle, busy);
	assert_int_equal(isnan(v.ns), isnan(ns));
	assert_int_equal(!v.unit, isnan(v.ns));
	if (!isnan(v.ns))
		assert_float_equal(v.ns, ns, 1e-9 * v.ns);
}

/* The numbers of a query may be below 1. */
TEST(basis_of_a_file_follows_the_query)
{
	static const struct query refused[] = {
		{.basis = BASIS_BUSY, .work.rate = 10}, {.basis = BASIS_BUSY, .work.busy_ns = 5},
		{.work.busy_ns = 5, .work.rate = 10},	{.in = IN_CYCLES, .work.cycles = 300},
		{.basis = BASIS_BUSY, .work.units = 5}, {.work.rate = 10, .unit = "colour"}};
	struct query no_weight = {.in = IN_CYCLES, .work.units = 2};
	struct basis_value v;

	check_file_basis((struct query){.work.rate = 0.5}, 1, 2e9, false,
			 "wall: 2000000000.0 ns/packet = 1e9 / 0.5 x 1 CPU");
	check_file_basis((struct query){.work.rate = 2e6, .unit = "kib"}, 2, 1000, false,
			 "wall: 1000.0 ns/KiB = 1e9 / 2000000 x 2 CPUs");
	check_file_basis((struct query){.work.units = 0.5, .work.seconds = 0.5}, 1, 1e9, false,
			 "wall: 1000000000.0 ns/packet = 1e9 / 1 x 1 CPU");
	check_file_basis((struct query){.work.rate = 4, .work.units = 6, .work.seconds = 3}, 1,
			 2.5e8, false, "wall: 250000000.0 ns/packet = 1e9 / 4 x 1 CPU");
	check_file_basis((struct query){.work.rate = 0.5, .work.units = 6, .work.seconds = 3}, 1,
			 2e9, false, "wall: 2000000000.0 ns/packet = 1e9 / 0.5 x 1 CPU");
	check_file_basis((struct query){.work.busy_ns = 0.5, .work.units = 0.5}, 1, 1, true,
			 "busy: 1.0 ns/packet = 0 ns / 0");
	check_file_basis((struct query){.work.busy_ns = 6000, .work.rate = 10, .work.seconds = 0.5},
			 1, 1200, true, "busy: 1200.0 ns/packet = 6000 ns / 5");
	check_file_basis(
		(struct query){
			.work.busy_ns = 6000, .work.units = 100, .work.rate = 1, .work.seconds = 1},
		1, 60, true, "busy: 60.0 ns/packet = 6000 ns / 100");
	check_file_basis((struct query){.work.busy_ns = 6000, .work.rate = 10, .basis = BASIS_WALL},
			 1, 1e8, false, "wall: 100000000.0 ns/packet = 1e9 / 10 x 1 CPU");
	check_file_basis((struct query){.work.units = 3}, 1, NAN, false,
			 "none: shares only; for costs, add --rate, or --units and --seconds");
	check_file_basis((struct query){.work.seconds = 3}, 1, NAN, false,
			 "none: shares only; for costs, add --rate, or --units and --seconds");
	check_file_basis((struct query){.in = IN_CYCLES, .work.cycles = 0.5, .work.units = 0.5}, 1,
			 1, true, "given: 1.0 cycles/packet = 0 / 0");
	check_file_basis((struct query){.in = IN_CYCLES,
					.work.cycles = 300,
					.work.instructions = 7,
					.work.rate = 10,
					.work.seconds = 0.5,
					.basis = BASIS_WALL},
			 1, 60, false, "given: 60.0 cycles/packet = 300 / 5");
	check_file_basis((struct query){.in = IN_INSTRUCTIONS,
					.work.instructions = 300,
					.work.cycles = 7,
					.work.units = 3},
			 1, 100, true, "given: 100.0 instructions/packet = 300 / 3");
	check_file_basis(
		(struct query){.in = IN_CYCLES, .work.units = 0.5}, 1, 1, true,
		"counted: 1.0 cycles/packet = 0, the weight of the samples of cycles, / 0");
	check_file_basis(
		(struct query){.in = IN_CYCLES}, 1, NAN, true,
		"none: the work done is not known (--units, or --rate with --seconds); shares only");
	check_file_basis(
		(struct query){.in = IN_INSTRUCTIONS, .work.units = 1}, 1, NAN, true,
		"none: cycles does not count instructions, and --instructions is missing; shares only");

	each (c, refused)
		assert_int_equal(basis_of_file(c, 1, &v, &err), -EINVAL);
	assert_int_equal(basis_of_file(&no_weight, 1, &v, &err), 0);
	basis_of_weights(&no_weight, "cycles", 0, &v);
	assert_string_equal(v.text,
			    "none: the total of cycles is not known (--cycles); shares only");
	basis_of_weights(&no_weight, NULL, 5, &v);
	assert_string_equal(
		v.text,
		"none: the event does not count cycles, and --cycles is missing; shares only");
}

/* Two runs with 1000 KiB/s and 10 packets/s, busy for 50 and 30 % of one CPU. */
static struct store *store_of_work(void)
{
	struct store *s = small_store();

	for (int r = 0; r < 2; r++) {
		int64_t run = small_store_with(s, (struct run){.repeat = r + 1},
					       "seconds = 2, rate_kib = 1000, rate_packets = 10");
		small_store_metric(s, run, "cpu_pct", r ? 30 : 50);
		small_store_metric(s, run, "counter:cycles", r ? 2e6 : 4e6);
		if (!r)
			small_store_metric(s, run, "busy_ns:cpu0", 4e8);
	}
	return s;
}

static void check_basis(struct store *s, struct query q, double ns, bool exclude_idle,
			const char *text)
{
	const struct block b = {"v", "receiver"};
	struct basis_runs runs;
	struct basis_value v;

	assert_int_equal(basis_of_block(s, &q, &b, &v, &runs, NULL), 0);
	basis_runs_free(&runs);
	assert_string_equal(v.text, text);
	assert_int_equal(isnan(v.ns), isnan(ns));
	if (!isnan(ns))
		assert_float_equal(v.ns, ns, 1e-9 * ns);
	assert_int_equal(v.exclude_idle, exclude_idle);
	assert_int_equal(v.uncounted, isnan(ns) && q.unit);
	assert_int_equal(!v.unit, isnan(ns));
}

TEST(basis_of_a_side_is_time_or_events_per_unit_of_work)
{
	struct store *s = store_of_work();
	struct cpuset cpus = {0};
	int64_t run;

	check_basis(
		s, (struct query){0}, 4e5, true,
		"busy: 400000.0 ns/KiB of CPU 1 (median of 2 measure runs, 300000.0..500000.0)");
	check_basis(
		s, (struct query){.unit = "packet", .estimator = "mean"}, 4e7, true,
		"busy: 40000000.0 ns/packet of CPU 1 (mean of 2 measure runs, -87062047.4..167062047.4); "
		"a packet has 102400 bytes on average");
	check_basis(s, (struct query){.repeat = 2}, 3e5, true,
		    "busy: 300000.0 ns/KiB of CPU 1 (1 measure run)");
	check_basis(
		s, (struct query){.basis = BASIS_WALL}, 1e6, false,
		"wall: 1000000.0 ns/KiB of CPU 1 (median of 2 measure runs, 1000000.0..1000000.0)");
	check_basis(
		s, (struct query){.in = IN_CYCLES}, 1500, true,
		"counted: 1500.0 cycles/KiB of CPU 1 (median of 2 measure runs, 1000.0..2000.0)");
	check_basis(
		s, (struct query){.in = IN_CYCLES, .basis = BASIS_WALL}, 1500, false,
		"counted: 1500.0 cycles/KiB of CPU 1 (median of 2 measure runs, 1000.0..2000.0)");
	check_basis(
		s, (struct query){.in = IN_INSTRUCTIONS}, NAN, true,
		"none: no run counted both its work and the events (collector 'counters'; a virtual machine may have no PMU); shares only");
	check_basis(s, (struct query){.unit = "message"}, NAN, true,
		    "none: --unit message: the workload counts only KiB, packet; shares only");
	check_basis(
		s, (struct query){.unit = "syscall"}, NAN, true,
		"none: no run counted both its work and its system calls (pass 'syscalls'); shares only");
	cpuset_add(&cpus, 0);
	cpuset_add(&cpus, 1);
	check_basis(s, (struct query){.cpus = &cpus}, 2e5, true,
		    "busy: 200000.0 ns/KiB of CPU 0-1 (1 measure run)");
	check_basis(
		s, (struct query){.cpus = &cpus, .basis = BASIS_WALL}, 2e6, false,
		"wall: 2000000.0 ns/KiB of CPU 0-1 (median of 2 measure runs, 2000000.0..2000000.0)");
	check_basis(
		s, (struct query){.cpus = &cpus, .in = IN_CYCLES}, NAN, true,
		"none: events are counted for all CPUs of the side together; omit --cpu; shares only");
	run = small_store_with(s, (struct run){.pass = "syscalls"}, "seconds = 2, rate_kib = 500");
	for (int i = 0; i < 3; i++)
		add_syscall(s, run, i, "read", "c", i + 1, 10);
	check_basis(
		s, (struct query){.unit = "syscall"}, 4e8 / 3, true,
		"busy: 133333333.3 ns/syscall of CPU 1 (median of 2 measure runs, 100000000.0..166666666.7; 0.003 calls/KiB of 1 run)");
	check_basis(
		s, (struct query){.unit = "syscall", .repeat = 2}, 1e8, true,
		"busy: 100000000.0 ns/syscall of CPU 1 (1 measure run; 0.003 calls/KiB of 1 run)");
	s = small_store();
	run = small_store_run(s, (struct run){.ncpus = 2, .cpus = "1-2"});
	check_basis(s, (struct query){0}, NAN, true,
		    "none: no run measured both its work and the time of its CPUs; shares only");
	small_store_metric(s, run, "rate_packets", 0.5);
	check_basis(
		s, (struct query){0}, 4e9, false,
		"wall: 4000000000.0 ns/packet of CPU 1-2 (1 measure run); CPU time is not known; the basis assumes that the CPUs were never idle");
	check_basis(s, (struct query){.basis = BASIS_BUSY}, NAN, true,
		    "none: no run measured both its work and the time of its CPUs; shares only");
}

TEST(event_that_does_not_count_the_amount_is_noted)
{
	static const struct {
		double per;
		enum amount in;
		const char *event, *says;
	} cases[] = {
		{1, IN_NS, "cache-misses", "cache-misses"},
		{1, IN_NS, "ref-cycles", NULL},
		{1, IN_NS, "task-clock:u", NULL},
		{1, IN_NS, "cpu_core/cycles/P", NULL},
		{1, IN_NS, "instructions", NULL},
		{1, IN_NS, NULL, NULL},
		{NAN, IN_NS, "cache-misses", NULL},
		{1, IN_CYCLES, "cpu-clock", "cpu-clock counts no cycles"},
		{1, IN_CYCLES, "cpu-cycles", NULL},
		{1, IN_INSTRUCTIONS, "cycles", "cycles counts no instructions"},
	};
	struct table t;

	each (c, cases) {
		table_init(&t, "functions", NULL, 0);
		basis_note_event(&t, c->per, c->in, c->event);
		assert_int_equal(t.notes.n, c->says != NULL);
		if (c->says)
			small_store_says(&t, c->says);
		table_free(&t);
	}
}

TEST(pass_with_the_cheapest_instruments_gives_the_figures)
{
	static const struct {
		const char *passes[4];
		double busy;
		const char *doubt;
	} cases[] = {
		{{"profile", "syscalls", "all", "measure"}, 4, NULL},
		{{"profile", "syscalls", "all"}, 3, "every collector ran at once"},
		{{"profile", "syscalls"}, 2, "no measure run is selected"},
		{{"profile"}, 1, "no measure run is selected"},
		{{"own", "other"}, 1, "no measure run is selected"},
	};

	each (c, cases) {
		struct store *s = small_store();
		struct table t;

		for (size_t k = 0; k < 4 && c->passes[k]; k++)
			small_store_metric(s,
					   small_store_run(s, (struct run){.pass = c->passes[k],
									   .position = (int)k + 1}),
					   "cpu_pct", (double)k + 1);
		t = small_store_table(s, "cpu", (struct query){0});
		assert_int_equal(table_real(&t, 0, "runs"), 1);
		assert_float_equal(table_real(&t, 0, "busy_pct"), c->busy, 0);
		if (c->doubt)
			small_store_says(&t, c->doubt);
		else
			assert_false(small_store_noted(&t, "throughput and CPU include the cost"));
	}
}

/* Each side has other programs for 1 %, 2 % and so on. From nine sides on, a note has the range. */
TEST(time_of_other_programs_is_listed_for_eight_sides)
{
	struct store *s = small_store();
	struct query q = {.workload_only = true};
	char variant[8];
	struct table t;
	int64_t run;

	for (int i = 0; i < 9; i++) {
		if (i == 8) {
			t = small_store_table(s, "cpu", q);
			small_store_says(
				&t,
				"in percent of one CPU: v0 receiver 0.0, v1 receiver 1.0, v2 receiver 2.0, v3 "
				"receiver 3.0, v4 receiver 4.0, v5 receiver 5.0, v6 receiver 6.0, v7 receiver 7.0");
		}
		snprintf(variant, sizeof(variant), "v%d", i);
		run = small_store_run(s, (struct run){.variant = variant, .position = i + 1});
		small_store_metric(s, run, "cpu_pct",
				   i ? 60 + i : 59); /* the clocks of v0 differ by -1 % */
		small_store_metric(s, run, "workload_cpu_pct", 60);
		small_store_metric(s, run, "threads_hold_irq", i == 1);
		small_store_metric(s, run, "workload_confined", i != 2);
	}
	t = small_store_table(s, "cpu", q);
	small_store_says(&t, "in percent of one CPU: 0.0 to 8.0; 'zcost report cpu' has each side");
	small_store_says(&t, "a thread's time includes the softirqs");
	small_store_says(&t, "a thread's time leaves out softirqs");
	small_store_says(&t, "v2 receiver: the threads may also run on CPUs outside");
	t = small_store_table(s, "cpu", (struct query){0});
	assert_false(small_store_noted(&t, "in percent of one CPU: 0.0"));
}

/* The plan has 2k before 1k and 4k. new is worse up to 2k and better from 4k on. */
TEST(sweep_has_the_values_in_their_order_and_a_crossover)
{
	static const char *const sizes[] = {"2k", "1k", "4k"}, *const lines[] = {"old", "new"};
	static const double rates[2][3] = {{10, 10, 10}, {9, 8, 12}};
	const double below = log(9.2 / 10.2), above = log(12.2 / 10.2);
	struct store *s = small_store();
	struct table t;
	int k;

	for (k = 0; k < 3; k++)
		for (int v = 0; v < 2; v++) {
			char name[16];

			snprintf(name, sizeof(name), "%s+%s", lines[v], sizes[k]);
			store_variant_add(s, name, NULL, lines[v], NULL);
			store_setting_add(s, name, "size", sizes[k], NULL);
			store_setting_add(s, name, "gro", "on", NULL);
			for (int r = 0; r < 5; r++)
				small_store_metric(
					s,
					small_store_run(
						s,
						(struct run){.variant = name,
							     .repeat = r + 1,
							     .position = 100 * k + 10 * r + v + 1}),
					"throughput", rates[v][k] + 0.1 * r);
		}
	t = small_store_table(s, "sweep", (struct query){0});
	cells_are(&t, "value = 1k 1k 2k 2k 4k 4k, variant = old new old new old new");
	small_store_column_is(&t, "under", "- - - - - -"); /* gro has one value */
	for (size_t i = 0; i < t.rows; i++) {
		assert_float_equal(table_real(&t, i, "number"), 1024 << i / 2, 0);
		row_is(&t, i, "runs = 5, metric = throughput_gbps");
	}
	cells_are(&t, "3 estimate = 9.2, 3 estimate.low = 9");
	assert_int_equal(t.detail->rows, 1);
	row_is(t.detail, 0, "kind = begins, base = old, new = new");
	assert_float_equal(table_real(t.detail, 0, "at"), 2048 * (1 + below / (below - above)),
			   1e-6);
	row_is(t.detail, 0, "better = 1, worse = 2, values = 3");
	small_store_says(
		&t,
		"receiver throughput_gbps: new is worse than old up to size = 2k; better at size = 4k; the lines cross at size = 2.73k (95 %: ");
	t = small_store_table(s, "sweep", (struct query){.variant = "old+*"});
	small_store_column_is(&t, "value", "1k 2k 4k");
	assert_int_equal(t.detail->rows, 0);
	small_store_refuses(s, "sweep", (struct query){.setting = "gro"}, -ENODATA, "");
	small_store_refuses(s, "sweep", (struct query){.setting = "colour"}, -EINVAL, "");
}

/* In a slice, tables whose figures are totals of the window are empty for that reason. */
TEST(tables_that_a_slice_empties_say_so)
{
	static const char *const tables[] = {"waits", "virt", "latency", "tcp", "sizes"};
	struct store *s = small_store();
	struct table t;

	small_store_run(s, (struct run){0});
	store_capture_put(s, "slice_absent", "the account's total, waits, frame, tcp", NULL);
	each (name, tables) {
		t = small_store_table(s, *name, (struct query){0});
		assert_int_equal(t.rows, 0);
		small_store_says(&t, "not the part between --from and --to");
	}
}
