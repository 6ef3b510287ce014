// SPDX-License-Identifier: GPL-2.0-only
/* Every parser of a raw file, on text whose figures are worked out by hand. Window: [10 s, 13 s].
 */
#include "analyze/probes/power/parser.h"
#include "analyze/probes/tsv.h"
#include "tests/unit/ingested.h"

#include <sys/stat.h>

static const uint64_t S = 1000000000;

static void fresh(const char *cpus)
{
	ingest_start((struct ingest){0});
	in.run.start_ns = 10 * S;
	in.run.end_ns = 13 * S;
	in.run.side = "receiver";
	in.run.cpus = cpus;
	in.started_ns = 8 * S;
	in.ended_ns = 14 * S;
	in.has_cpus = cpus != NULL;
	if (cpus)
		assert_int_equal(cpuset_parse(&in.cpus, cpus, NULL), 0);
	in.run.ncpus = cpus ? (int)cpuset_count(&in.cpus) : 0;
	unlink(path);
}

/* Reads a file with these readings: READ("1", "softnet.snap", {10, "1 2 3\n"}, {13, "2 3 4\n"}). */
#define READ(cpus, file, ...) (fresh(cpus), read_readings(file, READINGS(__VA_ARGS__)))

static bool lossy(const struct ingest *in)
{
	return notes_have(&in->notes, SEVERITY_LOSSY);
}

static void add_snap(double seconds, const char *text)
{
	append_snap(path, seconds, text, strlen(text));
}

/* Adds a text that is no snapshot. */
static void append_text(const char *text)
{
	FILE *f = fopen(path, "a");

	fputs(text, f);
	fclose(f);
}

/* The value of the last point of a series, NaN: there is none. */
static double last_point(const struct ingest *in, const char *series)
{
	for (size_t i = in->nseries; i-- > 0;)
		if (!strcmp(in->series[i].name, series))
			return in->series[i].value;
	return NAN;
}

static void check_row(const struct tsv *t, size_t row, const char *a, const char *b, const char *c)
{
	const char *want[] = {a, b, c};

	for (int i = 0; i < 3; i++)
		assert_string_equal(tsv_cell(t, row, i), want[i]);
}

TEST(whole_numbers_are_decimal)
{
	uint64_t n;

	assert_true(parse_u64("010", &n));
	assert_int_equal(n, 10);
	assert_false(parse_u64("0x10", &n));
	assert_false(parse_u64("+1", &n));
	assert_false(parse_u64("18446744073709551616", &n));
}

TEST(cells_lose_their_quotes_and_blanks)
{
	struct tsv t;

	put_raw("\xef\xbb\xbf# a comment\n\nTime; \"Power, W\" ;c\n"
		"1;\"\";\"\n"
		"  \n"
		"2; 3,5 ;\"x\n"
		"cut;short\n"
		"3;x\";\"a;b\"\n");
	assert_int_equal(tsv_read(&t, path, 0, &err), 0);
	assert_int_equal(t.ncolumns, 3);
	assert_int_equal(tsv_column(&t, "power, w"), 1);
	assert_int_equal(tsv_column(&t, "power"), -1);
	assert_int_equal(t.rows, 3);
	assert_int_equal(t.bad, 1);
	check_row(&t, 0, "1", "", "\"");
	check_row(&t, 1, "2", "3,5", "\"x");
	check_row(&t, 2, "3", "x\"", "\"a"); /* a quote does not protect a separator */
	assert_string_equal(tsv_cell(&t, 0, -1), "");
	tsv_free(&t);
	put_raw("# nothing\n");
	assert_int_equal(tsv_read(&t, path, 0, &err), -ENODATA);
	/* A raw file has no comments: a thread may be named so. */
	put_raw("comm\tcalls\n#worker\t3\n");
	assert_int_equal(tsv_read(&t, path, '\t', &err), 0);
	assert_string_equal(tsv_cell(&t, 0, 0), "#worker");
	tsv_free(&t);
}

TEST(table_has_all_of_its_rows)
{
	freed(str_free) struct str s = {0};
	struct tsv t;

	str_puts(&s, "a,b\n");
	for (size_t i = 0; i < 300; i++)
		str_printf(&s, "%zu,x%zu\n", i, i);
	put_raw(s.buf);
	assert_int_equal(tsv_read(&t, path, 0, &err), 0);
	assert_int_equal(t.rows, 300);
	for (size_t i = 0; i < 300; i++) {
		assert_int_equal(atoi(tsv_cell(&t, i, 0)), i);
		assert_int_equal(atoi(tsv_cell(&t, i, 1) + 1), i);
	}
	tsv_free(&t);
}

TEST(cpu_interpolates)
{
	/* Snapshots at 9, 11, 14 s. CPU 1: 200 ticks user of 200, then 90 softirq of 300. In the
	 * window: half of the first span, two thirds of the second: 100 user, 60 softirq ticks. */
	READ("1", "proc_stat.snap",
	     {9, "cpu  9 9 9 9\ncpu0 7 7 7 7 0 0 0 0 0 0\ncpu1 100 0 0 50 0 0 0 0 40 0\n"},
	     {11, "cpu0 7 7 7 207 0 0 0 0 0 0\ncpu1 300 0 0 50 0 0 0 0 240 0\n"},
	     {14, "cpu0 7 7 7 507 0 0 0 0 0 0\ncpu1 300 0 0 260 0 0 90 0 240 0\n"});
	/* guest counts once */
	metrics_are(&in, "cpu_user_pct = 33.3333333333, cpu_softirq_pct = 20, "
			 "cpu_idle_pct = 46.6666666667, cpu_pct = 53.3333333333, "
			 "busy_ns = 1600000000, busy_ns:cpu1 = 1600000000, busy_ns:cpu0 = -, "
			 "notes = 0, points = 2");
	assert_float_equal(in.series[0].value, 100, 1e-9);
}

TEST(number_of_a_cpu_is_decimal)
{
	READ("10", "proc_stat.snap", {10, "cpu9 0 0 0 0 0 0 0 0\ncpu10 0 0 0 0 0 0 0 0\n"},
	     {13, "cpu9 300 0 0 0 0 0 0 0\ncpu10 0 0 30 270 0 0 0 0\n"});
	assert_float_equal(metric(&in, "cpu_pct"), 10, 1e-9);
}

TEST(cpu_awkward)
{
	/* CPU 1 is offline at 12 s; iowait of CPU 0 steps back. */
	READ("0-1", "proc_stat.snap", {10, "cpu0 0 0 0 0 50 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n"},
	     {11, "cpu0 0 0 100 0 40 0 0 0\ncpu1 100 0 0 0 0 0 0 0\n"},
	     {12, "cpu0 0 0 200 0 40 0 0 0\n"},
	     {13, "cpu0 0 0 300 0 40 0 0 0\ncpu1 100 0 0 0 0 0 0 0\n"});
	metrics_are(&in, "cpu_pct = 133.333333333, cpu_iowait_pct = 0, note cpu_hotplug = +");
	assert_false(lossy(&in));
}

/* Before the window CPU 1 goes offline, and its iowait steps back. */
TEST(only_the_window_has_notes_on_its_cpus)
{
	READ("1", "proc_stat.snap", {6, "cpu1 0 0 0 0 50 0 0 0\n"}, {7, "cpu1 0 0 0 90 40 0 0 0\n"},
	     {8, "cpu0 0 0 0 0 0 0 0 0\n"}, {9, "cpu1 0 0 0 200 40 0 0 0\n"},
	     {10, "cpu1 0 0 0 300 40 0 0 0\n"}, {13, "cpu1 60 0 0 540 40 0 0 0\n"},
	     {14, "cpu1 60 0 0 640 30 0 0 0\n"}, {15, "cpu0 0 0 0 0 0 0 0 0\n"});
	metrics_are(&in, "cpu_pct = 20, notes = 0");
}

/* 60 of 300 ticks are nowhere: idle is exact, so the rest was busy, half user and half softirq. */
TEST(cpu_lost_ticks)
{
	READ("1", "proc_stat.snap", {10, "cpu1 0 0 0 0 0 0 0 0\n"},
	     {13, "cpu1 60 0 0 100 20 0 60 0\n"});
	metrics_are(&in, "cpu_pct = 60, busy_ns = 1800000000, cpu_user_pct = 30, "
			 "cpu_softirq_pct = 30, cpu_idle_pct = 33.3333333333");
}

TEST(cpu_missing)
{
	fresh("1,5");
	add_snap(10, "cpu1 0 0 0 0 0 0 0 0\n");
	assert_int_equal(parse_file(&in, "proc_stat.snap", path, NULL), -ENODATA);
	add_snap(12.4, "cpu1 240 0 0 0 0 0 0 0\n"); /* 80 % of the window */
	read_raw(&in, "proc_stat.snap");
	metrics_are(&in, "note cpu_missing = +, note coverage_too_small = +, cpu_pct = -");
	fresh("1");
	add_snap(10, "cpu1 0 0 0 0 0 0 0 0\n");
	add_snap(12.97, "cpu1 297 0 0 0 0 0 0 0\n"); /* 99 %: rates over it, no loss */
	read_raw(&in, "proc_stat.snap");
	metrics_are(&in, "cpu_pct = 100, busy_ns = 3e9");
	assert_false(lossy(&in));
	fresh("7");
	add_snap(10, "cpu1 0 0 0 0 0 0 0 0\n");
	add_snap(12.97, "cpu1 297 0 0 0 0 0 0 0\n");
	read_raw(&in, "proc_stat.snap");
	assert_non_null(noted(&in, NOTE_file_damaged));
	assert_int_equal(in.nseries, 0);
}

