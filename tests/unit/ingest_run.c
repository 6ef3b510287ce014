// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the other files of a run than those of its collectors: run.json, clock.json, the
 * layout of a capture, its hosts, and how much of the window and of the busy time was seen.
 */
#include "analyze/probes/layout.h"
#include "tests/unit/ingested.h"
#include "tests/unit/perfdata_writer.h"

#include <sys/stat.h>

static const uint64_t S = 1000000000;
static char hosts[sizeof(dir) + 6];

/* Reads run.json with a window of 100 s and these members. */
static void run_of(const char *members)
{
	autofree char *text = xasprintf("{\"schema_version\":1,%s}", members);
	autofree char *path = xasprintf("%s/run.json", dir);

	ingest_start((struct ingest){0});
	put_text("run.json", text);
	assert_int_equal(ingest_run_json(&in, path, NULL), 0);
}

#define WINDOW "\"window\":{\"start_ns\":10000000000,\"end_ns\":110000000000}"

static void run_is(const char *expected)
{
	const char *const texts[] = {in.run.variant, in.run.pass, in.run.side,	  in.run.status,
				     in.units,	     in.run.host, in.run.command, in.run.cpus,
				     in.run.why,     in.named};
	freed(str_free) struct str s = {0};

	each (text, texts)
		str_printf(&s, "%s%s", s.len ? ", " : "", *text ? *text : "-");
	assert_string_equal(s.buf, expected);
}

TEST(run_has_names_and_a_window)
{
	run_of("\"x\":1");
	run_is("run, all, local, ok, none, -, -, -, -, -");
	assert_false(in.has_cpus || in.unmatched);
	assert_float_equal(in.wall_clock, 0, 0);
	assert_int_equal(in.nmetrics + in.notes.n, 0);
	run_of(WINDOW
	       ",\"variant\":\"v\",\"pass\":\"p\",\"side\":\"../s\",\"host\":\"h\",\"repeat\":3,"
	       "\"command\":[\"a\",5,\"b c\"],\"status\":\"failed\",\"why\":\"it broke\","
	       "\"units\":\"iperf3\",\"cpus\":\"1-2\",\"started_ns\":5,\"ended_ns\":6,"
	       "\"processes\":[7,9],\"named\":\"nginx\",\"matched\":[],"
	       "\"wall_clock\":\"2026-01-31T12:00:00.25Z\"");
	run_is("v, p, local, failed, iperf3, h, a ? b c, 1-2, it broke, nginx");
	assert_true(
		noted_text(&in, NOTE_file_damaged, "side '../s'")); /* it would leave the capture */
	assert_int_equal(in.run.repeat, 3);
	assert_true(in.has_cpus);
	assert_int_equal(in.run.ncpus, 2);
	assert_int_equal(in.run.start_ns, 10 * S);
	assert_int_equal(in.run.end_ns, 110 * S);
	assert_int_equal(in.started_ns, 5);
	assert_int_equal(in.ended_ns, 6);
	assert_int_equal(in.npids, 2);
	assert_int_equal(in.pids[1], 9);
	assert_true(in.unmatched);
	assert_float_equal(in.wall_clock, 1769860800.25, 0);
	run_of("\"cpus\":\"two\",\"matched\":[7],\"wall_clock\":\"noon\"");
	assert_false(in.has_cpus || in.unmatched);
	assert_non_null(noted(&in, NOTE_file_damaged));
	assert_float_equal(in.wall_clock, 0, 0);
}

TEST(run_of_another_schema_is_refused)
{
	autofree char *path = xasprintf("%s/run.json", dir);

	ingest_start((struct ingest){0});
	put_text("run.json", "{\"schema_version\":2}");
	assert_int_equal(ingest_run_json(&in, path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "schema_version 2; this zcost reads 1"));
	put_text("run.json", "{");
	assert_int_equal(ingest_run_json(&in, path, NULL), -EBADMSG);
	unlink(path);
	err = (struct error){0};
	assert_int_equal(ingest_run_json(&in, path, &err), -ENOENT);
}

/* Below 99 of 100 s the window is short. */
TEST(window_that_the_command_ended_is_noted)
{
	static const struct {
		const char *members;
		double asked; /* NAN: no note */
	} rows[] = {
		{"\"window\":{\"start_ns\":1000000000,\"end_ns\":100000000000,\"early_ns\":1000000000}",
		 NAN},
		{"\"window\":{\"start_ns\":1000000000,\"end_ns\":100000000000,\"early_ns\":2000000000}",
		 101},
		{"\"window\":{\"start_ns\":1000000000,\"end_ns\":100000000000}", NAN},
		{"\"window\":{\"start_ns\":1000000000,\"end_ns\":100000000000,\"early_ns\":2000000000},"
		 "\"status\":\"failed\"",
		 NAN},
		{"\"window\":{\"start_ns\":0,\"end_ns\":0,\"early_ns\":2000000000}", NAN},
	};

	each (r, rows) {
		run_of(r->members);
		if (isnan(r->asked)) {
			assert_null(noted(&in, NOTE_window_short));
		} else {
			assert_float_equal(noted_number(&in, NOTE_window_short), 99, 1e-9);
			assert_float_equal(noted(&in, NOTE_window_short)->value[1].number, r->asked,
					   1e-9);
		}
	}
}

