// SPDX-License-Identifier: GPL-2.0-only
/* The way of a packet: the histogram of the kernel's half, path.tsv, and the table path. */
#include "collect/path/path.h"
#include "lib/stats.h"
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

#include <math.h>

static struct str file;

TEST(a_bucket_is_at_most_a_64th_of_its_times_wide)
{
	uint64_t ns = 0, from, to;

	for (uint32_t b = 0; b < PATH_BUCKETS; b++) {
		from = path_bucket_start(b);
		to = path_bucket_start(b + 1);
		assert_int_equal(from, ns);
		assert_int_equal(path_bucket(from), b);
		assert_int_equal(path_bucket(to - 1), b);
		assert_true((to - from - 1) * PATH_SUBS < from || to - from == 1);
		ns = to;
	}
	assert_int_equal(ns, 1ULL << 40);
	assert_int_equal(path_bucket(UINT64_MAX), PATH_BUCKETS - 1);
}

/* Times over seven powers of ten, of which 30 % are 0. */
TEST(quantiles_are_within_2_percent_and_the_mean_is_exact)
{
	enum { N = 20000 };
	static uint64_t hist[PATH_BUCKETS];
	static double x[N];
	static const struct {
		const char *metric;
		double p;
	} cases[] = {{"path_p50_ns:receive tcp", 0.5},
		     {"path_p99_ns:receive tcp", 0.99},
		     {"path_p999_ns:receive tcp", 0.999}};
	double sum = 0;

	memset(hist, 0, sizeof(hist));
	for (int i = 0; i < N; i++) {
		double u = (i * 7919 % N + 0.5) / N;

		x[i] = u < 0.3 ? 0 : floor(exp(stats_normal_quantile((u - 0.3) / 0.7) * 2.3 + 8));
		hist[path_bucket((uint64_t)x[i])]++;
		sum += x[i];
	}
	ingest_start((struct ingest){0});
	str_reset(&file);
	str_printf(&file,
		   "way\tstage\twhat\tfrom_ns\tto_ns\tvalue\nreceive\t\tfollowed\t\t\t%d\n"
		   "receive\ttcp\tns\t\t\t%.0f\n",
		   N, sum);
	for (uint32_t b = 0; b < PATH_BUCKETS; b++)
		if (hist[b])
			str_printf(&file, "receive\ttcp\tbucket\t%llu\t%llu\t%llu\n",
				   (unsigned long long)path_bucket_start(b),
				   (unsigned long long)path_bucket_start(b + 1),
				   (unsigned long long)hist[b]);
	put_raw(file.buf);
	read_raw(&in, "path.tsv");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double q = stats_quantile(x, N, cases[i].p);

		if (!(fabs(metric(&in, cases[i].metric) / q - 1) < 0.02))
			fail_msg("%s: %g instead of %g", cases[i].metric,
				 metric(&in, cases[i].metric), q);
	}
	assert_true(fabs(metric(&in, "path_mean_ns:receive tcp") / (sum / N) - 1) < 1e-9);
}

TEST(counts_belong_to_a_way_and_few_packets_have_no_p99)
{
	struct error err = {0};

	ingest_start((struct ingest){0});
	put_raw("way\tstage\twhat\tfrom_ns\tto_ns\tvalue\n"
		"send\t\tfollowed\t\t\t3\nsend\t\tweight\t\t\t6\n"
		"send\t\tsegments\t\t\t60\nsend\t\tbytes\t\t\t6000\n"
		"\t\tfull\t\t\t2\n"
		"send\tqdisc\tpassed\t\t\t2\nsend\tqdisc\tleft\t\t\t1\nsend\tqdisc\tns\t\t\t400\n"
		"send\tqdisc\tbucket\t0\t1\t1\nsend\tqdisc\tbucket\t100\t101\t2\n"
		"send\tqdisc\tbucket\t200\t202\t1\n"
		"send\tqdisc\tbucket\t300\t200\t1\nsend\tqdisc\tpassed\t\t\tx\n");
	read_raw(&in, "path.tsv");
	metrics_are(&in, "path_followed:send = 3, path_one_in:send = 2, path_segments:send = 10, "
			 "path_bytes:send = 1000, path_full = 2, path_passed:send qdisc = 2, "
			 "path_left:send qdisc = 1, path_mean_ns:send qdisc = 100, "
			 "path_p50_ns:send qdisc = 100, path_p99_ns:send qdisc = -, "
			 "note rows_unreadable = 2");
	put_raw("way\tstage\n");
	assert_int_equal(parse_file(&in, "path.tsv", path, &err), -EBADMSG);
}

/*
 * 1000 ns per KiB in 10 samples. For each of 800 packets, which have requests, there are 2 KiB of
 * work. The interrupt is no part of the call.
 */
TEST(the_cpu_time_of_a_stage_is_that_below_its_functions)
{
	static const struct {
		const char *names[4];
		uint64_t n;
		enum context context;
	} stacks[] = {
		{{"net_rx_action", "__netif_receive_skb_core"}, 1, CTX_SOFTIRQ},
		{{"net_rx_action", "__netif_receive_skb_core", "tcp_rcv_established"},
		 2,
		 CTX_SOFTIRQ},
		{{"do_syscall_64", "tcp_recvmsg", "_copy_to_iter"}, 4, CTX_SYSCALL},
		{{"do_syscall_64", "tcp_recvmsg"}, 1, CTX_SYSCALL},
		{{"do_syscall_64"}, 2, CTX_SYSCALL},
	};
	struct store *s = small_store();
	struct world w;
	struct table t;

	add_basis(s, "v");
	start_world(&w);
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		uint32_t at = PROFILE_NONE;

		for (size_t f = 0; f < 4 && stacks[i].names[f]; f++)
			at = frame(&w, at, stacks[i].names[f]);
		add(&w, at, 1, stacks[i].context, stacks[i].n);
	}
	store_world(s, add_run(s, "profile", 1), &w);
	small_store_metrics(
		s, add_run(s, "trace", 1),
		"rate_kib = 800, seconds = 2, "
		"path_followed:receive = 200, path_one_in:receive = 4, path_bytes:receive = 39, "
		"path_segments:receive = 1, path_passed:receive protocol = 200, "
		"path_mean_ns:receive protocol = 1000, path_passed:receive tcp = 200, "
		"path_mean_ns:receive tcp = 3000, path_passed:receive read = 200, "
		"path_mean_ns:receive read = 4000, path_passed:receive end_to_end = 200, "
		"path_mean_ns:receive end_to_end = 8000, path_left:receive backlog = 3");
	t = small_store_table(s, "path", (struct query){0});
	cells_are(&t, "stage = protocol backlog tcp read end_to_end");
	row_is(&t, 0, "mean_us = 1, share_pct = 12.5, cpu_us = 0.2, left = -");
	row_is(&t, 1, "mean_us = -, cpu_us = -, left = 3");
	row_is(&t, 2, "mean_us = 3, cpu_us = 0.4");
	row_is(&t, 3, "mean_us = 4, cpu_us = 1");
	row_is(&t, 4, "mean_us = 8, bytes = 39, one_in = 4, cpu_us = -");
	small_store_run(s = small_store(), (struct run){0});
	t = small_store_table(s, "path", (struct query){0});
	assert_int_equal(t.rows, 0);
	small_store_says(&t, "no run measured this");
}

static void release(void)
{
	str_free(&file);
	ingest_free(&in);
}

AROUND_TESTS(NULL, release)