/* Reads 3 s of CPU 1 from 0 on. */
static void cpu_1(const char *cpus, const char *ticks)
{
	autofree char *end = xasprintf("cpu1 %s\n", ticks);

	READ(cpus, "proc_stat.snap", {10, "cpu1 0 0 0 0 0 0 0 0\ncpu2 1 1 1\n"}, {13, end});
}

TEST(busy_cpu_without_ticks_has_no_user_time)
{
	cpu_1("1", "0 0 0 0 0 0 0 0");
	metrics_are(&in, "cpu_pct = 100, cpu_user_pct = 0, cpu_user_pct:cpu1 = 0");
}

/* A line needs the four oldest fields: CPU 2 has three. */
TEST(side_without_a_list_has_the_cpus_of_the_file)
{
	cpu_1(NULL, "30 0 0 270");
	assert_int_equal(in.run.ncpus, 1);
	metrics_are(&in, "cpu_pct = 10, cpu_user_pct = 10");
	cpu_1("1,5", "30 0 0 270");
	assert_int_equal(in.run.ncpus, 2);
	assert_float_equal(noted_number(&in, NOTE_cpu_missing), 1, 0);
}

/* 3 ticks are 1 % of 3 s. */
TEST(steal_above_1_percent_is_noted)
{
	cpu_1("1", "0 0 0 297 0 0 0 3");
	metrics_are(&in, "note cpu_stolen = -, cpu_steal_pct = 1");
	cpu_1("1", "0 0 0 296 0 0 0 4");
	assert_float_equal(noted_number(&in, NOTE_cpu_stolen), 4 / 3.0, 1e-9);
}

/* A window in which 1 % is 2^25 ns: every figure below is exact. */
static const uint64_t PERCENT = 1 << 25;

/* What other programs took where the workload ran `run` % of a CPU, `user` % in user mode. */
struct others {
	double cpu_user, cpu, run, user;
	double expected, noted; /* NAN: no figure, no note */
};

static void check_others(const struct others *o, double confined, double workload)
{
	struct thread_row *row;

	fresh("1");
	in.run.end_ns = in.run.start_ns + 100 * PERCENT;
	in.workload_whole = true;
	ingest_metric(&in, "cpu_user_pct", "%", o->cpu_user);
	ingest_metric(&in, "cpu_pct", "%", o->cpu);
	ingest_metric(&in, "workload_confined", "1", confined);
	ingest_metric(&in, "workload_cpu_pct", "%", workload);
	row = ingest_thread(&in, 7, 7);
	row->run_ns = o->run * (double)PERCENT;
	row->user_ns = o->user * (double)PERCENT;
	ingest_thread(&in, 7, 8); /* it did not run in the window */
	ingest_others(&in);
	if (isnan(o->expected))
		assert_true(isnan(metric(&in, "others_user_pct")));
	else
		assert_float_equal(metric(&in, "others_user_pct"), o->expected, 0);
	if (isnan(o->noted))
		assert_null(noted(&in, NOTE_cpu_others));
	else
		assert_float_equal(noted_number(&in, NOTE_cpu_others), o->noted, 1e-6);
}

TEST(user_time_of_others_is_what_no_thread_used)
{
	static const struct others rows[] = {
		{50, 60, 20, 20, 30, 50},
		{50, 60, 40, 20, 30, 50},   /* its time in the kernel is no user time */
		{50, 60, 20, NAN, 30, 50},  /* it ended, and all of its time may be user time */
		{28, 60, 30, 30, 0, NAN},   /* the two clocks may differ by 2 % */
		{27, 60, 30, 30, NAN, NAN}, /* it ran on other CPUs, too */
		{NAN, 60, 30, 30, NAN, NAN},
		{22, 10, 20, 20, 2, NAN}, /* up to 2 % nobody has to be there */
		{22 + 0x1p-25, 10, 20, NAN, 2 + 0x1p-25, 20},
		{23, 10, 20, 20, 3, 30},
		{26, 60, 20, 20, 6, NAN}, /* a tenth of the busy time */
		{27, 60, 20, 20, 7, 100 * 7 / 60.0},
		/* a tick, 0.298 %, may be user time of the workload, but not more than it ran */
		{22.25, 10, 90, 20, 2.25, NAN},
		{22.25, 10, 20.125, 20, 2.25, 22.5},
		{22.25, 10, 10, 20, 2.25, 22.5},
	};

	each (r, rows)
		check_others(r, NAN, NAN);
}

/* All that a workload runs is on the side's CPUs: the rest of their busy time is the limit. */
TEST(user_time_of_others_is_at_most_their_busy_time)
{
	static const struct others limited = {50, 60, 20, 20, 15, 25},
				   free_to_roam = {50, 60, 20, 20, 30, 50};

	check_others(&limited, 1, 45);
	check_others(&free_to_roam, 0, 45);
}

TEST(counters)
{
	fresh("1-2");
	put_raw("event\tcpu\tvalue\tenabled_ns\trunning_ns\n"
		"cycles\t0\t999\t100\t100\n"
		"cycles\t1\t1000\t100\t50\n"
		"cycles\t2\t3000\t100\t100\n"
		"cache-misses\t1\t0\t100\t0\n"
		"context-switches\t1\t7\t100\t100\n"
		"broken line\n");
	read_raw(&in, "counters.tsv");
	metrics_are(&in, "counter:cycles = 5000, counter_running:cycles = 75, "
			 "counter:cache-misses = -, counter:context-switches = 7, "
			 "counter_running:context-switches = -, note counter_not_scheduled = +, "
			 "note rows_unreadable = 1");
	put_raw("event\tcpu\tvalue\n");
	assert_int_equal(parse_file(&in, "counters.tsv", path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "enabled_ns"));
	put_raw("");
	assert_int_equal(parse_file(&in, "counters.tsv", path, NULL), -ENODATA);
}

/* Reads the rows of events of CPUs 1 and 2. */
static void counted(const char *rows)
{
	char *text = xasprintf(
		"event\tcpu\tvalue\tenabled_ns\trunning_ns\tgroup\tscope\tscale\tunit\tstate\n%s",
		rows);

	fresh("1-2");
	put_raw(text);
	read_raw(&in, "counters.tsv");
	free(text);
}

TEST(counter_with_a_negative_scale_is_unreadable)
{
	counted("energy\t1\t8\t100\t100\t0\tcpu\t-91\tJ\t\n");
	metrics_are(&in, "counter:energy = -, note rows_unreadable = 1");
}

TEST(counter_has_its_scale_unit_and_group)
{
	counted("energy\t1\t8\t100\t100\t0\tsocket\t0.5\tJ\t\n"
		"energy\t0\t4\t100\t100\t0\tsocket\t0.5\tJ\t\n"
		"cycles\t1\t7\t100\t100\t1\t\t\t\t\n"
		"cycles\t1\t9\t100\t50\t2\t\t\t\t\n"
		"tree\t-1\t6\t100\t100\t0\t\t\t\t\n"
		"bad\t1\t6\t100\t100\t0\t\tmuch\t\t\n"
		"bad\t1\t6\t100\tx\t0\t\t\t\t\n");
	assert_float_equal(metric(&in, "counter:energy"), 6, 0); /* all CPUs of the sockets count */
	assert_string_equal(in.metrics[0].unit, "J");
	metrics_are(&in, "counter:cycles = 7, counter_group:cycles = 1, counter:cycles@2 = 18, "
			 "counter_running:cycles@2 = 50, counter_group:cycles@2 = 2, "
			 "counter:tree = 6, counter_group:tree = -, metrics = 7, "
			 "note rows_unreadable = 2, notes = 1");
	assert_string_equal(in.metrics[1].unit, "1");
}

/* A counter that no hardware counted, or that is not supported, is missing and not 0. */
TEST(counter_that_was_not_counted_is_missing)
{
	const struct note *n;

	counted("new\t1\t\t\t\t0\t\t\t\tnot-supported\n"
		"part\t1\t5\t100\t100\t0\t\t\t\t\n"
		"part\t2\t0\t100\t0\t0\t\t\t\t\n"
		"part\t0\t0\t100\t0\t0\t\t\t\t\n"
		"off\t1\t0\t0\t0\t0\t\t\t\t\n"
		"brief\t1\t5\t1\t1\t0\t\t\t\t\n"
		"back\t1\t9223372036854775808\t100\t100\t0\t\t\t\t\n"
		"most\t1\t9223372036854775807\t100\t100\t0\t\t\t\t\n");
	metrics_are(&in, "counter_not_supported:new = 1, counter_not_counted:new = -, "
			 "counter:part = -, counter_not_counted:part = 1");
	n = noted(&in, NOTE_counter_not_scheduled);
	assert_string_equal(n->value[0].text, "part");
	assert_float_equal(n->value[1].number, 1, 0);
	assert_float_equal(n->value[2].number, 2, 0);
	/* one nanosecond is enough */
	metrics_are(&in, "counter:off = -, counter_not_counted:off = 0, counter:brief = 5, "
			 "counter:back = -, counter:most = 9.22337203685e+18, "
			 "note rows_unreadable = -, note known_partly = -");
	assert_true(noted_text(&in, NOTE_counter_reset, "back"));
	assert_false(noted_text(&in, NOTE_counter_not_scheduled, "back"));
}