TEST(collectors_have_their_state_files_and_tool)
{
	run_of("\"collectors\":[{\"name\":\"perf\",\"state\":\"degraded\",\"why\":\"old\",\"lost\":5,"
	       "\"files\":[\"perf.data\",7,\"b\"],\"info\":{\"version\":\"perf version 6.1\"}},"
	       "{\"name\":\"nic\",\"why\":\"\",\"info\":{\"version\":\"1.2\"}},{\"info\":{\"version\":\"\"}}]");
	assert_int_equal(in.ncollectors, 3);
	assert_string_equal(in.collectors[0].name, "perf");
	assert_string_equal(in.collectors[0].state, "degraded");
	assert_string_equal(in.collectors[0].why, "old");
	assert_int_equal(in.collectors[0].lost, 5);
	assert_string_equal(in.collectors[1].state, "ok");
	assert_null(in.collectors[1].why);
	assert_int_equal(in.collectors[1].lost, -1);
	assert_string_equal(in.collectors[2].name, "?");
	assert_int_equal(in.nfiles, 2);
	assert_string_equal(in.files[1].name, "b");
	assert_string_equal(in.files[1].collector, "perf");
	assert_int_equal(in.nfacts, 2);
	metrics_are(&in, "tool:perf=6.1 = 1, tool:nic=1.2 = 1");
}

/* One collector cuts the window's start late by so many ns, another by less. */
static void cut_late(const char *key, long ns)
{
	char *members =
		xasprintf(WINDOW ",\"collectors\":[{\"name\":\"perf\",\"%s\":%ld},"
				 "{\"name\":\"cpu\",\"%s\":%ld},{\"name\":\"nic\",\"%s\":\"x\"}]",
			  key, ns - 1, key, ns, key);

	run_of(members);
	free(members);
}

TEST(slowest_collector_bounds_the_edges_of_the_window)
{
	cut_late("on_after_ns", 1000000);
	metrics_are(&in, "window_start_error_us = 1000, metrics = 1, notes = 0");
	cut_late("off_after_ns", 1000000000); /* 1 % of the window */
	metrics_are(&in, "window_end_error_us = 1e6, note window_cut_late[0] = end, "
			 "note window_cut_late[1] = 1000, note window_cut_late[2] = cpu, "
			 "note window_cut_late.severity = info");
	cut_late("off_after_ns", 1000000001);
	assert_int_equal(noted(&in, NOTE_window_cut_late)->severity, SEVERITY_WARNING);
	/* Figures are interpolated between readings. */
	cut_late("read_before_ns", 1000000000);
	metrics_are(&in, "window_first_reading_us = 1e6, notes = 0");
	cut_late("read_after_ns", 1000000001);
	metrics_are(&in, "note window_reading_far[0] = cpu, note window_reading_far[1] = end, "
			 "note window_reading_far.severity = info");
	assert_float_equal(noted(&in, NOTE_window_reading_far)->value[2].number, 1000, 1e-5);
	cut_late("read_after_ns", 5000000001); /* 5 % of the window */
	assert_int_equal(noted(&in, NOTE_window_reading_far)->severity, SEVERITY_WARNING);
	run_of(WINDOW ",\"collectors\":[{\"on_after_ns\":0}]");
	assert_float_equal(metric(&in, "window_start_error_us"), 0, 0);
	run_of(WINDOW ",\"collectors\":[{\"on_after_ns\":2000000}]");
	assert_string_equal(noted(&in, NOTE_window_cut_late)->value[2].text, "a collector");
}

/* The programs ran for 2 of 10 ms of the window of 100 s, the readings for 50 ms. */
TEST(collectors_cost_their_readings_and_their_programs)
{
	run_of(WINDOW ",\"collectors\":[{\"name\":\"frame\",\"info\":{\"looks\":100,"
		      "\"looks_ns\":50000000,\"timed_ns\":10000000,\"runs\":40000,"
		      "\"runs_ns\":2000000}},{\"name\":\"perf\",\"info\":{}},"
		      "{\"name\":\"drops\",\"info\":{\"timed_ns\":0,\"runs\":0,\"runs_ns\":0}}]");
	metrics_are(&in, "reading_cpu_pct:frame = 0.05, readings_per_s:frame = 1, "
			 "program_cpu_pct:frame = 20, program_runs_per_s:frame = 4e6, metrics = 4");
}

