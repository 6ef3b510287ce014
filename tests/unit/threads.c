// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks threads.snap and sched.snap: threads that start late, end or wrap. The window is [10 s,
 * 13 s].
 */
#include "tests/unit/ingested.h"

static const uint64_t S = 1000000000;

static void fresh(const char *cpus)
{
	ingest_start((struct ingest){0});
	in.run.start_ns = 10 * S;
	in.run.end_ns = 13 * S;
	in.has_cpus = cpus != NULL;
	if (cpus)
		assert_int_equal(cpuset_parse(&in.cpus, cpus, NULL), 0);
}

static void add_snap(double seconds, struct str *text)
{
	append_snap(path, seconds, text->buf ? text->buf : "", text->len);
	str_free(text);
}

/* Returns the stat line of a process or thread: 52 fields, as in proc(5). */
static void stat_line(struct str *s, int id, const char *comm, int user, int system, int children,
		      int cpu)
{
	str_printf(s,
		   "%d (%s) R 1 1 1 0 -1 0 0 0 0 0 %d %d %d 0 20 0 1 0 %d 0 0 0 0 0 0 0 0 0 0 0 "
		   "0 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		   id, comm, user, system, children, 4242 + id, cpu);
}

static void process(struct str *s, int pid, double ns, int children)
{
	str_printf(s, "p %.0f ", ns);
	stat_line(s, pid, "w", (int)(ns * 3 / 4e7), (int)(ns / 4e7), children, 1);
}

static void thread(struct str *s, int pid, int tid, const char *comm, double ns, int cpu)
{
	str_printf(s, "t %d %.0f %d 1-2 ", pid, ns, tid);
	stat_line(s, tid, comm, (int)(ns / 2e7), (int)(ns / 2e7), 0, cpu);
}

/* Adds a reading of processes "7 = NS" and threads "7/8 = NS", all of them on CPU 1. */
static void add_reading(double seconds, const char *fmt, ...)
{
	int pid, tid, n;
	struct str s = {0};
	char list[256], *at = list;
	double ns;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(list, sizeof(list), fmt, ap);
	va_end(ap);
	for (; *at; at += n + strspn(at + n, ", ")) {
		if (sscanf(at, "%d/%d = %lf%n", &pid, &tid, &ns, &n) == 3)
			thread(&s, pid, tid, "w", ns, 1);
		else if (sscanf(at, "%d = %lf%n", &pid, &ns, &n) == 2)
			process(&s, pid, ns, 0);
		else
			fail_msg("no reading: '%s'", at);
	}
	add_snap(seconds, &s);
}

/*
 * Process 7 has thread 7 all the time, thread 8 that ends between 11 and 13 s after 0.2 s more,
 * and thread 9 that starts in the second span. Child 20 ends: it ran 0.5 s, and its rows show 0.3
 * s.
 */
static void world(void)
{
	struct str s = {0};

	process(&s, 7, 5e9, 0);
	process(&s, 20, 0.1e9, 0);
	thread(&s, 7, 7, "a) b (c", 4e9, 1);
	thread(&s, 7, 8, "w8", 1e9, 1);
	thread(&s, 20, 20, "kid", 0.1e9, 2);
	add_snap(10, &s);
	process(&s, 7, 6e9, 0);
	process(&s, 20, 0.3e9, 0);
	thread(&s, 7, 7, "a) b (c", 4.5e9, 1);
	thread(&s, 7, 8, "w8", 1.5e9, 1);
	thread(&s, 20, 20, "kid", 0.3e9, 2);
	add_snap(11, &s);
	process(&s, 7, 8e9, 50);
	thread(&s, 7, 7, "a) b (c", 5.5e9, 2);
	thread(&s, 7, 9, "w9", 0.8e9, 2);
	add_snap(13, &s);
}

TEST(threads_that_come_and_go_are_counted)
{
	fresh("1-2");
	world();
	read_raw(&in, "threads.snap");
	metrics_are(&in, "7/7 run_ns = 1500000000, 7/7 comm = a) b (c, 7/7 cpus = 1-2, "
			 "7/8 run_ns = 5e8, 7/9 run_ns = 8e8");
	assert_float_equal(thread_row(&in, 7, 7)->user_ns, 0.75e9, 2e7);
	assert_true(thread_row(&in, 7, 8)->first_ns == 10 * S);
	assert_true(thread_row(&in, 7, 8)->last_ns == 11 * S);
	assert_true(thread_row(&in, 7, 9)->first_ns == 13 * S);
	assert_true(thread_row(&in, 7, 7)->last_ns == 13 * S);
	/* 2 s of the process, 1.8 s of threads that still exist, and the rest of ended threads. */
	assert_float_equal(thread_row(&in, 7, 0)->run_ns, 0.2e9, 1);
	/*
	 * The process waited for the child: 0.5 s, of which 0.3 s were in rows (0.1 s before the
	 * window).
	 */
	metrics_are(&in, "20/20 run_ns = 2e8, 0/0 run_ns = 2e8, workload_cpu_ns = 3400000000, "
			 "workload_cpu_pct = 113.333333333, workload_cpu_user_pct = 85, "
			 "workload_cpu_system_pct = 28.3333333333, workload_threads = 3, "
			 "workload_confined = 1, notes = 0");
	assert_true(in.workload_whole);
	fresh("1");
	world();
	read_raw(&in, "threads.snap");
	assert_float_equal(metric(&in, "workload_confined"), 0, 0); /* the threads may use 2 CPUs */
}

/* Of several readings before the window the last one is the window's start. */
TEST(last_reading_before_the_window_is_its_start)
{
	fresh("1-2");
	add_reading(9.8, "7 = 1e9, 7/7 = 1e9, 5 = 1e9, 5/5 = 1e9");
	world();
	read_raw(&in, "threads.snap");
	metrics_are(&in, "7/7 cpus = 1-2, 7/7 run_ns = 1500000000, workload_cpu_ns = 3400000000, "
			 "notes = 0");
	assert_null(thread_row(&in, 5, 5));
}

/*
 * One thread appears with old counts, one goes backwards, one process has no parent that waits,
 * and lines are bad.
 */
TEST(odd_threads_and_bad_lines_are_counted)
{
	struct str s = {0};

	fresh(NULL);
	process(&s, 7, 5e9, 0);
	process(&s, 30, 9e9, 0);
	thread(&s, 7, 7, "w", 5e9, 1);
	thread(&s, 30, 30, "orphan", 9e9, 1);
	add_snap(10, &s);
	process(&s, 7, 4e9, 0);
	thread(&s, 7, 7, "w", 4e9, 1);
	thread(&s, 7, 8, "late", 60e9, 1);
	thread(&s, 7, 9, "late", 3.175e9, 1); /* 5 % and two ticks above the 3 s */
	process(&s, 40, 70e9, 999);
	thread(&s, 40, 40, "joined", 60e9, 1);
	str_puts(&s, "t 7 1 2\nnonsense\np 5\nt 7 1 1 1 9 (cut) R 1\n");
	add_snap(13, &s);
	read_raw(&in, "threads.snap");
	metrics_are(&in, "workload_cpu_ns = 0, 7/7 run_ns = 0, 7/8 run_ns = -, 7/9 run_ns = -, "
			 "note counter_reset = +, note threads_joined = 3, "
			 "note ended_between = +, note rows_unreadable = 4");
	assert_null(
		thread_row(&in, 40, 0)); /* its ended threads and children do not count either */
	assert_null(thread_row(&in, 0, 0));
	assert_false(in.workload_whole);
	fresh(NULL);
	add_snap(10, &s);
	assert_int_equal(parse_file(&in, "threads.snap", path, &err), -ENODATA);
}

/* The readings cover 2.8 of 3 s, so times are scaled by 3 / 2.8. */
TEST(times_are_scaled_to_the_window)
{
	fresh(NULL);
	add_reading(10.2, "7 = 1e9, 7/7 = 1e9");
	add_reading(13, "7 = 2.4e9, 7/7 = 2.4e9");
	read_raw(&in, "threads.snap");
	metrics_are(&in, "7/7 run_ns = 1.5e9, workload_cpu_ns = 1.5e9");
	assert_float_equal(thread_row(&in, 7, 7)->user_ns + thread_row(&in, 7, 7)->system_ns, 1.5e9,
			   1);
}

/* Process 30 and its only thread are new, and ran for `ns`. The span has 3 s. */
static void process_appears(double ns)
{
	fresh(NULL);
	add_reading(10, "7 = 1e9, 7/7 = 1e9");
	add_reading(13, "7 = 1e9, 7/7 = 1e9, 30 = %f, 30/30 = %f", ns, ns);
	read_raw(&in, "threads.snap");
}

TEST(new_thread_ran_before_if_it_ran_5_percent_and_2_ticks_too_long)
{
	process_appears(0.4e9);
	metrics_are(&in, "workload_cpu_ns = 400000000, workload_cpu_user_pct = 10, "
			 "workload_cpu_system_pct = 3.33333333333");
	process_appears(3.17e9);
	metrics_are(&in, "workload_cpu_ns = 3170000000, note threads_joined = -");
	assert_true(in.workload_whole);
	process_appears(3.171e9);
	metrics_are(&in, "workload_cpu_ns = 0, note threads_joined = 1");
	assert_false(in.workload_whole);
}

/* Process 7 runs `ns` more than its thread, which runs 1 s. */
static void process_runs_more(double ns)
{
	fresh(NULL);
	add_reading(10, "7 = 1e9, 7/7 = 1e9, 7/8 = 0");
	add_reading(13, "7 = %f, 7/7 = 2e9, 7/8 = 0", 2e9 + ns);
	read_raw(&in, "threads.snap");
}

TEST(a_tenth_of_a_tick_is_no_ended_thread)
{
	process_runs_more(1e6);
	assert_null(thread_row(&in, 7, 0));
	metrics_are(&in, "7/8 run_ns = 0, workload_cpu_ns = 1e9, notes = 0");
	process_runs_more(2e6);
	metrics_are(&in, "7/0 run_ns = 2e6, workload_cpu_ns = 1.002e9");
	process_runs_more(-1e6); /* it is read before its threads */
	metrics_are(&in, "workload_cpu_ns = 1e9");
}

/* A thread whose CPUs are not known is not confined to those of its side. */
TEST(thread_with_unknown_cpus_is_not_confined)
{
	static const struct {
		const char *allowed;
		double confined;
	} rows[] = {{"1-2", 1}, {"1-3", 0}, {"?", 0}};

	each (r, rows) {
		struct str s = {0};

		fresh("1-2");
		for (size_t k = 0; k < 2; k++) {
			str_printf(&s, "t 7 %zu 0 %s ", k, r->allowed);
			stat_line(&s, 7, "w", 0, 0, 0, 1);
			str_puts(&s, "p 0 7 w) R 1\n"); /* no line of a process */
			add_snap(k ? 13 : 10, &s);
		}
		read_raw(&in, "threads.snap");
		assert_float_equal(metric(&in, "workload_confined"), r->confined, 0);
		assert_float_equal(noted_number(&in, NOTE_rows_unreadable), 2, 0);
	}
}

/* The process that the plan names was not read, so what other processes ran is not its time. */
TEST(run_that_lacks_processes_has_no_time)
{
	fresh(NULL);
	world();
	in.unmatched = true;
	read_raw(&in, "threads.snap");
	metrics_are(&in, "workload_cpu_ns = -, workload_cpu_pct = -, points = 0");
	assert_false(in.workload_whole);
}

/* Child 20 ran 0.3 s when it was last seen, and its parent waited for children of `ticks`. */
static void child_ends(int ticks)
{
	struct str s = {0};

	fresh(NULL);
	process(&s, 7, 1e9, 10);
	thread(&s, 7, 7, "w", 1e9, 1);
	process(&s, 20, 0.3e9, 0);
	thread(&s, 20, 20, "kid", 0.3e9, 1);
	add_snap(10, &s);
	process(&s, 7, 1e9, 10 + ticks);
	thread(&s, 7, 7, "w", 1e9, 1);
	add_snap(13, &s);
	read_raw(&in, "threads.snap");
}

TEST(ended_child_ran_what_its_parent_waited_for)
{
	static const struct {
		int ticks;
		double ns; /* 0: the two clocks may differ so much */
		bool unknown;
	} rows[] = {{27, 0, true}, {28, 0, false}, {31, 0, false}, {32, 0.02e9, false}};

	each (r, rows) {
		child_ends(r->ticks);
		assert_float_equal(metric(&in, "workload_cpu_ns"), r->ns, 1);
		assert_int_equal(thread_row(&in, 0, 0) != NULL, r->ns > 0);
		assert_int_equal(noted(&in, NOTE_ended_between) != NULL, r->unknown);
		assert_int_equal(in.workload_whole, !r->unknown);
	}
}

/*
 * Without schedstat the kernel has no ns. The ticks show 0.5 s of thread 7 and 0.2 s of thread 8.
 * Child 20 ran 0.8 s in all, and of its own children 0.3 s are known.
 */
TEST(times_are_ticks_without_schedstat)
{
	struct str s = {0};

	fresh(NULL);
	str_puts(&s, "p - ");
	stat_line(&s, 7, "w", 100, 50, 0, 1);
	str_puts(&s, "t 7 - - 1-2 ");
	stat_line(&s, 7, "w", 100, 50, 0, 1);
	str_puts(&s, "p - ");
	stat_line(&s, 20, "kid", 0, 0, 30, 1);
	add_snap(10, &s);
	str_puts(&s, "p - ");
	stat_line(&s, 7, "w", 150, 70, 80, 1);
	str_puts(&s, "t 7 - - 1-2 ");
	stat_line(&s, 7, "w", 140, 60, 0, 1);
	str_puts(&s, "t 7 - - 1-2 ");
	stat_line(&s, 8, "w8", 19, 1, 0, 1);
	add_snap(13, &s);
	read_raw(&in, "threads.snap");
	metrics_are(&in, "7/7 run_ns = 5e8, 7/7 user_ns = 4e8, 7/7 system_ns = 1e8, "
			 "7/7 migrations = -, 7/8 run_ns = 2e8, 0/0 run_ns = 5e8, "
			 "workload_cpu_ns = 1200000000, note threads_ticks = +");
	assert_null(thread_row(&in, 7, 0));
	assert_false(in.workload_whole);
}

/* The kernel's configuration says whether threads are charged for interrupts. */
static void check_accounting(const char *config, double expected)
{
	char file[80];

	fresh(NULL);
	snprintf(file, sizeof(file), "%s/config", dir);
	assert_int_equal(file_write(file, config, strlen(config), NULL), 0);
	in.host_dir = dir;
	world();
	read_raw(&in, "threads.snap");
	if (isnan(expected))
		assert_true(isnan(metric(&in, "threads_hold_irq")));
	else
		assert_float_equal(metric(&in, "threads_hold_irq"), expected, 0);
	unlink(file);
}

TEST(kernel_configuration_says_who_is_charged_for_interrupts)
{
	check_accounting("CONFIG_IRQ_TIME_ACCOUNTING=y\n", 0);
	check_accounting("# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", 1);
	check_accounting("CONFIG_HZ=250\n", NAN);
}

TEST(configuration_that_cannot_be_read_is_noted)
{
	autofree char *config = xasprintf("%s/config", dir);

	fresh(NULL);
	in.host_dir = dir;
	world();
	read_raw(&in, "threads.snap");
	assert_int_equal(in.notes.n, 0);			/* an older capture has none */
	assert_int_equal(symlink("/proc/self/mem", config), 0); /* EIO at address 0 */
	read_raw(&in, "threads.snap");
	assert_true(noted_text(&in, NOTE_file_damaged, config));
	unlink(config);
}

TEST(run_queue_delay_is_counted)
{
	struct str s = {0};

	fresh(NULL);
	/*
	 * Half of the first span is before the window. Thread 9 starts in the second span, thread
	 * 8 ends.
	 */
	str_puts(&s, "7 7 1000000000 200000000 10 5 5 a name\n7 8 1 1 1 - - w\n");
	add_snap(9, &s);
	str_puts(&s, "7 8 1 1 1 - - w\n7 7 2000000000 400000000 30 15 15 a name\n");
	add_snap(11, &s);
	str_puts(&s, "7 7 2500000000 400000000 40 25 15 other\n7 9 100000000 5000000 7 3 4 w\n");
	add_snap(13, &s);
	read_raw(&in, "sched.snap");
	metrics_are(&in, "7/7 sched_run_ns = 1e9, 7/7 wait_ns = 1e8, 7/7 slices = 20, "
			 "7/7 voluntary = 15, 7/7 comm = other, 7/9 wait_ns = 5e6");
	assert_true(isnan(thread_row(&in, 7, 8)->voluntary)); /* absent, not 0 */
	assert_int_equal(thread_row(&in, 7, 7)->first_ns, 9 * S);
	assert_int_equal(thread_row(&in, 7, 8)->first_ns, 9 * S);
	assert_int_equal(thread_row(&in, 7, 8)->last_ns, 11 * S);
	assert_int_equal(thread_row(&in, 7, 9)->first_ns, 13 * S);
	/* Between the readings they waited 0.2 of 2 s, and 5 ms of 2 s. */
	assert_int_equal(in.nseries, 2);
	assert_string_equal(in.series[0].name, "sched_wait_pct");
	assert_int_equal(in.series[0].t_ns, 11 * S);
	assert_float_equal(in.series[0].value, 10, 1e-9);
	assert_float_equal(in.series[1].value, 0.25, 1e-9);
	/* it waited for 0 ns at last */
	metrics_are(&in, "sched_wait_ns = 105000000, sched_involuntary = 9, "
			 "note ended_between = +, note counter_reset = -");
	assert_true(isnan(thread_row(&in, 7, 7)->run_ns)); /* the threads collector measures it */
	fresh(NULL);
	str_puts(&s, "7 7 1000 1000 10 5 5 w\n");
	add_snap(10, &s);
	str_puts(&s, "7 7 500 10 1 1 1 new of that number\n7 8 9000000000 1 1 1 1 late\n7 x\n");
	add_snap(13, &s);
	read_raw(&in, "sched.snap");
	metrics_are(&in, "7/7 wait_ns = 10, 7/8 wait_ns = -, note threads_joined = 1, "
			 "note rows_unreadable = 1");
}

/* Thread 8 is born behind a slice, and process 9 comes with time that nobody saw. */
TEST(readings_behind_a_slice_have_no_threads)
{
	struct str s = {0};

	fresh(NULL);
	str_puts(&s, "7 7 0 0 0 0 0 w\n");
	add_snap(10, &s);
	str_puts(&s, "7 7 1000 2000 1 1 1 w\n");
	add_snap(13, &s);
	str_puts(&s, "7 7 1000 2000 1 1 1 w\n7 8 1 1 1 1 1 w\n9 9 9000000000 1 1 1 1 w\n");
	add_snap(14, &s);
	read_raw(&in, "sched.snap");
	metrics_are(&in, "note threads_joined = -");
	assert_int_equal(in.nthreads_seen, 1);
}

/* A thread needs both numbers, a name and the time that it ran. Its other figures may be absent. */
TEST(line_of_sched_needs_its_thread_and_its_time)
{
	struct str s = {0};

	fresh(NULL);
	str_puts(&s, "7 7 0 0 0 0 0 w\n");
	add_snap(10, &s);
	str_puts(&s, "7 7 1000 2000 inf -5 3 w\n"
		     "7 0 1 1 1 1 1 w\n0 9 1 1 1 1 1 w\n7 9 1 1 1 1 1\n7 9 - 1 1 1 1 w\n7\n");
	add_snap(13, &s);
	read_raw(&in, "sched.snap");
	metrics_are(&in, "note rows_unreadable = 5, 7/7 sched_run_ns = 1000, 7/7 wait_ns = 2000, "
			 "7/7 slices = -, 7/7 voluntary = -, 7/7 involuntary = 3, "
			 "sched_slices = -, sched_switches = -, note counter_reset = -");
	assert_int_equal(in.nthreads_seen, 1);
}

/* Thread 8 of process 7 ends, and process 9 has a new thread of that number. The span has 3 s. */
TEST(thread_is_new_unless_it_ran_and_waited_too_long)
{
	static const struct {
		const char *line;
		double ran;
	} rows[] = {
		{"9 8 2000000000 1160000000 1 1 1 w\n", 2e9}, /* 5 % and 10 ms more than the span */
		{"9 8 2000000000 1161000000 1 1 1 w\n", NAN},
	};
	struct str s = {0};

	each (r, rows) {
		bool late = isnan(r->ran);

		fresh(NULL);
		str_puts(&s, "7 8 1000 1000 1 1 1 w\n");
		add_snap(10, &s);
		str_puts(&s, r->line);
		add_snap(13, &s);
		read_raw(&in, "sched.snap");
		assert_int_equal(isnan(thread_row(&in, 9, 8)->sched_run_ns), late);
		if (!late)
			assert_float_equal(thread_row(&in, 9, 8)->sched_run_ns, r->ran, 1);
		assert_int_equal(noted(&in, NOTE_threads_joined) != NULL, late);
		assert_non_null(noted(&in, NOTE_ended_between));
	}
}

TEST(counter_of_sched_that_goes_back_is_noted)
{
	struct str s = {0};

	fresh(NULL);
	str_puts(&s, "7 7 1000 500 9 5 5 w\n");
	add_snap(10, &s);
	str_puts(&s, "7 7 1000 500 9 5 5 w\n");
	add_snap(10, &s);
	str_puts(&s, "7 7 1000 400 9 5 6 w\n");
	add_snap(13, &s);
	read_raw(&in, "sched.snap");
	metrics_are(&in, "note counter_reset = +, sched_run_ns = 0, sched_wait_ns = 0, "
			 "sched_switches = 1");
	assert_int_equal(in.nseries, 1); /* no rate between readings of one time */
	assert_float_equal(in.series[0].value, 0, 0);
}

TEST(empty_file_is_refused)
{
	fresh(NULL);
	close(open(path, O_WRONLY | O_CREAT, 0644));
	assert_int_equal(parse_file(&in, "sched.snap", path, &err), -ENODATA);
	assert_non_null(strstr(err.text, "0 snapshots"));
}
