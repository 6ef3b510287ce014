// SPDX-License-Identifier: GPL-2.0-only
/* Tables of stores that are small enough to work out every figure by hand. */
#include "analyze/measures/call_tree.h"
#include "analyze/measures/runs.h"
#include "tests/unit/small_store.h"

#include <errno.h>
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

static void test_calls_of_equal_time_are_in_order_of_name_command_and_thread(void **state)
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
	size_t i;

	(void)state;
	for (i = 0; i < array_size(rows); i++)
		add_syscall(s, run, (int)i, rows[i].name, rows[i].comm, rows[i].tid, rows[i].ns);
	t = small_store_table(s, "syscalls", q);
	small_store_column_is(&t, "syscall", "zz read read read write");
	small_store_column_is(&t, "comm", "z a a b a");
	assert_int_equal(table_real(&t, 1, "tid"), 2);
	assert_int_equal(table_real(&t, 2, "tid"), 3);
	table_free(&t);
	t = small_store_table(s, "syscalls", (struct query){.by = "syscall"});
	small_store_column_is(&t, "syscall", "read zz write");
	assert_int_equal(table_real(&t, 0, "calls"), 3);
	table_free(&t);
	q.limit = 2;
	t = small_store_table(s, "syscalls", q);
	small_store_column_is(&t, "syscall", "zz read");
	table_free(&t);
	q.limit = 5;
	t = small_store_table(s, "syscalls", q);
	assert_int_equal(t.rows, 5);
	table_free(&t);
	small_store_close(s);
}

/*
 * 2 calls of 128 to 256 ns, none shorter than 150, and 2 of 512 to 1024 ns, none longer than 900.
 * The mean is 500 ns, and m2 / 3 / 4 = 10000 is the square of a standard error of 100 ns, 20 %.
 */
static void test_figures_of_a_call_come_from_sums_and_buckets(void **state)
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

	(void)state;
	r.time_hist[7] = r.time_hist[9] = 2;
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	r = (struct syscall_row){.name = "poll", .comm = "c", .pid = 7, .tid = 7, .unfinished = 1};
	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	small_store_metric(s, run, "rate_kib", 2);
	small_store_metric(s, run, "seconds", 2);
	t = small_store_table(s, "syscalls", (struct query){0});
	small_store_column_is(&t, "syscall", "recvfrom poll");
	assert_float_equal(table_real(&t, 0, "total_ms"), 0.002, 1e-12);
	assert_float_equal(table_real(&t, 0, "min_ms"), 0.00015, 1e-12);
	assert_float_equal(table_real(&t, 0, "avg_ms"), 0.0005, 1e-12);
	assert_float_equal(table_real(&t, 0, "max_ms"), 0.0009, 1e-12);
	assert_float_equal(table_real(&t, 0, "stddev_pct"), 20, 1e-9);
	assert_float_equal(table_real(&t, 0, "p50_ms"), 0.000256, 1e-12);
	/* 1.96 of the 2 calls in 512 to 900 ns */
	assert_float_equal(table_real(&t, 0, "p99_ms"), 0.00089224, 1e-12);
	assert_float_equal(table_real(&t, 0, "bytes_per_call"), 250, 0);
	assert_float_equal(table_real(&t, 0, "calls_per_mib"), 1024, 1e-9);
	assert_float_equal(table_real(&t, 0, "ns_per_kib"), 500, 1e-9);
	assert_true(isnan(table_real(&t, 1, "avg_ms"))); /* no call of poll has returned */
	assert_true(isnan(table_real(&t, 1, "p50_ms")));
	table_free(&t);
	small_store_close(s);
}

/* A run whose first frame comes late has no weight in the frames before it. */
static void test_frames_without_samples_have_zero_weight_and_samples(void **state)
{
	struct call_tree tree;
	char name[] = "a";
	uint32_t i;

	(void)state;
	mallopt(M_PERTURB, 165); /* fresh memory is not zero */
	call_tree_init(&tree, false);
	for (; *name <= 't'; ++*name)
		call_tree_add_root(&tree, 0, name, 2, 3);
	call_tree_add_root(&tree, 1, "t", 5, 7);
	assert_int_equal(tree.nruns, 2);
	for (i = 0; i < 20; i++) {
		assert_float_equal(tree.runs[0].weight[i], 2, 0);
		assert_int_equal(tree.runs[0].samples[i], 3);
		assert_float_equal(tree.runs[1].weight[i], i == 19 ? 5 : 0, 0);
		assert_int_equal(tree.runs[1].samples[i], i == 19 ? 7 : 0);
	}
	call_tree_free(&tree);
	mallopt(M_PERTURB, 0);
}