TEST(power_arithmetic)
{
	/* 100 W at 8 s, 300 W at 12 s, 300 W at 14 s; over [10, 13]: 200 -> 300 for 2 s, 300 for 1
	 */
	struct reading w[] = {{8 * S, 100}, {12 * S, 300}, {14 * S, 300}};
	struct reading j[] = {{8 * S, 50}, {12 * S, 850}, {14 * S, 1450}};
	struct reading twice[] = {{10 * S, 5}, {10 * S, 6}, {13 * S, 20}};

	assert_float_equal(readings_integrate(w, 3, 10 * S, 13 * S), 800, 1e-9);
	assert_float_equal(readings_integrate(w, 3, 12 * S, 12 * S), 0, 0);
	assert_float_equal(readings_integrate(w, 2, 10 * S, 13 * S), 500, 1e-9);
	assert_float_equal(readings_difference(j, 3, 10 * S, 13 * S), 1150 - 450, 1e-9);
	assert_float_equal(readings_difference(twice, 3, 10 * S, 13 * S), 20 - 6, 0);
	assert_true(isnan(readings_difference(j, 1, 10 * S, 13 * S)));
}

static void read_power(const char *rows)
{
	autofree char *text = xasprintf("source\tdomain\tt_ns\tmicrojoules\twatts\n%s", rows);

	put_raw(text);
	read_raw(&in, "power.tsv");
	power_put(&in);
}

TEST(power_domains)
{
	fresh("1");
	read_power("powercap\tpackage-0\t10000000000\t5000000\t\n"
		   "powercap\tpackage-0\t13000000000\t35000000\t\n"
		   "powercap\tpackage-0/core\t10000000000\t0\t\n"
		   "powercap\tpackage-0/core\t13000000000\t9000000\t\n"
		   "powercap\tdram\t10000000000\t0\t\n"
		   "powercap\tdram\t13000000000\t6000000\t\n"
		   "hwmon\tpsu\t10000000000\t\t99\n"
		   "hwmon\tpsu\t13000000000\t\t99\n");
	/* 10 + 2, not the core's 3 again */
	metrics_are(&in, "power_w:package = 12, energy_j:package = 36, "
			 "power_w:package/powercap/package-0/core = 3, "
			 "power_w:other/hwmon/psu = 99, power_w:other = -, power_w:wall = -, "
			 "note rows_unreadable = -");
	/* A counter has the mean power since its last reading, a meter its readings. */
	metrics_are(&in, "last power_w:package/powercap/package-0 = 10, "
			 "last power_w:package/powercap/dram = 2, last power_w:package = 12, "
			 "last power_w:other/hwmon/psu = 99, points = 6");
}

/* An energy of 0 is a figure, readings of less than nine tenths of the window are none. */
TEST(readings_of_power_cover_the_window)
{
	fresh("1");
	in.run.end_ns = 10 * S + S / 2; /* seconds of the window: less than 1 */
	read_power("powercap\tpackage-0\t10000000000\t5000000\t\n"
		   "powercap\tpackage-0\t10500000000\t5000000\t\n"
		   "powercap\tdram\t10000000000\t0\t\n"
		   "powercap\tdram\t10400000000\t6000000\t\n");
	metrics_are(&in, "power_w:package/powercap/package-0 = 0, "
			 "power_w:package/powercap/dram = -, "
			 "note coverage_too_small[0] = power of powercap dram, "
			 "note coverage_too_small[1] = 0.4, power_w:package = -");
}

TEST(bad_rows_of_power_are_counted)
{
	fresh("1");
	read_power("hwmon\tpsu\t10000000000\t\t99\nhwmon\tpsu\tsoon\t\t99\n"
		   "hwmon\tpsu\t11000000000\t\tmuch\nhwmon\n"
		   "hwmon\tlone\t11000000000\t\t5\n"
		   "hwmon\tpsu\t13000000000\t\t99\n");
	metrics_are(&in, "note rows_unreadable = 3, power_w:other/hwmon/psu = 99, "
			 "power_w:other/hwmon/lone = -, note coverage_too_small[1] = 0");
	unlink(path);
	assert_int_equal(parse_file(&in, "power.tsv", path, &err), -ENOENT);
	put_raw("source\tdomain\n");
	assert_int_equal(parse_file(&in, "power.tsv", path, NULL), -EBADMSG);
}

/* Readings of two domains less than 50 ms apart make one point of their sum. */
TEST(total_power_needs_every_domain_at_a_time)
{
	const struct reading a[] = {{10 * S, 1}, {11 * S, 2}, {12 * S, 3}, {13 * S, 4}},
			     b[] = {{10 * S + 49999999, 10}, {11 * S + 50000000, 20}, {13 * S, 40}},
			     core[] = {{10 * S, 500}, {13 * S, 500}};
	size_t n = 0;

	fresh("1");
	power_add(&in, "package", "powercap", "package-0", 1, NULL);
	power_add(&in, "package", "powercap", "package-1", 10, NULL);
	power_add(&in, "package", "powercap", "package-1/core", 500, NULL);
	power_add(&in, "wall", "csv", "m", 70, NULL);
	readings_add_series(&in, "package", "powercap", "package-0", a, 4, false);
	readings_add_series(&in, "package", "powercap", "package-1", b, 3, false);
	readings_add_series(&in, "package", "powercap", "package-1/core", core, 2, false);
	power_put(&in);
	for (size_t i = 0; i < in.nseries; i++)
		if (!strcmp(in.series[i].name, "power_w:package")) {
			assert_float_equal(in.series[i].value, n ? 44 : 11, 1e-9);
			assert_int_equal(in.series[i].t_ns, n ? 13 * S : 10 * S);
			n++;
		}
	assert_int_equal(n, 2);
}

/* A meter's log may be hours longer: 10 s around the window are in the series. */
TEST(series_of_a_meter_ends_10_s_from_the_window)
{
	const struct reading r[] = {{20 * S - 1, 1}, {20 * S, 2}, {43 * S, 3}, {43 * S + 1, 4}},
			     joules[] = {{30 * S, 10}, {31 * S, 12}, {31 * S, 12}, {32 * S, 15}};

	fresh("1");
	in.run.start_ns = 30 * S;
	in.run.end_ns = 33 * S;
	readings_add_series(&in, "wall", "csv", "m", r, 4, false);
	assert_int_equal(in.nseries, 2);
	assert_int_equal(in.series[0].t_ns, 20 * S);
	assert_int_equal(in.series[1].t_ns, 43 * S);
	readings_add_series(&in, "package", "powercap", "p", joules, 4, true);
	assert_int_equal(in.nseries, 4);
	assert_float_equal(in.series[2].value, 2, 1e-9);
	assert_float_equal(in.series[3].value, 3, 1e-9);
}

/* Every kind at once: none is in another's sum, and two sources of one kind are not added. */
TEST(power_kinds)
{
	double two[] = {230, NAN};

	fresh("1");
	read_power("powercap\tpsys\t10000000000\t0\t\n"
		   "powercap\tpsys\t13000000000\t60000000\t\n"
		   "powercap\tpackage-0\t10000000000\t0\t\n"
		   "powercap\tpackage-0\t13000000000\t30000000\t\n"
		   "other\tsensor\t10000000000\t\t99\n"
		   "other\tsensor\t13000000000\t\t99\n");
	metrics_are(&in, "power_w:platform = 20, power_w:package = 10, "
			 "power_w:other/other/sensor = 99, power_w:wall = -");
	/* Two meters of the wall are added; one that failed leaves no total, and no other source's.
	 */
	each (c, two) {
		fresh("1");
		power_add(&in, "wall", "csv", "meter.csv", 100, "imported");
		power_add(&in, "wall", "csv", "meter.csv", *c, "imported");
		power_add(&in, "wall", "command", "power", 250, NULL);
		power_put(&in);
		assert_float_equal(metric(&in, "power_w:wall/csv/meter.csv"), 100, 0);
		assert_string_equal(in.power[1].domain, "meter.csv (2)");
		if (isnan(*c))
			assert_true(isnan(metric(&in, "power_w:wall")));
		else
			assert_float_equal(metric(&in, "power_w:wall"), 330, 0);
	}
}

