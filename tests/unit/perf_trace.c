// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"

#include "tests/unit/small_store.h"

static int parse(const char *text, struct trace *tr, struct error *err)
{
	autofree char *copy = strdup(text);
	int ret = perf_trace_parse("t", copy, strlen(copy), tr, err);

	return ret;
}

static struct trace parsed(const char *text)
{
	struct error err = {0};
	struct trace tr;

	if (parse(text, &tr, &err))
		fail_msg("%s", err.text);
	return tr;
}

static void check_row(const struct trace *tr, size_t i, const char *name, uint64_t calls,
		      uint64_t errors, double total, double min, double max, double pct)
{
	const struct syscall_row *r = &tr->rows[i];
	double n = (double)r->calls;

	assert_true(i < tr->n);
	assert_string_equal(r->name, name);
	assert_int_equal(r->calls, calls);
	assert_int_equal(r->errors, errors);
	assert_int_equal(r->total_ns, llround(1e6 * total));
	assert_int_equal(r->min_ns, llround(1e6 * min));
	assert_int_equal(r->max_ns, llround(1e6 * max));
	assert_float_equal(100 * sqrt(r->m2 / n / (n - 1)) / ((double)r->total_ns / n), pct, 1e-9);
}

TEST(perf_trace_table_is_read)
{
	struct trace tr =
		parsed("\n Summary of events:\n\n ls (worker) (28441), 296 events, 97.4%\n\n"
		       "   syscall            calls  errors  total       min       avg       max   "
		       "    stddev\n"
		       "                                     (msec)    (msec)    (msec)    (msec)  "
		       "      (%)\n"
		       "   --------------- --------  ------ -------- --------- --------- --------- "
		       "    ------\n"
		       "   openat                39     19     1.944     0.021     0.050     0.116 "
		       "     8.34%\n"
		       "\t\t\t\tENOENT: 19\n"
		       "   mmap                  30      0     1.321     0.023     0.044     0.107 "
		       "     9.24%\n"
		       "\n dd (5), 4 events, 2.6%\n\n"
		       "   syscall            calls  errors  total       min       avg       max   "
		       "    stddev\n"
		       "   read                   2      0     0,030     0,010     0,015     0,020 "
		       "    33.33%\n");

	assert_int_equal(tr.n, 3);
	check_row(&tr, 0, "openat", 39, 19, 1.944, 0.021, 0.116, 8.34);
	check_row(&tr, 1, "mmap", 30, 0, 1.321, 0.023, 0.107, 9.24);
	check_row(&tr, 2, "read", 2, 0, 0.03, 0.01, 0.02, 33.33);
	assert_string_equal(tr.rows[0].comm, "ls (worker)");
	assert_int_equal(tr.rows[0].tid, 28441);
	assert_string_equal(tr.rows[2].comm, "dd");
	trace_free(&tr);
}

/* Figures of the zero-copy talk (1 CPU, devmem), with the text as copied from its slides. */
TEST(copied_slides_are_read)
{
	struct trace tr = parsed(":10435 (10435), 1627807 events, 100.0%\n\n"
				 "syscall\tcalls\terrors\ttotal (msec)\tmin (msec)\tavg "
				 "(msec)\tmax (msec)\tstddev (%)\n"
				 "\t\t\t\xc2\xb7\t\t\t\t\n"
				 "setsockopt\t313019\t0\t63395.250\t0.001\t0.203\t460.799\t0.84%\n"
				 "recvmsg\t168459\t1391\t26726.717\t0.001\t0.159\t84.382\t0.32%\n"
				 "ioctl\t334018\t0\t1547.941\t0.001\t0.005\t26.047\t3.12%\n"
				 "epoll_wait\t1398\t0\t727.045\t0.000\t0.520\t100.199\t25.99%\n\n"
				 "### Recycling: setsockopt costs 203 us\n");

	assert_int_equal(tr.n, 4);
	check_row(&tr, 1, "recvmsg", 168459, 1391, 26726.717, 0.001, 84.382, 0.32);
	assert_string_equal(tr.rows[3].comm, ":10435");
	trace_free(&tr);
}

static void refused(const char *text, int code, const char *says)
{
	struct error err = {0};
	struct trace tr;

	assert_int_equal(parse(text, &tr, &err), -code);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	assert_int_equal(tr.n, 0);
}

#define HEAD "syscall calls errors total min avg max stddev\n"

TEST(damaged_table_is_refused)
{
	refused("", ENODATA, "t is empty");
	refused("read 3 0 1 1 1 1 1\n", ENODATA, "perf trace -s");
	refused(HEAD "read 809214 2595 0.001 0.094 0.272 0.03%\n", EBADMSG,
		"line 2: the row has fewer columns");
	refused(HEAD "recvmsg 48 2 5 55.2 0.001 0.1 148.9 0.3%\n", EBADMSG,
		"line 2: the row has more columns");
	refused(HEAD "read 3x 0 1 1 1 1 1%\n", EBADMSG, "line 2: the count");
	refused(HEAD "read 3 0 1 1 x 1 1%\n", EBADMSG, "line 2: the time");
	refused(HEAD "read 615359 0 58831.493 0.001 0.112 0.371 0.03%\n", EBADMSG,
		"total / calls is not avg");
	refused(HEAD "read 0 0 0 0 0 0 0%\n", EBADMSG, "has no calls");
}

/*
 * Two threads of one command, worked by hand: 1, 2, 3 ms and 5, 7 ms. Their standard errors: sd 1 /
 * sqrt(3) of mean 2 is 28.8675 %; sd 1.4142 / sqrt(2) of 6 is 16.6667 %. Together 5 calls, mean
 * 3.6, sd 2.4083, standard error 1.0770, 29.9177 %.
 */
TEST(merged_threads_have_the_joint_standard_error)
{
	struct trace tr = parsed("a (1), 6 events\n" HEAD "write 1 0 0.5 0.5 0.5 0.5 0.00%\n"
				 "read 3 0 6.0 1.0 2.0 3.0 28.8675%\n"
				 "a (2), 4 events\n" HEAD "read 2 1 12.0 5.0 6.0 7.0 16.6667%\n");
	struct table t = small_store_table(
		NULL, "syscalls",
		(struct query){.bare.trace = &tr, .work.units = 2048, .unit = "KiB"});

	cells_are(&t, "syscall = read write, 0 calls = 5, 0 errors = 1, 0 total_ms = 18, "
		      "0 min_ms = 1, 0 avg_ms = 3.6, 0 max_ms = 7, 0 ns_per_kib = 8789.0625");
	assert_float_equal(table_real(&t, 0, "stddev_pct"), 29.9177, 0.001);
	assert_float_equal(table_real(&t, 0, "calls_per_mib"), 2.5, 1e-9); /* 5 calls in 2 MiB */
	t = small_store_table(NULL, "syscalls", (struct query){.bare.trace = &tr, .limit = 1});
	assert_int_equal(t.rows, 1);
	t = small_store_table(NULL, "syscalls", (struct query){.bare.trace = &tr, .comm = "b"});
	assert_int_equal(t.rows, 0);
	trace_free(&tr);
}