TEST(time_of_zcost_itself_is_percent_of_the_window)
{
	run_of("\"window\":{\"start_ns\":10000000000,\"end_ns\":14000000000,"
	       "\"late_ns\":2500,\"own_cpu_ns\":1000000000}");
	metrics_are(&in, "own_cpu_pct = 25, window_late_us = 2.5");
	run_of("\"window\":{\"start_ns\":10,\"end_ns\":10,\"own_cpu_ns\":1000000000}");
	assert_int_equal(in.nmetrics, 0);
}

/* The offset at 10 s of the side's own clock. */
static void clock_of(const char *before, const char *after)
{
	autofree char *text =
		xasprintf("{\"schema_version\":1,\"before\":%s,\"after\":%s}", before, after);

	ingest_start((struct ingest){.dir = dir, .run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	put_text("clock.json", text);
	ingest_clock(&in);
}

TEST(clock_offset_is_interpolated)
{
	static const char before[] = "{\"at_ns\":1e9,\"offset_ns\":2e9,\"error_ns\":3e3}",
			  after[] = "{\"at_ns\":9e9,\"offset_ns\":4e9,\"error_ns\":1e3}";
	static const struct {
		const char *before, *after;
		double offset, error;
	} rows[] = {
		/* 10 s are 8 s of the other clock at first: 7 of 8 s after the first comparison */
		{before, after, 2 + 7 / 4.0, 3e-6},
		{after, before, 4, 1e-6}, /* the wrong way round */
		{before, "null", 2, 3e-6},
		{"null", after, 4, 1e-6},
		{before, "{\"at_ns\":1e9,\"offset_ns\":9e9,\"error_ns\":9}", 2, 3e-6},
		{before, "{\"at_ns\":3e9,\"offset_ns\":9e9,\"error_ns\":9e3}", 9, 9e-6},
		{"{\"at_ns\":20e9,\"offset_ns\":5e9,\"error_ns\":1}",
		 "{\"at_ns\":30e9,\"offset_ns\":9e9,\"error_ns\":9e3}", 5, 9e-6},
	};

	each (r, rows) {
		clock_of(r->before, r->after);
		assert_float_equal(metric(&in, "clock_offset"), r->offset, 1e-12);
		assert_float_equal(metric(&in, "clock_error"), r->error, 1e-15);
		assert_int_equal(in.notes.n, 0);
	}
}

TEST(clock_that_cannot_be_read_is_noted)
{
	autofree char *path = xasprintf("%s/clock.json", dir);

	ingest_start((struct ingest){.dir = dir});
	put_text("clock.json", "{\"schema_version\":2}");
	ingest_clock(&in);
	assert_true(noted_text(&in, NOTE_file_damaged, "schema_version is not 1"));
	ingest_start((struct ingest){.dir = dir});
	put_text("clock.json", "[");
	ingest_clock(&in);
	assert_true(noted_text(&in, NOTE_file_damaged, path));
	unlink(path);
	ingest_start((struct ingest){.dir = dir});
	ingest_clock(&in);
	assert_int_equal(in.nmetrics + in.notes.n, 0);
}

static void read_run(const char *all_hosts, const struct ingest_options *how)
{
	ingest_free(&in);
	assert_int_equal(ingest_run(&in, dir, all_hosts, how, NULL), 0);
}

TEST(files_and_collectors_that_are_not_whole_are_noted)
{
	const struct ingest_options how = {0};
	char *path = xasprintf("%s/snmp.snap", dir);

	put_text(
		"run.json",
		"{\"schema_version\":1," WINDOW ",\"collectors\":["
		"{\"name\":\"cpu\",\"files\":[\"proc_stat.snap\"],\"lost\":0},"
		"{\"name\":\"snmp\",\"state\":\"degraded\",\"lost\":1,\"files\":[\"snmp.snap\"]},"
		"{\"name\":\"irq\",\"state\":\"unavailable\",\"why\":\"none\",\"files\":[\"irq.snap\"]}]}");
	put_text("irq.snap", "");
	assert_int_equal(mkdir(path, 0700), 0);
	read_run(NULL, &how);
	assert_string_equal(noted(&in, NOTE_file_damaged)->value[0].text, "cpu");
	assert_true(noted_text(&in, NOTE_file_damaged, "the file proc_stat.snap is missing"));
	assert_true(noted_text(&in, NOTE_file_damaged, "snmp.snap is not a regular file"));
	assert_true(isnan(ingest_find_metric(&in, "cpu_pct", NULL)));
	assert_true(noted_text(&in, NOTE_file_damaged, "irq.snap: 0 snapshots"));
	assert_true(noted_text(&in, NOTE_collector_lost, "snmp"));
	metrics_are(&in, "note collector_lost[1] = 1, note collector_state[0] = snmp, "
			 "note collector_state.severity = warning");
	assert_false(noted_text(&in, NOTE_collector_lost, "cpu"));
	assert_false(noted_text(&in, NOTE_collector_state, "cpu"));
	assert_true(noted_text(&in, NOTE_collector_state, ": "));
	assert_int_equal(in.notes.note[2].severity, SEVERITY_INFO);
	rmdir(path);
	free(path);
	put_text("run.json",
		 "{\"schema_version\":1,\"collectors\":[{\"name\":\"cpu\",\"files\":[\"x\"]}]}");
	read_run(NULL, &how);
	metrics_are(&in, "note window_missing = +, notes = 1");
	put_text("run.json", "{\"schema_version\":1,\"status\":\"failed\"}");
	read_run(NULL, &how);
	assert_int_equal(in.notes.n, 0);
}

/* An option replaces the run's unit; the host's folder is that of its name. */
TEST(options_of_a_run_change_what_is_read)
{
	struct ingest_options how = {.units = "=iperf3"};

	put_text("hosts/a/host.json", "{}");
	put_text("run.json",
		 "{\"schema_version\":1," WINDOW ",\"units\":\"tcpzc\",\"host\":\"a\"}");
	read_run(hosts, &how);
	assert_string_equal(in.units, "iperf3");
	assert_true(str_ends(in.host_dir, "/hosts/a"));
	put_text("run.json", "{\"schema_version\":1," WINDOW ",\"units\":\"tcpzc\",\"host\":\"b\","
			     "\"matched\":[]}");
	how.units = NULL;
	read_run(hosts, &how);
	assert_string_equal(in.units, "tcpzc");
	assert_null(in.host_dir); /* no such folder */
	put_text("run.json", "{\"schema_version\":1," WINDOW ",\"host\":\"a\"}");
	read_run(NULL, &how);
	assert_null(in.host_dir);
}

/* Figures need 90 % of the window, are lossy below 95 %, and below 99 % they are of a part. */
TEST(cover_of_the_window_has_three_limits)
{
	static const struct {
		uint64_t from, to;
		double covered;
		int severity; /* -1 without a note */
	} rows[] = {
		{99 * S / 10, 111 * S, 100, -1},
		{10 * S, 109 * S, 99, -1},
		{11 * S + 1, 110 * S, 98.999999999, SEVERITY_INFO},
		{15 * S, 110 * S, 95, SEVERITY_INFO},
		{15 * S + 1, 110 * S, 94.999999999, SEVERITY_LOSSY},
		{20 * S, 110 * S, 90, SEVERITY_LOSSY},
	};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 110 * S}});
	each (r, rows) {
		uint64_t from = r->from, to = r->to;

		assert_float_equal(ingest_cover(&in, "x", &from, &to), r->covered, 1e-12);
		assert_true(from >= 10 * S && to <= 110 * S);
		assert_int_equal(in.notes.n, r->severity >= 0);
		if (in.notes.n) {
			assert_int_equal(noted(&in, NOTE_coverage_partial)->severity, r->severity);
			assert_float_equal(noted(&in, NOTE_coverage_partial)->value[1].number,
					   r->covered, 1e-9);
		}
		notes_free(&in.notes);
		in.notes = (struct notes){0};
	}
	uint64_t from = 20 * S + 1, to = 110 * S;

	assert_float_equal(ingest_cover(&in, "x", &from, &to), 0, 0);
	metrics_are(&in, "note coverage_too_small[1] = 89.999999999, "
			 "note coverage_too_small[2] = 100");
	from = 200 * S, to = 300 * S;
	assert_float_equal(ingest_cover(&in, "x", &from, &to), 0, 0);
	assert_float_equal(in.notes.note[1].value[1].number, 0, 0);
}