/* Polled programs: the power is interpolated at the window's start, and a heading is no reading. */
TEST(polled_programs_are_integrated_over_the_window)
{
	READ("1", "power-command.snap", {8.5, "# kind: package\n"}, {8.6, "PkgWatt\n"},
	     {11, "200\n"}, {9, "100 W\n"}, {13, "0.2 kW\n"});
	power_put(&in);
	metrics_are(&in, "power_w:package/command/power = 191.666666667, "
			 "power_w:package = 191.666666667, last power_w:wall = -, "
			 "last power_w:package/command/power = 200, note file_damaged = -, "
			 "note rows_unreadable[1] = 1, note rows_unreadable.severity = info");

	READ("1", "power-command.snap", {8.5, "# kind: wall\n"}, {9, "010\n"}, {13, "010\n"});
	power_put(&in);
	assert_float_equal(metric(&in, "power_w:wall/command/power"), 10, 1e-9);

	/* There is no such kind. */
	READ("1", "power-command.snap", {8.5, "# kind: packages\n"}, {9, "1\n"}, {13, "1\n"});
	power_put(&in);
	metrics_are(&in, "power_w:other/command/power = 1, note rows_unreadable = -");

	fresh("1");
	add_snap(9, "5\n"); /* no kind */
	add_snap(13, "5\n");
	append_text("@13");
	read_raw(&in, "power-command.snap");
	assert_true(noted_text(&in, NOTE_file_damaged, path));
	power_put(&in);
	assert_float_equal(metric(&in, "power_w:other/command/power"), 5, 1e-9);
	unlink(path);
	assert_int_equal(parse_file(&in, "power-command.snap", path, &err), -ENOENT);
}

static double read_meter(const struct meter *m, const char *text)
{
	double watts;

	put_raw(text);
	assert_int_equal(ingest_meter(&in, m, &watts, NULL), 0);
	return watts;
}

static double watts_of(const char *text)
{
	return read_meter(&(struct meter){.path = path}, text);
}

TEST(power_gap)
{
	struct str s = {0};

	fresh("1");
	str_puts(&s, "t;P (W)\n");
	for (int i = 90; i <= 140; i++)
		if (i <= 110 || i >= 120)
			str_printf(&s, "%d,%d;50\n", i / 10, i % 10);
	assert_float_equal(watts_of(s.buf), 50, 1e-9);
	metrics_are(&in, "note power_gap[1] = 1, note power_gap[2] = 1");
	str_free(&s);
	/* No reading lies in the window: all of it is a gap. */
	fresh("1");
	assert_float_equal(watts_of("t,W\n9,100\n14,100\n"), 100, 1e-9);
	metrics_are(&in, "note power_gap[1] = 5, note power_gap[2] = -1");
	/* steps of 0.5, 0.5, 1.6, 0.5, 1.7 and 0.5 s */
	fresh("1");
	watts_of("t,W\n9,1\n9.5,1\n10,1\n11.6,1\n12.1,1\n13.8,1\n14.3,1\n");
	metrics_are(&in, "note power_gap[1] = 1.7, note power_gap[2] = 2.1");
}

/* Of the window, [10 s, 13 s], a meter must cover nine tenths. */
TEST(meter_covers)
{
	fresh("1");
	assert_float_equal(watts_of("t,W\n10,100\n13,100\n"), 100, 1e-9);
	assert_false(lossy(&in));
	assert_false(notes_have(&in.notes, SEVERITY_WARNING));
	assert_float_equal(watts_of("t,W\n10.2,100\n11,100\n13,100\n"), 100, 1e-9);
	assert_non_null(noted(&in, NOTE_coverage_partial));
	assert_true(isnan(watts_of("t,W\n9,100\n12.6,100\n")));
	metrics_are(&in, "note coverage_too_small[1] = 2.6");
	assert_true(isnan(watts_of("t,W\n9,100\n")));
	/* A reading at an end of the window is inside it. */
	fresh("1");
	assert_float_equal(watts_of("t,W\n0,100\n13,100\n14,100\n"), 100, 1e-9);
	assert_float_equal(watts_of("t,W\n9,100\n10,100\n14,100\n"), 100, 1e-9);
	metrics_are(&in, "note rows_unreadable = -");
	watts_of("t,W\n-1,100\n9,100\n14,100\n");
	assert_float_equal(noted_number(&in, NOTE_rows_unreadable), 1, 0);
	fresh("1");
	/* lines in any order, one of them damaged */
	assert_float_equal(watts_of("t,W\n14,100\n11,oops\n9,100\n12,100\n"), 100, 1e-9);
	assert_non_null(noted(&in, NOTE_rows_unreadable));
}

/* The host's 8 s were 12:00:00 UTC of that day, which is 1769860800. The window begins 2 s later.
 */
TEST(meter_clocks)
{
	static const struct {
		const char *log;
		double watts, offset_s;
	} rows[] = {
		{"1769860801,10\n1769860806,20\n", 15, 0},
		{"2026-01-31T12:00:01Z,10\n2026-01-31T13:00:06.0+01:00,20\n", 15, 0},
		{"2026-01-31T12:00:01Z,10\n2026-01-31T12:00:03.25Z,10\n"
		 "2026-01-31T12:00:03.25Z,30\n2026-01-31 12:00:06.5 UTC,30\n",
		 (1.25 * 10 + 1.75 * 30) / 3, 0},
		{"2026/01/31 06:30:01 -0530,10\n2026-01-31 12:00:06 UTC,20\n", 15, 0},
		{"2026-01-31T12:00:01 noon,1\n2026-01-31T12:00:06,2\n", NAN, 0},
		{"2026-01-31T13:00:01,10\n2026-01-31T13:00:06,20\n", 15, -3600},
	};

	fresh("1");
	in.wall_clock = 1769860800;
	each (r, rows) {
		const struct meter m = {.path = path, .offset_s = r->offset_s};
		autofree char *text = xasprintf("t,W\n%s", r->log);
		double watts = read_meter(&m, text);

		assert_int_equal(isnan(watts), isnan(r->watts));
		if (!isnan(watts))
			assert_float_equal(watts, r->watts, 1e-6);
	}
}

/* All are 12:00:00 UTC, which is two seconds before the window, unless they are no date. */
TEST(zones_of_dates_are_hours_and_minutes)
{
	static const struct {
		const char *date;
		bool good;
	} rows[] = {
		{"2026-01-31T12:00:00", true},
		{"2026-01-31T12:00:00 utc", true},
		{"2026-01-31T12:00:00z", true},
		{"2026-01-31T14:00:00+02", true},
		{"2026-01-31T13:00:00+1:00", true},
		{"2026-01-31T17:30:00+0530", true},
		{"2026-01-31T06:30:00 -05:30", true},
		{"2026/01/31 12:00:00.0Z", true},
		{"2026-01-31T12:00:00*00", false},
		{"2026-01-31T12:00:00+00:00x", false},
		{"2026-01-31T12:00:00+00:x", false},
		{"2026-01-31T12:00:00+", false},
		{"2026-01-31x12:00:00", false},
		{"2026-01-31T12:00", false},
		{"2026-01-31", false},
		{"2026.01.31 12:00:00", false},
	};

	each (r, rows) {
		autofree char *text = xasprintf("t,W\n%s,0\n2026-01-31T12:00:06Z,60\n", r->date);
		double watts;

		fresh("1");
		in.wall_clock = 1769860800;
		watts = watts_of(text);
		if (r->good) /* 20 to 50 W in the window */
			assert_float_equal(watts, 35, 1e-6);
		else
			assert_true(isnan(watts));
		assert_int_equal(noted(&in, NOTE_rows_unreadable) != NULL, !r->good);
	}
}

TEST(unit_is_a_word_of_the_heading)
{
	static const char *const others[] = {"loadmW", "HmW", "AW", "P (MW)", "mw", "kWh"};
	double watts = 1;
	char *text;

	fresh("1");
	each (c, others) {
		text = xasprintf("t,%s\n9,40\n14,40\n", *c);
		put_raw(text);
		assert_int_equal(ingest_meter(&in, &(struct meter){.path = path}, &watts, &err),
				 -EBADMSG);
		assert_non_null(strstr(err.text, "no heading names watts"));
		free(text);
	}
	assert_float_equal(watts_of("t,x,P_mW,W\n9,1,40,7\n14,1,40,7\n"), 40e-3, 1e-12);
}

/* A comma may be the decimal point where it does not separate. A line may be too short. */
TEST(lines_of_a_meter_may_have_decimal_commas)
{
	fresh("1");
	assert_float_equal(watts_of("t;P (W)\n9,5;40,25\n11\n14,5;40,25\n"), 40.25, 1e-9);
	metrics_are(&in, "note rows_unreadable = 1");
	assert_true(isnan(watts_of("t;P (W)\n9,5;40,25,1\n14,5;40,25\n")));
	assert_float_equal(noted_number(&in, NOTE_rows_unreadable), 1, 0);
}

/* Each meter of the options is of one side or of all. The capture's logs are left alone then. */
TEST(meters_of_the_options_are_read_for_their_side)
{
	autofree char *own = xasprintf("%s/power.csv", dir);
	struct meter meters[] = {{.path = path, .side = "sender"},
				 {.path = path, .side = "receiver", .kind = "package"},
				 {.path = path}};

	fresh("1");
	in.dir = dir;
	in.how.meters = meters;
	in.how.nmeters = array_size(meters);
	put_raw("t,W\n9,40\n14,40\n");
	assert_int_equal(file_write(own, "t,kW\n9,70\n14,70\n", 16, NULL), 0);
	ingest_meters(&in);
	assert_int_equal(in.npower, 2);
	assert_string_equal(in.power[0].kind, "package");
	assert_string_equal(in.power[1].kind, "wall");
	assert_float_equal(in.power[1].watts, 40, 1e-9);
	/* An option without a log says how to read the capture's. */
	fresh("1");
	in.dir = dir;
	meters[0] = (struct meter){.kind = "platform"};
	in.how.meters = meters;
	in.how.nmeters = 1;
	ingest_meters(&in);
	assert_int_equal(in.npower, 1);
	assert_string_equal(in.power[0].kind, "platform");
	assert_float_equal(in.power[0].watts, 70e3, 1e-9);
	unlink(own);
}

