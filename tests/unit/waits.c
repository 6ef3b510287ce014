// SPDX-License-Identifier: GPL-2.0-only
/* The waits of threads: out of waits.tsv, and as parts of the wall time in the table waits. */
#include "collect/waits/waits.h"
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

static const char heading[] =
	"pid\ttid\tcomm\tstate\tvector\tcall\tkind\tfrom\tby\tcount\tns\thist\n";

static void put(const char *rows)
{
	autofree char *text = xasprintf("%s%s", heading, rows);

	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

TEST(threads_of_one_name_add_up_and_kernel_threads_of_each_cpu_too)
{
	struct error err = {0};

	ingest_start((struct ingest){0});
	put("1\t1\ta\twall\t\t\t\t\t\t\t1000\t\n"
	    "1\t1\ta\tuser\t\t\t\t\t\t\t300\t\n"
	    "1\t1\ta\tsyscall\t\t\t\t\t\t\t100\t\n"
	    "1\t1\ta\tkthread\t\t\t\t\t\t\t50\t\n"
	    "1\t1\ta\tsoftirq_in_user\tNET_RX\t\t\t\t\t\t20\t\n"
	    "1\t1\ta\tsoftirq_in_syscall\tNET_RX\t\t\t\t\t\t30\t\n"
	    "1\t1\ta\thardirq\tdevice\t\t\t\t\t\t10\t\n"
	    "1\t1\ta\tblocked\t\tread\tS\tsoftirq NET_RX\t\t1\t200\t45:1\n"
	    "1\t2\ta\tblocked\t\tread\tS\tsoftirq NET_RX\t\t3\t100\t32:3\n"
	    "1\t1\ta\tblocked\t\t\tD\tother\tkworker/1:2\t1\t70\t40:1\n"
	    "1\t2\ta\tblocked\t\t\tD\tother\tkworker/u8:0\t1\t10\t26:1\n"
	    "1\t1\ta\tblocked\t\tread\tT\tother\tsh\t1\t5\t\n"
	    "1\t1\ta\twaiting\t\tread\tS\tsoftirq NET_RX\t\t4\t60\t\n"
	    "1\t1\ta\twaiting\t\tread\tR\tworkload\tx;y\t1\t45\t\n"
	    "1\t1\ta\tuser\t\t\t\t\t\t\tx\t\n");
	read_raw(&in, "waits.tsv");
	metrics_are(&in,
		    "waits_wall_ns = 1000, waits_ns:a;wall = 1000, waits_ns:a;user = 300, "
		    "waits_ns:a;kernel = 150, waits_ns:a;softirq;NET_RX = 50, "
		    "waits_ns:a;hardirq;device = 10, waits_ns:a;blocked;read;softirq NET_RX = 300, "
		    "waits:a;blocked;read;softirq NET_RX = 4, "
		    "waits_ns:a;blocked;no system call;other kworker = 80, "
		    "waits:a;blocked;no system call;other kworker = 2, "
		    "waits_ns:a;blocked;stopped;other sh = 5, waits_ns:a;run queue;woken = 60, "
		    "waits_ns:a;run queue;preempted;workload x:y = 45, "
		    "waits_account_ns:wall = 1000, waits_account_ns:blocked: read = 300, "
		    "waits_account_ns:run queue = 105, waits_account_ns:blocked: stopped = 5, "
		    "note rows_unreadable = 1");
	assert_int_equal(file_write(path, "pid\ttid\n", 8, NULL), 0);
	assert_int_equal(parse_file(&in, "waits.tsv", path, &err), -EBADMSG);
}

/* The samples of the only stack say how 300 ns of waits divide; that of the other thread none. */
TEST(stacks_divide_the_time_of_their_waits)
{
	autofree char *dir = xasprintf("%s.d", path), *raw = xasprintf("%s/waits.tsv", dir);
	autofree char *kallsyms = xasprintf("%s/kallsyms", dir);
	autofree char *stacks = xasprintf("%s/waits_stacks.tsv", dir);
	autofree char *files = xasprintf("%s/waits_files.tsv", dir);
	static const char paths[] = "build_id\tpath\n00abcd\t/x/other\n00ab\t/x/prog\n";
	static const char symbols[] = "ffffffff81000000 T outer\nffffffff81000100 T inner\n"
				      "ffffffff81000200 T other\n";
	static const char rows[] =
		"pid\ttid\tcomm\tstate\tvector\tcall\tkind\tfrom\tby\tcount\tns\thist\n"
		"1\t1\ta\twall\t\t\t\t\t\t\t1000\t\n"
		"1\t1\ta\tsoftirq_in_syscall\tNET_RX\t\t\t\t\t\t600\t\n"
		"1\t1\ta\tblocked\t\tread\tS\tworkload\tb\t1\t300\t\n"
		"1\t2\ta\twaiting\t\tread\tS\tworkload\tb\t1\t100\t\n";
	static const char taken[] =
		"pid\ttid\tcall\tkind\tfrom\tby\tsamples\tns\tstack\tprogram\n"
		"1\t1\tread\tS\tworkload\tb\t2\t400\tffffffff81000110 ffffffff81000010\t"
		"00ab0000+11 +7f01 ../x+21\n"
		"1\t1\tread\tS\tworkload\tb\t1\t200\tffffffff81000210 ffffffff81000010\t\n";
	freed(str_free) struct str s = {0};
	const struct profile *p;
	size_t ndsos;

	mkdir(dir, 0755);
	ingest_start((struct ingest){.host_dir = dir, .dir = dir});
	assert_int_equal(file_write(raw, rows, strlen(rows), NULL), 0);
	assert_int_equal(file_write(stacks, taken, strlen(taken), NULL), 0);
	assert_int_equal(file_write(files, paths, strlen(paths), NULL), 0);
	assert_int_equal(file_write(kallsyms, symbols, strlen(symbols), NULL), 0);
	assert_int_equal(parse_file(&in, "waits.tsv", raw, NULL), 0);
	p = in.profile;
	for (size_t i = 0; i < p->ncosts; i++) {
		str_printf(&s, "%s %llu:", context_names[p->costs[i].context],
			   (unsigned long long)p->costs[i].weight);
		for (uint32_t f = p->costs[i].frame; f != PROFILE_NONE; f = p->frames[f].parent)
			str_printf(&s, " %s", profile_symbol_name(p, p->frames[f].symbol));
		str_puts(&s, "; ");
	}
	assert_string_equal(s.buf, "softirq in syscall 600: [softirq NET_RX]; "
				   "blocked 100: woken by workload b other outer; "
				   "blocked 200: woken by workload b inner outer 0x10 [unknown]; "
				   "run queue 100: waiting for a CPU [read]; ");
	assert_int_equal(p->events[0].weight, 1000);
	assert_true(profile_is_own(p, 1));
	/* The kernel fills a short build-id with zeros. */
	ndsos = p->ndsos;
	assert_true(profile_dso(in.profile, "/x/prog", "00ab", DSO_USER) < ndsos);
	unlink(files);
	unlink(raw);
	unlink(stacks);
	unlink(kallsyms);
	rmdir(dir);
}

/* The buckets of both halves are the same: a wait's percentile lies in a bucket around it. */
TEST(percentiles_are_within_a_bucket_of_the_wait)
{
	double p50;

	for (uint64_t ns = 3; ns < 1ULL << 33; ns = ns * 3 + 1) {
		autofree char *row = xasprintf("1\t1\ta\tblocked\t\tread\tS\t\t\t1\t%llu\t%u:1\n",
					       (unsigned long long)ns, waits_bucket(ns));

		ingest_start((struct ingest){0});
		put(row);
		read_raw(&in, "waits.tsv");
		p50 = metric(&in, "waits_p50_ns:a;blocked;read;");
		assert_true(p50 >= (double)ns * 0.88 - 1 && p50 <= (double)ns * 1.13 + 1);
	}
	assert_int_equal(waits_bucket(UINT64_MAX), WAITS_BUCKETS - 1);
}

/* Two runs of 100 messages in 2 s. One was never blocked, which counts as 0 of it. */
TEST(rows_are_parts_of_the_wall_time)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(
		s, add_run(s, "trace", 1),
		"rate_messages = 50, seconds = 2, waits_wall_ns = 4e9, "
		"waits_ns:a;wall = 4e9, waits_ns:a;user = 1e9, "
		"waits_ns:a;blocked;read;other-b = 3e9, waits:a;blocked;read;other-b = 6, "
		"waits_p99_ns:a;blocked;read;other-b = 1e9");
	small_store_metrics(s, add_run(s, "trace", 2),
			    "rate_messages = 50, seconds = 2, waits_wall_ns = 4e9, "
			    "waits_ns:a;wall = 4e9, waits_ns:a;user = 4e9");
	t = small_store_table(s, "waits", (struct query){0});
	cells_are(&t, "comm = a a, state = user blocked, by = - read, waker = - other-b");
	row_is(&t, 0, "total_ms = 2500, wall_pct = 62.5, ns_per_unit = 2.5e7, runs = 2");
	row_is(&t, 1, "total_ms = 1500, count = 3, mean_us = 5e5, p99_us = 1e6, wall_pct = 37.5");
	assert_int_equal(small_store_table(s, "waits", (struct query){.comm = "b"}).rows, 0);
}