static void add_cost(struct profile *p, uint32_t cpu, enum context context, uint64_t weight)
{
	struct profile_cost cost = {.cpu = cpu,
				    .comm = PROFILE_NONE,
				    .frame = PROFILE_NONE,
				    .context = context,
				    .samples = 1,
				    .weight = weight};

	cost.pid = cost.tid = context == CTX_IDLE ? 0 : 7;
	profile_add(p, &cost);
}

/*
 * Two CPUs were busy for `busy` of 10 s each. There are samples of `sampled` ns, and of `idle` ns
 * of the idle task of each CPU.
 */
static void sampled(const char *event, double busy, uint64_t sampled, uint64_t idle, bool exact)
{
	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 20 * S, .ncpus = 2}});
	in.profile = xcalloc(1, sizeof(*in.profile));
	profile_init(in.profile);
	profile_event(in.profile, event, !strcmp(event, "cpu-clock"));
	add_cost(in.profile, 0, CTX_IDLE, idle);
	add_cost(in.profile, 1, CTX_IDLE, idle);
	add_cost(in.profile, 1, CTX_USER, sampled);
	in.profile->events[0].samples = 3;
	in.profile->events[0].exact = exact;
	ingest_metric_of(&in, "busy_ns", NULL, 0, "ns", busy);
	ingest_metric_of(&in, "busy_ns", NULL, 1, "ns", busy);
	ingest_metric(&in, "busy_ns", "ns", 2 * busy);
	ingest_coverage(&in);
}