/* From 1e9 s on, a time is of day: it needs to be known when the run was. */
TEST(meter_needs_the_time_of_day)
{
	static const struct {
		const char *text;
		int rc;
	} logs[] = {
		{"t,W\n2026-01-31T12:00:01,1\n", -EINVAL},
		{"t,W\n1000000000,1\n", -EINVAL},
		{"t,W\n999999999,1\n", 0},
		{"t,W\n", 0},
		{"t,W\nnever,1\n", 0},
	};
	double watts;

	fresh("1");
	each (c, logs) {
		put_raw(c->text);
		assert_int_equal(ingest_meter(&in, &(struct meter){.path = path}, &watts, &err),
				 c->rc);
		assert_true(isnan(watts));
	}
	assert_non_null(strstr(err.text, "run.json does not say when the run was"));
}

/* A FIFO in the place of the capture's own log is not read. */
TEST(log_of_the_capture_is_a_regular_file)
{
	autofree char *log = xasprintf("%s/power.csv", dir);
	const char *text = "t,W\n9,40\n14,40\n";

	fresh("1");
	in.dir = dir;
	assert_int_equal(file_write(log, text, strlen(text), NULL), 0);
	ingest_meters(&in);
	unlink(log);
	assert_int_equal(mkfifo(log, 0600), 0);
	ingest_meters(&in);
	unlink(log);
	assert_int_equal(in.npower, 2);
	assert_string_equal(in.power[0].domain, "power.csv");
	assert_float_equal(in.power[0].watts, 40, 1e-9);
	assert_true(isnan(in.power[1].watts));
	assert_true(noted_text(&in, NOTE_file_damaged, "not a regular file"));
}

static void workload(struct ingest *in, const char *units, const char *text)
{
	struct error err = {0};
	char file[64];
	int rc;

	snprintf(file, sizeof(file), "%s/workload.out", dir);
	assert_int_equal(file_write(file, text, strlen(text), NULL), 0);
	in->units = units;
	in->dir = dir;
	rc = ingest_workload(in, file, &err);
	unlink(file);
	if (rc)
		note_add(&in->notes, file_damaged, "workload", err.text);
	ingest_rate_in_window(in);
}

TEST(tcpzc_awkward)
{
	fresh("1");
	/* Unevenly spaced points: 3000 at the start (half of 2000..4000), 9000 at the end. The
	 * point at 12 s goes back and is left out. */
	workload(
		&in, "tcpzc",
		"{\"type\":\"point\",\"t_ns\":9000000000,\"bytes\":2000,\"messages\":2}\n"
		"{\"type\":\"point\",\"t_ns\":11000000000,\"bytes\":4000,\"messages\":4}\n"
		"{\"type\":\"point\",\"t_ns\":12000000000,\"bytes\":3000,\"messages\":4}\n"
		"warning: something else\n"
		"{\"type\":\"point\",\"t_ns\":15000000000,\"bytes\":14000,\"messages\":14}\n"
		"{\"type\":\"summary\",\"asks_zero_copy\":true,\"side\":\"receiver\",\"bytes\":14000,"
		"\"verify\":\"failed\",\"receive\":{\"calls\":3,\"mapped_bytes\":13000,"
		"\"copied_bytes\":1000},"
		"\"histograms\":{\"notify_ns\":{\"count\":7,\"p99\":900,\"log2\":{\"9\":7}},"
		"\"recv_bytes\":{\"max\":4096,\"log2\":{\"12\":3}}},\"ring_overflow\":2,"
		"\"send_retries\":{\"optmem_max\":4,\"memlock\":0},"
		"\"flows\":[{\"flow\":0},{\"flow\":1}]}\n");
	metrics_are(&in, "bytes = 6000, rate_kib = 1.953125, throughput = 1.6e-05");
	assert_float_equal(last_point(&in, "throughput"), 10000 * 8 / 4e9, 1e-15);
	/* it says nothing of them */
	metrics_are(&in, "rx_mapped_bytes = 13000, asked_zero_copy = 1, "
			 "hist:notify_ns:p99 = 900, hist:notify_ns:log2:9 = 7, "
			 "hist:recv_bytes:max = 4096, hist:recv_bytes:log2:12 = -, "
			 "send_retries:optmem_max = 4, send_retries:memlock = 0, "
			 "workload_flows = 2, note sends_retried = 4, "
			 "note uring_ring_full = 2, "
			 "note workload_points_backwards = 1, note workload_corrupt = +, "
			 "note workload_bad_line = +, dropped_completions = -");
	fresh("1");
	workload(&in, "tcpzc",
		 "{\"type\":\"summary\",\"mode\":\"uring-multishot\",\"side\":\"receiver\","
		 "\"bytes\":1,\"ring_overflow\":9,\"dropped_completions\":3,"
		 "\"rearmed\":{\"ring_full\":8,\"no_buffers\":0,\"interrupted\":0}}\n");
	metrics_are(&in, "ring_overflow = 9, dropped_completions = 3, rearmed:ring_full = 8, "
			 "rearmed:no_buffers = 0, note uring_ring_full = +, "
			 "note uring_completions_lost = +");
	fresh("1");
	workload(&in, "tcpzc", "");
	metrics_are(&in, "note workload_no_summary = +, throughput = -");
	assert_true(noted_text(&in, NOTE_file_damaged, "two are needed"));
	fresh("1");
	workload(&in, "netcat", "x");
	assert_true(noted_text(&in, NOTE_file_damaged, "no adapter 'netcat'"));
}

static void add_point(struct str *s, double seconds, double bytes)
{
	str_printf(s, "{\"type\":\"point\",\"t_ns\":%.0f,\"bytes\":%.0f}\n", seconds * 1e9, bytes);
}

/* Reads points of tcpzc, "SECONDS:BYTES SECONDS:BYTES". */
static void points(const char *list)
{
	freed(str_free) struct str s = {0};
	double seconds, bytes;
	int n;

	for (; sscanf(list, "%lf:%lf%n", &seconds, &bytes, &n) == 2; list += n)
		add_point(&s, seconds, bytes);
	workload(&in, "tcpzc", s.buf);
}

/*
 * Writes points from 9.5 s on, `step` apart, at 1000 bytes/s, with a pause from 10 s on in which
 * `lost` bytes are not moved.
 */
static void coarse(double step, double lost)
{
	freed(str_free) struct str s = {0};

	fresh("1");
	for (double t = 9.5; t < 14; t += step)
		add_point(&s, t, t > 10 ? fmax(500, (t - 9.5) * 1000 - lost) : (t - 9.5) * 1000);
	workload(&in, "tcpzc", s.buf);
}

/* The work in the window of 3 s is known up to percents of it: at the rates that were seen, and at
 * any rate. */
static void expect_coarse(enum note_severity severity, double likely, double any)
{
	const struct note *n = noted(&in, NOTE_workload_points_coarse);

	assert_non_null(n);
	assert_int_equal(n->severity, severity);
	assert_float_equal(n->value[1].number, 3, 1e-9);
	assert_float_equal(n->value[2].number, likely, 1e-3);
	assert_float_equal(n->value[3].number, any, 1e-3);
}

TEST(coarse_points_bound_the_error_of_the_work)
{
	coarse(0.5, 0); /* 10 and 13 are points */
	metrics_are(&in, "note workload_points_coarse = -");
	/* 0.3 s: points at 9.8 and 10.1, 12.8 and 13.1. Up to 200 or 100 bytes less, as much more.
	 */
	coarse(0.3, 0);
	expect_coarse(SEVERITY_INFO, 0, 10.0);
	/* 1 s: half of 1000 bytes at each end, more or less */
	coarse(1, 0);
	expect_coarse(SEVERITY_WARNING, 0, 100.0 / 3);
	/*
	 * 1 s, and a pause of 0.2 s after the start: 800 bytes from 9.5 to 10.5 s, of which 400
	 * count. At no more than 1000 bytes/s, 300 to 500 are in the window: 100 of 2900 bytes.
	 * 2800 is right.
	 */
	coarse(1, 200);
	assert_float_equal(metric(&in, "bytes"), 2900, 1e-6);
	expect_coarse(SEVERITY_WARNING, 100 * 100 / 2900.0, 100 * 900 / 2900.0);
	/* The same pause, long before an end of the window, is counted. */
	coarse(0.1, 200);
	metrics_are(&in, "bytes = 2800, note workload_points_coarse = -");
	/* Readings just outside the window are as good as those at its ends. */
	fresh("1");
	points("9.98:0 13.03:3050");
	metrics_are(&in, "note workload_points_coarse = -, note workload_points_average = -");
	/* Two points around the window give an average and no bound. */
	coarse(4, 0);
	metrics_are(&in, "note workload_points_coarse = -, note workload_points_average = 4, "
			 "note workload_points_average[1] = 3, "
			 "note workload_points_average.severity = warning");
}

/* The bounds from 1 % on are noted, and from 20 % on they are a warning. Each is 1000 * s of 3 s.
 */