/* 100 messages in 2 s: 1 ms of all threads is 10 us of each of them. */
TEST(a_request_has_percentiles_and_parts_of_the_wall_time)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(s, add_run(s, "measure", 1),
			    "latency_source:wrk = 1, latency_us:p99.9 = 90, latency_us:p50 = 20, "
			    "latency_us:max = 95");
	small_store_metrics(s, add_run(s, "trace", 1),
			    "rate_messages = 50, seconds = 2, waits_wall_ns = 4e6, "
			    "waits_account_ns:wall = 4e6, waits_account_ns:user = 1e6, "
			    "waits_account_ns:blocked:read = 3e6");
	t = small_store_table(s, "latency", (struct query){0});
	cells_are(&t, "source = wrk wrk wrk waits waits waits, "
		      "figure = p50 p99.9 max wall blocked:read user");
	row_is(&t, 1, "us = 90, share_pct = -, runs = 1");
	row_is(&t, 3, "us = 40, share_pct = 100");
	row_is(&t, 4, "us = 30, share_pct = 75");
}

TEST(without_a_run_that_followed_threads_there_is_no_row)
{
	struct store *s = small_store();

	small_store_metrics(s, add_run(s, "measure", 1), "seconds = 2");
	assert_int_equal(small_store_table(s, "waits", (struct query){0}).rows, 0);
}

static void release(void)
{
	ingest_free(&in);
}

AROUND_TESTS(NULL, release)