static void test_timeline_counts_seconds_from_the_windows_start(void **state)
{
	struct query q = {.name = "power_w:*"};
	struct store *s = small_store();
	struct error err = {0};
	struct table t;
	int64_t run = small_store_run(s, (struct run){0});

	(void)state;
	assert_int_equal(measure_run("timeline", s, &q, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "it has: none"));
	table_free(&t);
	store_series_put(s, run, "power_w:wall", 9500000000, 60, NULL);
	store_series_put(s, run, "power_w:wall", 11000000000, 80, NULL);
	store_series_put(s, run, "tcp_retransmits_per_s", 11000000000, 4, NULL);
	t = small_store_table(s, "timeline", q);
	assert_int_equal(t.rows, 2);
	assert_float_equal(table_real(&t, 0, "t_s"), -0.5, 1e-12);
	assert_float_equal(table_real(&t, 1, "t_s"), 1, 1e-12);
	assert_float_equal(table_real(&t, 1, "seconds"), 2, 1e-12);
	assert_float_equal(table_real(&t, 1, "value"), 80, 0);
	small_store_column_is(&t, "unit", "W W");
	table_free(&t);
	q = (struct query){.limit = 1};
	t = small_store_table(s, "timeline", q);
	small_store_column_is(&t, "name", "power_w:wall");
	table_free(&t);
	q.name = "power";
	err = (struct error){0};
	assert_int_equal(measure_run("timeline", s, &q, &t, &err), -ENOENT);
	assert_non_null(strstr(err.text, "it has: power_w:wall, tcp_retransmits_per_s"));
	table_free(&t);
	small_store_close(s);
}

static void test_side_without_a_complete_run_has_no_host(void **state)
{
	struct store *s = small_store();
	struct run_facts f;

	(void)state;
	small_store_run(s, (struct run){.status = "failed"});
	f = run_facts_of(s, "v", "receiver");
	assert_null(f.host);
	assert_null(f.command);
	run_facts_free(&f);
	small_store_run(s, (struct run){.repeat = 2});
	f = run_facts_of(s, "v", "receiver");
	assert_string_equal(f.host, "h");
	run_facts_free(&f);
	small_store_close(s);
}

static void test_cpu_by_refuses_options_that_its_key_cannot_serve(void **state)
{
	struct cpuset cpus = {0};
	const struct {
		struct query q;
		const char *says;
	} refused[] = {
		{{.by = "colour"}, "not 'colour'"},
		{{.by = "cpu,comm"}, "not 'cpu,comm'"},
		{{.by = "comm", .cpus = &cpus}, "--cpu needs --by cpu"},
		{{.by = "cpu", .comm = "x"}, "--comm needs --by comm"},
		{{.by = "cpu", .workload_only = true}, "--workload-only needs --by comm"},
	};
	struct store *s = small_store();
	size_t i;

	(void)state;
	for (i = 0; i < array_size(refused); i++) {
		struct error err = {0};
		struct table t;

		assert_int_equal(measure_run("cpu", s, &refused[i].q, &t, &err), -EINVAL);
		assert_non_null(strstr(err.text, refused[i].says));
		table_free(&t);
	}
	small_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_of_equal_time_are_in_order_of_name_command_and_thread),
		cmocka_unit_test(test_figures_of_a_call_come_from_sums_and_buckets),
		cmocka_unit_test(test_frames_without_samples_have_zero_weight_and_samples),
		cmocka_unit_test(test_timeline_counts_seconds_from_the_windows_start),
		cmocka_unit_test(test_side_without_a_complete_run_has_no_host),
		cmocka_unit_test(test_cpu_by_refuses_options_that_its_key_cannot_serve),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