TEST(gap_at_an_end_is_noted_from_1_percent_on)
{
	static const struct {
		const char *points;
		double percent;
		enum note_severity severity;
	} rows[] = {
		{"9.986:0 10.014:28 11:1014 12:2014 12.984:2998 13.016:3030", 1, SEVERITY_INFO},
		{"9.986:0 10.014:28 11:1014 12:2014 12.985:2999 13.015:3029", NAN, SEVERITY_INFO},
		{"9.7:0 10.3:600 12.7:3000 13.3:3600", 20, SEVERITY_WARNING},
		{"9.702:0 10.298:596 12.7:2998 13.3:3598", 100 * 598 / 3000.0, SEVERITY_INFO},
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		fresh("1");
		points(rows[i].points);
		if (isnan(rows[i].percent))
			assert_null(noted(&in, NOTE_workload_points_coarse));
		else
			expect_coarse(rows[i].severity, 0, rows[i].percent);
		if (!i)
			metrics_are(&in, "note workload_points_coarse = 0.032");
	}
}

/*
 * A gap of 0.5 s around the start holds 100 bytes, 80 of them before the window if they were moved
 * evenly. At 1000 bytes/s, the fastest rate over at least half of such a gap, all of them may have
 * been moved in the 0.1 s inside. A span of 0.2 s is too short to tell the usual speed.
 */
TEST(slow_gap_at_the_start_is_compared_with_long_spans)
{
	fresh("1");
	points("9.6:0 10.1:100 10.4:400 10.7:700 11:1000 11.3:1300 11.6:1600 11.9:1900 12.2:2200 "
	       "12.5:2500 12.8:2800 13.1:3100");
	metrics_are(&in, "bytes = 2920, note workload_points_coarse = 0.5");
	expect_coarse(SEVERITY_WARNING, 100 * 80 / 2920.0, 100 * 220 / 2920.0);
	fresh("1");
	points("9.6:0 10.1:500 10.3:9500 13:12200");
	metrics_are(&in, "note workload_points_coarse.severity = info");
}

static void check_stalls(const char *list, double all, double longest, double at)
{
	const struct note *stalled;

	fresh("1");
	points(list);
	stalled = noted(&in, NOTE_workload_stalled);
	assert_null(noted(&in, NOTE_file_damaged));
	assert_float_equal(metric(&in, "stalled_s"), all, 1e-9);
	assert_int_equal(stalled != NULL, all > 0);
	if (stalled) {
		assert_float_equal(stalled->value[0].number, all, 1e-9);
		assert_float_equal(stalled->value[1].number, 3, 1e-9);
		assert_float_equal(stalled->value[2].number, longest, 1e-9);
		assert_float_equal(stalled->value[3].number, at, 1e-9);
	}
}

TEST(stall_is_below_a_tenth_of_the_median_rate_for_a_fifth_of_a_second)
{
	freed(str_free) struct str fine = {0};
	double bytes = 0;

	check_stalls("10:0 11:10000 12:10950 13:20950", 1, 1, 1);
	check_stalls("10:0 11:19531250 12:21484375 13:41015625", 0, 0, 0);
	/* With nothing done in most of the time, the mean is the usual rate. */
	check_stalls("10:0 11:0 12:0 13:30000", 2, 2, 0);
	/* Half of the time at each rate: the lower one is usual. */
	check_stalls("10:0 10.5:1000 11:2000 11.5:3000 12:3075 12.5:3150 13:3225", 0, 0, 0);
	/* 0.19 s are too short, 0.2 s and 0.3 s are not; they are 50 ms apart. */
	for (int i = 0; i <= 300; i++) {
		str_printf(&fine, "%.2f:%.0f ", 10 + i / 100.0, bytes);
		bytes += i < 20 || (i >= 100 && i < 119) || (i >= 124 && i < 154) ? 0 : 1e4;
	}
	check_stalls(fine.buf, 0.5, 0.3, 1.24);
}

TEST(stall_goes_on_at_two_points_of_one_time)
{
	fresh("1");
	points("10:0 10:1000 11:100000 11.15:100000 11.15:100000 11.3:100000 13:270000");
	metrics_are(&in, "stalled_s = 0.3, bytes = 269000"); /* the later point counts */
	assert_int_equal(in.nseries, 4);		     /* points of the throughput */
}

TEST(points_too_far_apart_give_a_slice_no_figure)
{
	fresh("1");
	in.sliced = true;
	points("9:0 15:100000");
	metrics_are(&in, "bytes = -, note file_damaged = -");
	assert_string_equal(in.absent[0], "workload");
}

/* 1000 bytes/s in steps of a second, and 50 bytes/s in one step of two. */
TEST(stall_is_a_matter_of_the_rate_and_not_of_the_step)
{
	fresh("1");
	in.run.end_ns = 20 * S;
	points("10:0 11:1000 12:2000 13:3000 14:4000 15:5000 16:6000 17:7000 19:7100 20:8100");
	metrics_are(&in, "stalled_s = 2");
}

/* A stall is cut to the window, which begins 1 s after the first point. */
TEST(stall_counts_inside_the_window)
{
	fresh("1");
	points("9:0 10.5:0 12.5:2000000 15:2000000 16:2000000");
	metrics_are(&in, "stalled_s = 1, note workload_stalled[2] = 0.5, "
			 "note workload_stalled[3] = 0");
}

/* Reads a summary of tcpzc with these members. */
static void summary(const char *members, bool sliced)
{
	autofree char *text = xasprintf("{\"type\":\"summary\",%s}\n", members);

	fresh("1");
	in.sliced = sliced;
	ingest_summary(&in, text);
}

static void check_noted(const char *members, enum note_id id, double a, double b)
{
	const struct note *n;

	summary(members, false);
	n = noted(&in, id);
	assert_int_equal(n != NULL, !isnan(a));
	if (n && n->nvalues > 0)
		assert_float_equal(n->value[0].number, a, 0);
	if (n && n->nvalues > 1 && !isnan(b))
		assert_float_equal(n->value[1].number, b, 0);
}

TEST(copied_responses_are_noted_where_zero_copy_was_asked_for)
{
	static const char copied[] = "\"rr\":{\"asks_zero_copy\":true,\"bytes\":100,\"sends\":"
				     "{\"copied\":1,\"total\":5},\"receive\":{\"copied_bytes\":2}}",
			  none[] = "\"rr\":{\"asks_zero_copy\":true,\"bytes\":100,\"sends\":"
				   "{\"copied\":0,\"total\":5},\"receive\":{\"copied_bytes\":0}}",
			  unasked[] =
				  "\"rr\":{\"asks_zero_copy\":false,\"bytes\":100,\"sends\":"
				  "{\"copied\":5,\"total\":5},\"receive\":{\"copied_bytes\":1}}";

	check_noted(copied, NOTE_responses_copied, 1, 5);
	check_noted(none, NOTE_responses_copied, NAN, NAN);
	check_noted(unasked, NOTE_responses_copied, NAN, NAN);
}

TEST(notes_of_a_summary_begin_with_the_first_event)
{
	check_noted("\"ring_overflow\":1,\"dropped_completions\":0", NOTE_uring_ring_full, 1, NAN);
	check_noted("\"ring_overflow\":0,\"dropped_completions\":0", NOTE_uring_ring_full, NAN,
		    NAN);
	check_noted("\"dropped_completions\":1", NOTE_uring_completions_lost, 1, NAN);
	check_noted("\"dropped_completions\":0", NOTE_uring_completions_lost, NAN, NAN);
	check_noted("\"receive\":{\"dropped_bytes\":1}", NOTE_workload_truncated, 0, NAN);
	check_noted("\"receive\":{\"dropped_bytes\":0}", NOTE_workload_truncated, NAN, NAN);
	check_noted("\"send_retries\":{\"memlock\":1}", NOTE_sends_retried, 1, NAN);
	check_noted("\"send_retries\":{\"memlock\":0}", NOTE_sends_retried, NAN, NAN);
	check_noted("\"verify\":\"ok\"", NOTE_workload_corrupt, NAN, NAN);
}

/* In a slice of the window only the evidence of zero copy is used, which holds for the whole run.
 */
TEST(slice_has_the_evidence_of_a_summary_alone)
{
	static const char members[] =
		"\"side\":\"receiver\",\"asks_zero_copy\":true,\"bytes\":9,\"receive\":{\"calls\":3,"
		"\"mapped_bytes\":9},\"flows\":[{}],\"syscalls\":{\"recvfrom\":3},\"recv_hist\":{\"4\":5},"
		"\"token_hist\":{\"4\":6},\"return_hist\":{\"4\":7},"
		"\"histograms\":{\"latency_ns\":{\"count\":8},\"batch\":{\"max\":9}}";

	summary(members, false);
	metrics_are(&in, "rx_calls = 3, rx_bytes = 9, workload_flows = 1, "
			 "workload_calls:recvfrom = 3, recv_size_log2:4 = 5, "
			 "recv_tokens_log2:4 = 6, return_tokens_log2:4 = 7, "
			 "hist:latency_ns:count = 8, hist:batch:max = 9");
	assert_int_equal(in.nabsent, 0);
	summary(members, true);
	metrics_are(&in, "rx_mapped_bytes = 9, asked_zero_copy = 1, rx_calls = -, rx_bytes = -, "
			 "workload_calls:recvfrom = -");
	assert_string_equal(in.absent[0], "the account's total");
	summary("\"side\":\"sender\",\"bytes\":9,\"flows\":[],\"asks_zero_copy\":false,"
		"\"mode\":\"mmap\"",
		false);
	/* what it says itself counts */
	metrics_are(&in, "rx_bytes = -, workload_flows = -, asked_zero_copy = 0");
}