/* Two ticks for each CPU are below the resolution of busy time. */
TEST(samples_below_90_or_above_110_percent_of_the_busy_time_are_noted)
{
	static const struct {
		double busy;
		uint64_t sampled;
		double pct;
		bool low, high;
	} rows[] = {
		{5e9, 9 * S, 90, false, false},		  {5e9, 895 * S / 100, 89.5, true, false},
		{0.1e9, S * 16 / 100, 80, false, false},  {0.1e9, S * 15 / 100, 75, true, false},
		{5e9, 11 * S, 110, false, false},	  {5e9, 1105 * S / 100, 110.5, false, true},
		{0.1e9, S * 24 / 100, 120, false, false}, {0.1e9, S * 25 / 100, 125, false, true},
	};

	each (r, rows) {
		const struct note *n;

		sampled("cpu-clock", r->busy, r->sampled, 5 * S, false);
		assert_float_equal(metric(&in, "coverage_pct"), r->pct, 1e-9);
		assert_int_equal(noted(&in, NOTE_perf_coverage) != NULL, r->low);
		assert_int_equal(noted(&in, NOTE_perf_coverage_high) != NULL, r->high);
		assert_int_equal(in.notes.n, r->low || r->high);
		if (!in.notes.n)
			continue;
		n = &in.notes.note[0];
		assert_float_equal(n->value[0].number, r->pct, 1e-9);
		assert_float_equal(n->value[1].number, (double)r->sampled / 1e9, 1e-9);
		assert_float_equal(n->value[2].number, 2 * r->busy / 1e9, 1e-9);
	}
}

/* With the frame the CPUs are busy when they are not idle. The ticks of busy_ns say nothing. */
TEST(coverage_of_exact_times_is_that_of_their_own_busy_time)
{
	sampled("cpu-clock", 5e9, 96 * S / 10, 52 * S / 10, true);
	metrics_are(&in, "coverage_pct = 100, notes = 0");
	sampled("cpu-clock", 5e9, 94 * S / 10, 52 * S / 10, true);
	metrics_are(&in, "coverage_pct = 97.91666667, notes = 0");
	sampled("cpu-clock", 5e9, 8 * S, 6 * S, true);
	metrics_are(&in, "coverage_pct = 100, notes = 0");
	sampled("cpu-clock", 5e9, 72 * S / 10, 52 * S / 10, true);
	metrics_are(&in, "coverage_pct = 75, note perf_coverage = 75");
}

/* Without busy time or without samples of a clock there is nothing to compare. */
TEST(coverage_needs_a_clock_and_busy_time)
{
	sampled("cpu-clock", 0, 0, 0, false);
	metrics_are(&in, "coverage_pct = -, notes = 0");
	sampled("cycles", 5e9, 8 * S, 0, false);
	metrics_are(&in, "coverage_pct = -, notes = 0");
}

TEST(idle_time_without_samples_names_its_cpus)
{
	const struct note *n;
	double *idle;

	sampled("cpu-clock", 4e9, 8 * S, 1 * S, false);
	n = noted(&in, NOTE_perf_idle_unseen);
	idle = ingest_idle_ns(&in);
	assert_string_equal(n->value[0].text, "0-1");
	assert_float_equal(n->value[1].number, 2, 1e-9);
	assert_float_equal(n->value[2].number, 12, 1e-9);
	assert_int_equal(n->severity, SEVERITY_INFO);
	assert_float_equal(idle[0], 6e9, 0);
	assert_float_equal(idle[1], 6e9, 0);
	assert_true(isnan(idle[2]) && isnan(idle[CPUSET_MAX - 1]));
	free(idle);
	sampled("cpu-clock", 4e9, 1 * S, 0, false);
	assert_int_equal(noted(&in, NOTE_perf_idle_unseen)->severity, SEVERITY_WARNING);
}

/* Samples of nginx with a worker thread, and of a process whose second thread is called nginx. */
static void profiled(const char *named)
{
	static const struct {
		uint32_t pid, tid;
		const char *name;
	} threads[] = {
		{10, 10, "nginx"}, {10, 11, "worker"}, {20, 20, "other"},
		{20, 21, "nginx"}, {30, 30, "sshd"},
	};
	autofree char *path = xasprintf("%s/perf.data", dir);
	struct writer records = {0}, file = {0};

	ingest_start((struct ingest){.run = {.start_ns = 10, .end_ns = 100}, .named = named});
	each (c, threads)
		w_comm(&records, 1, c->pid, c->tid, false, c->name);
	for (size_t i = 0; i < array_size(threads); i++)
		w_sample(&records, &(struct w_sample){.time = 20 + i,
						      .period = 5,
						      .pid = threads[i].pid,
						      .tid = threads[i].tid,
						      .mode = PERF_RECORD_MISC_USER,
						      .chain = {0x4000}});
	w_file(&file, &records.out, 0);
	assert_int_equal(file_write(path, file.out.buf, file.out.len, NULL), 0);
	assert_int_equal(parse_file(&in, "perf.data", path, NULL), 0);
	str_free(&records.out);
	str_free(&file.out);
	unlink(path);
}