/* The last line may be cut off, because the workload was ended. Any other line is a fault. */
TEST(bad_line_is_named_by_its_number)
{
	static const struct {
		const char *text;
		int line;
		enum note_severity severity;
	} rows[] = {
		{"\n{\"x\":1}\n{\"type\":\"summary\"}\n", 2, SEVERITY_WARNING},
		{"{\"type\":\"summary\"}\n{\"type\":\"po", 2, SEVERITY_LOSSY},
	};

	each (r, rows) {
		autofree char *text = xstrdup(r->text);

		fresh("1");
		ingest_summary(&in, text);
		assert_float_equal(noted_number(&in, NOTE_workload_bad_line), r->line, 0);
		assert_int_equal(noted(&in, NOTE_workload_bad_line)->severity, r->severity);
		assert_int_equal(in.notes.n, 1);
	}
}

TEST(iperf3)
{
	fresh("1");
	/* Six seconds in a command of six: placed exactly. 1, 1, 2, 3, 2, 1 GB; the window is 2..5
	 */
	workload(&in, "iperf3",
		 "{\"start\":{\"timestamp\":{\"timesecs\":99}},\"intervals\":["
		 "{\"sum\":{\"end\":1.0,\"bytes\":1000000000}},"
		 "{\"sum\":{\"end\":2.0,\"bytes\":1000000000}},"
		 "{\"sum\":{\"end\":3.0,\"bytes\":2000000000}},"
		 "{\"sum\":{\"end\":4.0,\"bytes\":3000000000}},"
		 "{\"sum\":{\"end\":5.0,\"bytes\":2000000000}},"
		 "{\"sum\":{\"end\":6.0,\"bytes\":1000000000}}],"
		 "\"end\":{\"sum_sent\":{\"retransmits\":4}}}");
	metrics_are(&in, "bytes = 7000000000, throughput = 18.6666666667, tcp_retransmits = 4, "
			 "workload_udp = -, note workload_dated = +");
	fresh("1");
	workload(&in, "iperf3",
		 "{\"start\":{\"timestamp\":{\"timesecs\":99},\"test_start\":{\"protocol\":\"UDP\"}"
		 "},"
		 "\"intervals\":[{\"sum\":{\"end\":6.0,\"bytes\":6000}}]}");
	metrics_are(&in, "bytes = 3000, workload_udp = 1");
	fresh("1");
	/* Five seconds in a command of six may begin up to a second later: a third of the window.
	 */
	workload(&in, "iperf3",
		 "{\"start\":{\"timestamp\":{\"timesecs\":99}},\"intervals\":["
		 "{\"sum\":{\"end\":1.0,\"bytes\":1000}},{\"sum\":{\"end\":5.0,\"bytes\":4000}}]}");
	assert_float_equal(noted_number(&in, NOTE_workload_dated), 0.5, 1e-6);
	fresh("1");
	workload(&in, "iperf3", "iperf3: error - unable to connect\n");
	assert_true(noted_text(&in, NOTE_file_damaged, "run iperf3 with -J"));
	fresh("1");
	workload(&in, "iperf3", "{\"intervals\":[],\"error\":\"control socket closed\"}");
	assert_non_null(noted(&in, NOTE_workload_error));
}

/* A slice has the rate of its time. What the program counted in all does not belong to it. */
TEST(slice_has_no_retransmits_of_the_whole_run)
{
	static const char *const ends[] = {"{\"sum_sent\":{\"retransmits\":4}}", "{}"};

	for (size_t i = 0; i < 2; i++) {
		char *text =
			xasprintf("{\"start\":{\"timestamp\":{\"timesecs\":99}},\"intervals\":["
				  "{\"sum\":{\"end\":1.0,\"bytes\":1000}},"
				  "{\"sum\":{\"end\":2.0,\"bytes\":1000}},"
				  "{\"sum\":{\"end\":6.0,\"bytes\":4000}}],\"end\":%s}",
				  ends[i]);

		fresh("1");
		in.sliced = true;
		workload(&in, "iperf3", text);
		assert_true(isnan(metric(&in, "tcp_retransmits")));
		assert_int_equal(noted_text(&in, NOTE_not_in_slice, "retransmits"), i == 0);
		free(text);
	}
}

TEST(several_line_rates_are_noted_to_be_spread)
{
	fresh("1");
	workload(&in, "pps", "XDP-RX CPU total 3,000\nXDP-RX CPU total 5,000\n");
	metrics_are(&in, "note rates_spread = 2, note rates_spread[1] = 6, packets = 13000");
	/* A total of the whole command is an average over it, and there is nothing to spread. */
	fresh("1");
	workload(&in, "wrk", "Requests/sec:   7000.00\n");
	metrics_are(&in, "note rates_spread = -, note workload_points_coarse = -, "
			 "note workload_points_average = 6");
	fresh("1");
	workload(&in, "iperf3",
		 "{\"start\":{\"timestamp\":{\"timesecs\":99}},\"intervals\":["
		 "{\"sum\":{\"end\":5.5,\"bytes\":4000}}]}");
	metrics_are(&in, "note rates_spread = -, note workload_dated = 0.25");
}

/* Prepares a run whose sockets received 1.25 MiB/s in the window, and adds wrk's account. */
static void count_once(const char *units, const char *text, uint64_t seen_ns, double received)
{
	fresh("1");
	array_add(in.sockets, in.nsockets, in.sockets_cap,
		  (struct socket_row){.first_ns = seen_ns, .last_ns = in.run.end_ns});
	ingest_metric(&in, "tcp_socket_bytes_received", "B", received);
	workload(&in, units, text);
}

TEST(connections_that_no_reading_saw_are_noted)
{
	fresh("1");
	in.units = "tcp";
	ingest_metric(&in, "tcp_sockets", "1", 4);
	ingest_metric_of(&in, "snmp", "TcpActiveOpens", NO_CPU, "1", 9);
	ingest_metric_of(&in, "snmp", "TcpPassiveOpens", NO_CPU, "1", 38);
	ingest_check_sockets(&in); /* other programs may have opened some, ten a second */
	assert_null(noted(&in, NOTE_workload_sockets_unseen));
	in.metrics[2].value = 39;
	ingest_check_sockets(&in);
	metrics_are(&in, "note workload_sockets_unseen = 39, note workload_sockets_unseen[1] = 4");
	fresh("1");
	in.units = "wrk";
	ingest_metric(&in, "tcp_sockets", "1", 4);
	ingest_metric_of(&in, "snmp", "TcpActiveOpens", NO_CPU, "1", 39);
	ingest_check_sockets(&in);
	assert_null(noted(&in, NOTE_workload_sockets_unseen));
}

TEST(one_count_for_longer_than_the_window_has_the_rate_of_its_sockets_there)
{
	static const char text[] = "Requests/sec:   7000.00\nTransfer/sec:      1.00MB\n";
	const uint64_t start = 10 * S, late = start + S / 5;
	const double received = 3 * 1.25 * 1048576;

	count_once("wrk", text, start, received);
	metrics_are(&in,
		    "rate_messages = 8750, messages = 26250, rate_kib = 1280, "
		    "throughput = 0.01048576, tcp_socket_bytes_received = 3932160, "
		    "note workload_rate_of_sockets = 6, note workload_rate_of_sockets[2] = 25, "
		    "note workload_points_average = -");
	/* A socket that came later, no socket, sockets with other data, and another program. */
	count_once("wrk", text, late, received);
	metrics_are(&in, "rate_messages = 7000, note workload_points_average = 6");
	count_once("wrk", text, start, NAN);
	metrics_are(&in, "rate_messages = 7000, note workload_points_average = 6");
	count_once("wrk", text, start, 2.2 * 3 * 1048576);
	metrics_are(&in, "rate_messages = 7000, note workload_points_average = 6");
	count_once("regex:bytes=([0-9.]+)", "1048576\n", start, received);
	metrics_are(&in, "rate_kib = 1024, note workload_points_average = 6");
}

TEST(rates)
{
	fresh("1");
	/* Three lines are two seconds each, [8, 10, 12, 14]: 2 s at the second, 1 s at the third */
	workload(&in, "pps",
		 "Running XDP on dev:eth0\nXDP-RX CPU 0  5,000\n"
		 "XDP-RX CPU      total   1,000,000   0\n"
		 "XDP-RX CPU      total   8,165,032   0\n"
		 "XDP-RX CPU      total   2,000,000   0\n");
	metrics_are(&in, "packets = 18330064, rate_packets = 6110021.33333");
	fresh("1");
	workload(&in, "regex:^([0-9.]+) transactions", "banner\n1234.5 transactions/s\n");
	assert_float_equal(metric(&in, "rate_messages"), 1234.5, 1e-6);
	fresh("1");
	workload(&in, "regex:bytes=rate=([0-9]+)", "rate=1024000\n");
	assert_float_equal(metric(&in, "rate_kib"), 1000, 1e-9);
	fresh("1");
	workload(&in, "regex:no group", "x\n");
	assert_true(noted_text(&in, NOTE_file_damaged, "(group)"));
	fresh("1");
	workload(&in, "pps", "nothing here\n");
	assert_true(noted_text(&in, NOTE_file_damaged, "no line with a rate"));
}

static void check_units(const char *given, const char *expected)
{
	fresh("1");
	in.run.side = "receiver";
	in.units = "recorded";
	in.how.units = given;
	workload_set_units(&in);
	assert_string_equal(in.units, expected);
}

TEST(units_are_set_for_one_side_or_all)
{
	check_units("=iperf3", "iperf3");
	check_units("=iperf3\nsender=neper", "iperf3");
	check_units("sender=neper\nreceiver=rates\n", "rates");
	check_units("sender=neper", "recorded");
	check_units("receiver", "recorded");
}

/* The readings of a collector count where the run had that collector. */
TEST(file_of_the_workload_is_that_of_its_unit)
{
	struct collector_row list[] = {{.name = "tcp"}, {.name = "nic"}};

	fresh("1");
	in.collectors = list;
	in.units = "tcpzc";
	assert_string_equal(workload_file(&in), "workload.out");
	in.units = "netcat"; /* reading it says that there is no such unit */
	assert_string_equal(workload_file(&in), "workload.out");
	in.units = "none";
	assert_null(workload_file(&in));
	in.units = "nic:eth0";
	assert_null(workload_file(&in));
	in.ncollectors = 1;
	assert_null(workload_file(&in));
	in.ncollectors = 2;
	assert_string_equal(workload_file(&in), "nic.snap");
	in.units = "tcp";
	assert_string_equal(workload_file(&in), "tcp.snap");
	assert_null(parser_find("workload.out"));
	in.collectors = NULL; /* the list is not its own */
}

/* The error of the work is a part of the work, which is 0. */
TEST(points_without_work_have_no_doubt)
{
	fresh("1");
	points("9:500 10:2000 14:2000");
	metrics_are(&in, "bytes = 0, note workload_points_coarse = -, "
			 "note workload_points_average = -");
}

static const char heading[] = "comm\tpid\ttid\tnr\tname\tcalls\terrors\ttotal_ns\tmin_ns\tmax_ns\t"
			      "m2_ns2\tbytes\tunfinished\ttime_hist\tsize_hist\n";

/* Reads rows of system calls with further columns. */
static void read_calls(const char *columns, const char *rows)
{
	autofree char *text =
		xasprintf("%.*s%s\n%s", (int)strlen(heading) - 1, heading, columns, rows);

	fresh("1");
	put_raw(text);
	read_raw(&in, "syscalls.tsv");
}

TEST(syscalls)
{
	read_calls("",
		   "a b\t1\t2\t45\trecvfrom\t3\t1\t600\t100\t300\t36893488147419103232\t4096\t1\t"
		   "6:1,7:2\t12:1\n"
		   "c\t1\t3\t3\tclose\t1\t0\t50\t50\t50\t0\t\t0\t5:1\t\n"
		   "c\t1\t3\t231\texit_group\t0\t0\t0\t\t\t\t\t1\t\t\n"
		   "c\t1\t3\t9\tmmap\tmany\t0\t0\t0\t0\t0\t\t0\t\t\n"
		   "c\t1\t3\t9\tmmap\t1\t0\t0\t0\t0\t0\t\t0\t64:1\t\n"
		   "c\t1\t3\t9\tmmap\t1\t0\t0\t0\t0\t0\tall\t0\t5:1\t\n"
		   "c\t1\t3\t9\tmmap\t1\t0\t9\t\t9\t0\t\t0\t5:1\t\n"
		   "torn\t1\n");
	assert_int_equal(in.nsyscalls, 3);
	assert_string_equal(in.syscalls[0].comm, "a b");
	assert_int_equal(in.syscalls[0].time_hist[7], 2);
	assert_int_equal(in.syscalls[0].size_hist[12], 1);
	assert_float_equal(in.syscalls[0].m2, 36893488147419103232.0, 0); /* 2^65 */
	assert_true(in.syscalls[0].has_bytes && !in.syscalls[1].has_bytes);
	assert_int_equal(in.syscalls[2].unfinished, 1);
	metrics_are(&in, "note rows_unreadable = 5");
	unlink(path);
	assert_int_equal(parse_file(&in, "syscalls.tsv", path, NULL), -ENOENT);
}

TEST(bytes_of_sockets_have_a_metric_for_each_event)
{
	fresh("1");
	put_raw("event\tcalls\tbytes\nskb_copy_datagram_iovec\t1\t500\nskb_copy_ubufs\t2\t600\n"
		"__zerocopy_sg_from_iter\t3\t700\nanother\t4\t800\nskb_copy_ubufs\t2\tmany\nshort\n");
	read_raw(&in, "socket_copies.tsv");
	metrics_are(&in, "rx_kernel_copied_bytes = 500, host_tx_kernel_copied_bytes = 600, "
			 "tx_kernel_pinned_bytes = 700, metrics = 3, note rows_unreadable = 2");
	put_raw("event\tcalls\n");
	assert_int_equal(parse_file(&in, "socket_copies.tsv", path, &err), -EBADMSG);
	unlink(path);
	assert_int_equal(parse_file(&in, "socket_copies.tsv", path, NULL), -ENOENT);
}

/*
 * 116 calls: the first 16 took 1600 ns, the lot fell on 10 others, which took 500 in all: 90 more
 * at 50 each. Of a row whose calls were all timed, of one with none to estimate from but the first,
 * of one that drew a single call, and of a row that cannot be.
 */
TEST(untimed)
{
	static const struct {
		uint64_t total_ns;
		double m2; /* NAN: not checked */
	} rows[] = {
		{2100 + 90 * 50, 2600 / (26 * 25.) * (116 * 115.)},
		{1600, 7},
		{2000, NAN},
		{1900 + 10 * 300, NAN},
	};

	read_calls("\ttimed\tfirst_ns",
		   "a\t1\t2\t45\trecvfrom\t116\t1\t2100\t50\t100\t2600\t4096\t0\t5:10,6:16\t\t26\t"
		   "1600\n"
		   "a\t1\t2\t0\tread\t16\t0\t1600\t50\t100\t7\t4096\t0\t6:16\t\t16\t1600\n"
		   "a\t1\t2\t1\twrite\t20\t0\t1600\t50\t100\t240\t4096\t0\t6:16\t\t16\t1600\n"
		   "a\t1\t2\t3\tclose\t20\t0\t1600\t50\t100\t240\t\t0\t6:16\t\t21\t1600\n"
		   "a\t1\t2\t8\tlseek\t27\t0\t1900\t50\t300\t240\t\t0\t6:17\t\t17\t1600\n"
		   "a\t1\t2\t8\tlseek\t27\t0\t1900\t50\t300\t240\t\t0\t6:17\t\tx\t1600\n"
		   "a\t1\t2\t8\tlseek\t27\t0\t1900\t50\t300\t240\t\t0\t6:17\t\t17\t1901\n"
		   "a\t1\t2\t8\tlseek\t27\t0\t1900\t50\t300\t240\t\t0\t6:17\t\t0\t0\n");
	assert_int_equal(in.nsyscalls, array_size(rows));
	for (size_t i = 0; i < array_size(rows); i++) {
		assert_int_equal(in.syscalls[i].total_ns, rows[i].total_ns);
		if (!isnan(rows[i].m2))
			assert_float_equal(in.syscalls[i].m2, rows[i].m2, 1e-9);
	}
	assert_int_equal(in.syscalls[0].calls, 116);
	/* 75 of 179 calls */
	metrics_are(&in, "note syscalls_sampled = 2.38666666667, note rows_unreadable = 4");
}

/* The standard error of two calls is that of one pair. One call has none. */
TEST(few_timed_calls_are_scaled)
{
	read_calls("\ttimed\tfirst_ns",
		   "a\t1\t2\t3\tclose\t10\t0\t70\t70\t70\t6\t\t0\t6:1\t\t1\t70\n"
		   "a\t1\t2\t4\tstat\t10\t0\t70\t30\t40\t6\t\t0\t6:1\t\t2\t70\n");
	assert_int_equal(in.syscalls[0].total_ns, 700);
	assert_float_equal(in.syscalls[0].m2, 6, 0);
	assert_int_equal(in.syscalls[1].total_ns, 350);
	assert_float_equal(in.syscalls[1].m2, 6 * 10 * 9 / 2.0, 1e-9);
	put_raw("comm\tpid\n");
	assert_int_equal(parse_file(&in, "syscalls.tsv", path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "no column 'tid'"));
}

/*
 * Calls of several threads that ended: 20 of the 26 timed were the first of each and took 1600 ns,
 * 6 were drawn and took 300 in all: the other 90 at 50 each.
 */
TEST(untimed_of_several)
{
	read_calls("\ttimed\tfirst_ns\tfirst",
		   "a\t1\t0\t3\tclose\t116\t0\t1900\t50\t100\t240\t\t0\t6:26\t\t26\t1600\t20\n"
		   "a\t1\t0\t0\tread\t116\t0\t1900\t50\t100\t240\t\t0\t6:26\t\t26\t1600\t27\n");
	assert_int_equal(in.nsyscalls, 1);
	assert_int_equal(in.syscalls[0].total_ns, 1900 + 90 * 50);
	metrics_are(&in, "note rows_unreadable = 1");
}