TEST(processes_of_the_plan_are_the_workloads)
{
	profiled(NULL);
	assert_int_equal(in.profile->nown, 0);
	assert_int_equal(in.profile->events[0].weight, 25);
	assert_null(noted(&in, NOTE_perf_no_samples));
	profiled("nginx"); /* by the first thread */
	assert_int_equal(in.profile->nown, 1);
	assert_true(profile_is_own(in.profile, 10));
}

TEST(damaged_perf_data_leaves_no_profile)
{
	autofree char *path = xasprintf("%s/perf.data", dir);

	ingest_start((struct ingest){.run = {.start_ns = 10, .end_ns = 100}});
	put_text("perf.data", "no recording of perf at all");
	assert_int_equal(parse_file(&in, "perf.data", path, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "is not a perf.data file"));
	assert_null(in.profile);
	unlink(path);
}

static const struct topology_row *place(const struct host *h, const char *kind, const char *name)
{
	for (size_t i = 0; i < h->nplaces; i++)
		if (!strcmp(h->places[i].kind, kind) && !strcmp(h->places[i].name, name))
			return &h->places[i];
	return NULL;
}

static const char *fact(const struct host *h, const char *name)
{
	for (size_t i = 0; i < h->nfacts; i++)
		if (!strcmp(h->facts[i].name, name))
			return h->facts[i].value;
	return NULL;
}

/* Two packages of one node each. CPUs 0 and 2 are threads of a core. */
static const char host_json[] =
	"{\"release\":\"6.1\",\"arch\":\"x86_64\",\"cpu_model\":\"m\",\"virtualization\":\"kvm\","
	"\"online_cpus\":\"0-3\",\"boot_id\":\"b\",\"topology\":["
	"{\"cpu\":0,\"package\":\"0\",\"core\":\"0\",\"die\":\"0\",\"node\":\"0\"},"
	"{\"cpu\":1,\"package\":\"1\",\"core\":\"0\",\"node\":\"1\"},"
	"{\"cpu\":2,\"package\":\"0\",\"core\":\"0\",\"die\":\"0\",\"node\":\"0\"},"
	"{\"cpu\":3,\"package\":\"1\",\"node\":\"1\"},"
	"{\"cpu\":-1,\"package\":\"0\",\"core\":\"8\"},{\"cpu\":4096,\"package\":\"0\",\"core\":\"8\"},"
	"{\"cpu\":\"5\",\"package\":\"0\",\"core\":\"8\"}],"
	"\"nodes\":[{\"node\":0,\"cpus\":\"0,2\",\"distances\":\"10 20\",\"memory\":\"24684096 kB\"},"
	"{\"node\":1,\"cpus\":\"1,3\",\"distances\":\"20 10\",\"memory\":\"1G\"}],"
	"\"caches\":[{\"level\":\"1\",\"type\":\"Data\",\"cpus\":\"0,2\",\"size\":\"32K\"},"
	"{\"level\":\"1\",\"type\":\"Instruction\",\"cpus\":\"0,2\",\"size\":\"none\"},"
	"{\"level\":\"3\",\"type\":\"Unified\",\"cpus\":\"0,2\",\"size\":\"2M\"},{\"cpus\":\"1\"}]}";

TEST(host_has_its_places)
{
	static const struct {
		const char *kind, *name, *found; /* CPUs, package, node, KiB, Mbit/s, up */
	} places[] = {
		{"package", "0", "0,2 0 -1 nan nan -1"},
		{"package", "1", "1,3 1 -1 nan nan -1"},
		{"core", "0/0/0", "0,2 0 0 nan nan -1"},
		{"core", "1/0", "1 1 1 nan nan -1"},
		{"node", "0", "0,2 -1 0 2.46841e+07 nan -1"},
		{"node", "1", "1,3 -1 1 1.04858e+06 nan -1"},
		{"cache", "L1 data", "0,2 -1 -1 32 nan -1"},
		{"cache", "L1 code", "0,2 -1 -1 nan nan -1"},
		{"cache", "L3", "0,2 -1 -1 2048 nan -1"},
		{"cache", "L?", "1 -1 -1 nan nan -1"},
		{"nic", "e0", "1,3 -1 1 nan 25000 1"},
		{"nic", "e1", "- -1 -1 nan nan 0"},
		{"nic", "e2", "- -1 -1 nan 1 -1"},
	};
	freed(host_free) struct host h;

	put_text("hosts/vm/host.json", host_json);
	put_text("hosts/vm/nic/e0/sysfs",
		 "speeds = 1\nmodel = 2\nspeed = 25000\noperstate = up\ndevice/numa_node = 1\n"
		 "device/local_cpulist = 1,3\n");
	put_text("hosts/vm/nic/e1/sysfs", "speed = 0\noperstate = down\ndevice/numa_node = -1\n"
					  "device/local_cpulist = 0-3\n");
	put_text("hosts/vm/nic/e2/sysfs", "speed = 1\ndevice/vendor = 0x8086\n");
	put_text("hosts/vm/nic/lo/sysfs", "speed = 1\noperstate = up\n");
	assert_int_equal(host_read(&h, hosts, "vm", NULL), 0);
	assert_string_equal(h.row.name, "vm");
	assert_string_equal(h.row.release, "6.1");
	assert_string_equal(h.row.arch, "x86_64");
	assert_string_equal(h.row.cpu_model, "m");
	assert_string_equal(h.row.virtualization, "kvm");
	assert_int_equal(h.row.cpus, 4);
	each (c, places) {
		const struct topology_row *p = place(&h, c->kind, c->name);
		autofree char *found =
			xasprintf("%s %ld %ld %g %g %ld", p->cpus ? p->cpus : "-", (long)p->package,
				  (long)p->node, p->size_kib, p->speed, p->up);

		assert_string_equal(found, c->found);
	}
	assert_string_equal(place(&h, "node", "0")->distances, "10 20");
	assert_float_equal(place(&h, "node", "0")->size_kib, 24684096, 0);
	assert_null(place(&h, "package", "2"));
	assert_null(place(&h, "nic", "lo"));
	assert_int_equal(h.nplaces, 2 + 2 + 2 + 4 + 3);
}

/* Texts of host.json, the sysctls and the kernel's configuration are facts. */
TEST(host_has_its_settings)
{
	freed(host_free) struct host h;

	put_text("hosts/vm/host.json", host_json);
	put_text("hosts/vm/sysctls",
		 "net.core.rmem_max = 212992\n# a comment = x\nempty =\nnothing\n");
	put_text("hosts/vm/config", "CONFIG_HZ=250\n");
	assert_int_equal(host_read(&h, hosts, "vm", NULL), 0);
	assert_string_equal(fact(&h, "release"), "6.1");
	assert_null(fact(&h, "boot_id"));
	assert_string_equal(fact(&h, "sysctl:net.core.rmem_max"), "212992");
	assert_string_equal(fact(&h, "sysctl:empty"), "");
	assert_string_equal(fact(&h, "CONFIG_HZ"), "250");
	assert_int_equal(h.nfacts, 5 + 2 + 1);
	host_free(&h);
	assert_int_equal(host_read(&h, hosts, "lost", NULL), 0);
	assert_string_equal(h.row.name, "lost");
	assert_int_equal(h.nplaces + h.nfacts, 0);
}

/* A file that this machine cannot read is an error, a missing one is not. */
TEST(unreadable_file_of_a_host_is_an_error)
{
	static const char *const files[] = {"sysctls", "config", "host.json", "nic/e0/sysfs"};
	struct host h;

	each (c, files) {
		struct error err = {0};
		autofree char *path = xasprintf("%s/bad/%s", hosts, *c);

		put_text("hosts/bad/nic/e0/other", "");
		assert_int_equal(symlink("/proc/self/mem", path), 0); /* EIO at address 0 */
		assert_int_equal(host_read(&h, hosts, "bad", &err), -EIO);
		assert_non_null(strstr(err.text, path));
		host_free(&h);
		unlink(path);
	}
}

static int layout_of(struct layout *l, const char *manifest, struct error *err)
{
	autofree char *capture = xasprintf("%s/cap", dir),
		      *path = xasprintf("%s/manifest.json", capture);
	int rc;

	if (manifest)
		put_text("cap/manifest.json", manifest);
	else
		unlink(path);
	*err = (struct error){0};
	rc = layout_read(l, capture, err);
	return rc;
}

static const struct note *layout_note(const struct layout *l, enum note_id id)
{
	for (size_t i = 0; i < l->notes.n; i++)
		if (note_is(&l->notes.note[i], id))
			return &l->notes.note[i];
	return NULL;
}

TEST(manifest_lists_the_runs)
{
	const struct layout_entry *e;
	struct error err;
	freed(layout_free) struct layout l;

	assert_int_equal(
		layout_of(
			&l,
			"{\"schema_version\":1,\"name\":\"n\",\"created\":\"c\",\"zcost_version\":\"z\","
			"\"estimator\":\"median\",\"complete\":false,\"order\":[\"x\",7,\"y\",\"b/measure-02\"],"
			"\"variants\":[{\"what\":\"unnamed\"},{\"name\":\"a\"},{\"name\":\"b\",\"what\":\"w\","
			"\"base\":\"a\",\"matrix\":{\"m\":\"1\",\"n\":2},\"vars\":{\"v\":\"3\",\"u\":\"4\"},"
			"\"settings\":{\"rx.work\":\"tx\",\"rx.processes\":\"nginx\",\"rx.role\":\"receiver\"}}],"
			"\"runs\":[{\"pass\":\"p\"},{\"variant\":\"..\",\"pass\":\"p\"},"
			"{\"variant\":\"a\",\"pass\":\"p\",\"repeat\":1,\"status\":\"failed\",\"why\":\"y\","
			"\"sides\":[\"rx\"]},"
			"{\"variant\":\"b\",\"pass\":\"measure\",\"repeat\":2,\"status\":\"ok\","
			"\"sides\":[\"rx\",5,\"a/b\",\"tx\"]}]}",
			&err),
		0);
	assert_true(l.has_manifest);
	assert_string_equal(l.name, "n");
	assert_string_equal(l.created, "c");
	assert_string_equal(l.zcost_version, "z");
	assert_string_equal(l.estimator, "median");
	assert_string_equal(l.order, "x y b/measure-02");
	assert_int_equal(strlen(l.manifest_sha256), 64);
	assert_int_equal(l.nvariants, 2);
	assert_string_equal(l.variants[1].what, "w");
	assert_string_equal(l.variants[1].base, "a");
	assert_int_equal(l.variants[1].nsettings, 1);
	assert_string_equal(l.variants[1].settings[0].value, "1");
	assert_int_equal(l.variants[1].nvars, 2);
	assert_string_equal(l.variants[1].vars[1].name, "u");
	assert_int_equal(l.variants[1].nkeys, 3);
	assert_int_equal(l.nentries, 3);
	e = &l.entries[0];
	assert_int_equal(e->position,
			 2); /* it is not in the order: its place in the list of runs */
	assert_string_equal(e->status, "failed");
	assert_string_equal(e->why, "y");
	assert_null(e->work);
	e = &l.entries[1];
	assert_int_equal(e->position, 3);
	assert_int_equal(e->repeat, 2);
	assert_true(str_ends(e->dir, "/cap/runs/b/measure-02/rx"));
	assert_string_equal(e->work, "tx");
	assert_string_equal(e->role, "receiver");
	assert_string_equal(l.entries[2].side, "tx");
	assert_null(l.entries[2].role);
	assert_int_equal(l.notes.n, 4);
	assert_string_equal(layout_note(&l, NOTE_file_damaged)->value[1].text,
			    "run 0 has no variant or pass and is left out");
	assert_non_null(layout_note(&l, NOTE_capture_incomplete));
}

TEST(manifest_of_another_kind_is_refused)
{
	static const struct {
		const char *manifest;
		int rc;
		const char *why;
	} rows[] = {
		{"{", -EBADMSG, "manifest.json"},
		{"{\"schema_version\":2,\"runs\":[]}", -EBADMSG, "schema_version is not 1"},
		{"{\"schema_version\":1,\"anonymous\":true,\"runs\":[]}", -EOPNOTSUPP,
		 "pack --anonymous"},
		{"{\"schema_version\":1}", -EBADMSG, "no list of runs"},
	};
	struct error err;
	struct layout l;

	each (r, rows) {
		assert_int_equal(layout_of(&l, r->manifest, &err), r->rc);
		assert_non_null(strstr(err.text, r->why));
		layout_free(&l);
	}
}

TEST(folder_of_a_single_collect_is_one_run)
{
	struct error err;
	freed(layout_free) struct layout l;

	put_text("cap/run.json", "{}");
	assert_int_equal(layout_of(&l, NULL, &err), 0);
	assert_int_equal(l.nentries, 1);
	assert_int_equal(strlen(l.run_sha256), 64);
	assert_null(l.entries[0].variant);
}

TEST(place_without_runs_is_no_capture)
{
	autofree char *file = xasprintf("%s/hosts/vm/host.json", dir);
	freed(layout_free) struct layout l;

	assert_int_equal(layout_read(&l, hosts, &err), -ENOENT);
	assert_non_null(strstr(err.text, "no manifest.json"));
	layout_free(&l);
	err = (struct error){0};
	assert_int_equal(layout_read(&l, file, &err), -ENOTDIR);
	layout_free(&l);
	err = (struct error){0};
	assert_int_equal(layout_read(&l, "/nonexistent", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no such capture"));
}

static void set_hosts(void)
{
	snprintf(hosts, sizeof(hosts), "%s/hosts", dir);
}

AROUND_TESTS(set_hosts, NULL)
