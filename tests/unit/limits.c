// SPDX-License-Identifier: GPL-2.0-only
/* What limits a variant, at each threshold and just below it. The windows have 2 s. */
#include "analyze/evidence/limits.h"
#include "tests/unit/small_store.h"

static void check_row(const struct table *t, size_t row, const char *limit, double share,
		      const char *evidence)
{
	double v = table_real(t, row, "share");

	assert_string_equal(table_text(t, row, "evidence"), evidence);
	assert_string_equal(table_text(t, row, "limit"), limit);
	if (isnan(v) != isnan(share) || fabs(v - share) > 1e-6)
		fail_msg("%s: %g, not %g", evidence, v, share);
}

/* A thread has the two times; both are 0 where none was seen. */
static void check_case(const char *metrics, double run_s, double wait_s, const char *limit,
		       double share, const char *evidence)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){0});
	struct thread_row threads[] = {
		{.pid = 7, .tid = 7, .comm = "t", .run_ns = run_s * 1e9, .wait_ns = wait_s * 1e9},
		{.pid = 7, .tid = 8, .comm = "idle", .run_ns = 1e6, .wait_ns = 1e6}};
	struct table t;

	small_store_metric(s, run, "seconds", 2);
	small_store_metrics(s, run, metrics);
	for (size_t i = 0; run_s > 0 && i < array_size(threads); i++)
		assert_int_equal(store_thread_add(s, run, &threads[i], NULL), 0);
	t = small_store_table(s, "limits", (struct query){0});
	assert_int_equal(t.rows, 1);
	check_row(&t, 0, limit, share, evidence);
}

/* The kernel adds up what each CPU waits: 2 s on two of eight CPUs are half of a window of 2 s. */
TEST(quota_counts_on_each_cpu_that_waits)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.ncpus = 8});
	struct table t;

	small_store_metrics(s, run, "seconds = 2, throttled_quota_s = 2, workload_cpu_pct = 100");
	t = small_store_table(s, "limits", (struct query){0});
	check_row(&t, 0, "quota", 50,
		  "a cgroup's CPU quota stopped the workload for 50.0 % of the window");
}

TEST(figure_at_its_threshold_is_a_limit)
{
	check_case(
		"cpu_pct:cpu1 = 90, cpu_system_pct:cpu1 = 60, cpu_user_pct:cpu1 = 29, cpu_steal_pct:cpu1 = 1",
		0, 0, "cpu", 90, "CPU 1 is 90.0 % busy");
	check_case("cpu_pct:cpu1 = 90, cpu_system_pct:cpu1 = 0.9", 0, 0, "cpu", 90,
		   "CPU 1 is 90.0 % busy");
	check_case("cpu_pct:cpu1 = 89.9, cpu_pct:cpu2 = 80", 0, 0, "none", NAN,
		   "receiver: CPU 1 is 89.9 % busy");
	check_case("cpu_pct:cpu1 = 80, cpu_pct:cpu2 = 91", 0, 0, "cpu", 91, "CPU 2 is 91.0 % busy");
	check_case("cpu_pct:cpu1 = 96, cpu_softirq_pct:cpu1 = 40, cpu_irq_pct:cpu1 = 9", 0, 0,
		   "softirq", 96, "CPU 1 is 96.0 % busy (49 % in softirqs and interrupts)");
	check_case("cpu_pct:cpu1 = 96, cpu_softirq_pct:cpu1 = 40, cpu_irq_pct:cpu1 = 8", 0, 0,
		   "cpu", 96, "CPU 1 is 96.0 % busy (48 % in softirqs and interrupts)");
	/* The frame's division of the busy time goes before that of the ticks. */
	check_case(
		"cpu_pct:cpu1 = 96, cpu_softirq_pct:cpu1 = 80, frame_pct:softirq:cpu1 = 40, frame_pct:irq:cpu1 = 9.9",
		0, 0, "cpu", 96, "CPU 1 is 96.0 % busy (48 % in softirqs and interrupts)");
	check_case(
		"cpu_pct:cpu1 = 96, cpu_softirq_pct:cpu1 = 4, frame_pct:softirq:cpu1 = 50, frame_pct:irq:cpu1 = 1",
		0, 0, "softirq", 96, "CPU 1 is 96.0 % busy (49 % in softirqs and interrupts)");
	/* Other programs: as far as they can be on this CPU, from 1 % on. */
	check_case("cpu_pct:cpu1 = 100, cpu_user_pct:cpu1 = 50, others_user_pct = 20", 0, 0, "none",
		   NAN, "receiver: CPU 1 is 100.0 % busy, less 20.0 % of other programs");
	check_case("cpu_pct:cpu1 = 100, cpu_user_pct:cpu1 = 5, others_user_pct = 20", 0, 0, "cpu",
		   95, "CPU 1 is 100.0 % busy, less 5.0 % of other programs");
	check_case("cpu_pct:cpu1 = 91, cpu_user_pct:cpu1 = 5, others_user_pct = 1", 0, 0, "cpu", 90,
		   "CPU 1 is 91.0 % busy, less 1.0 % of other programs");
	check_case("cpu_pct:cpu1 = 90, cpu_user_pct:cpu1 = 5, others_user_pct = 0.9", 0, 0, "cpu",
		   90, "CPU 1 is 90.0 % busy");
	/* A thread that runs or waits all the time, or waits for a CPU. */
	check_case(
		"", 1.2, 0.6, "cpu", 90,
		"a thread (t) is running or ready to run for 90.0 % of the window; in the first run it waits 30.0 % of it for a CPU");
	check_case(
		"", 3, 0, "cpu", 100,
		"a thread (t) is running or ready to run for 100.0 % of the window; in the first run it waits 0.0 % of it for a CPU");
	check_case("", 1.1, 0.6, "cpu", 30,
		   "a thread (t) waits for 30.0 % of the window for a CPU that other work holds");
	check_case(
		"", 1.1, 0.59, "none", NAN,
		"receiver: a thread (t) waits for 29.5 % of the window for a CPU that other work holds");
	check_case("cpu_pct:cpu1 = 95", 1.9, 0, "cpu", 95, "CPU 1 is 95.0 % busy");
	check_case("cpu_pct:cpu1 = 95, cpu_softirq_pct:cpu1 = 95, cpu_irq_pct:cpu1 = 0", 1.9, 0,
		   "softirq", 95, "CPU 1 is 95.0 % busy (95 % in softirqs and interrupts)");
	check_case(
		"cpu_pct:cpu1 = 50", 1.9, 0, "cpu", 95,
		"a thread (t) is running or ready to run for 95.0 % of the window; in the first run it waits 0.0 % of it for a CPU");
	check_case("throttled_quota_s = 0.2", 0, 0, "quota", 10,
		   "a cgroup's CPU quota stopped the workload for 10.0 % of the window");
	check_case("throttled_quota_s = 0.19", 0, 0, "none", NAN,
		   "receiver: a cgroup's CPU quota stopped the workload for 9.5 % of the window");
	check_case("throttled_quota_s = 5", 0, 0, "quota", 100,
		   "a cgroup's CPU quota stopped the workload for 100.0 % of the window");
	/* 225 MB of 250 MB in 2 s, with 24 bytes for each frame. */
	check_case(
		"nic_state:h/eth0/speed_mbps = 1000, nic:h/eth0/link/rx_bytes = 222600000, nic:h/eth0/link/rx_packets = 100000",
		0, 0, "wire", 90, "eth0 rx: 0.90 of 1 Gbit/s");
	check_case(
		"nic_state:h/eth0/speed_mbps = 1000, nic:h/eth0/link/rx_bytes = 222600000, nic:h/eth0/link/rx_packets = 99999",
		0, 0, "none", NAN, "receiver: eth0 rx: 0.90 of 1 Gbit/s");
	check_case(
		"nic_state:h/eth0/speed_mbps = 1000, nic:h/eth0/link/rx_bytes = 222600000, nic:h/eth0/link/rx_packets = 100000, nic:h/eth0/driver=veth = 1",
		0, 0, "none", NAN, "nothing was measured");
	check_case(
		"nic_state:h/eth0/speed_mbps = 1000, nic:h/eth0/link/rx_bytes = 222600000, nic:h/eth0/link/rx_packets = 100000, nic:h/eth0/driver=virtio_net = 1",
		0, 0, "none", NAN, "nothing was measured");
	check_case(
		"nic_state:h/eth1/speed_mbps = 100, nic:h/eth1/link/tx_bytes = 23990400, nic:h/eth1/link/tx_packets = 400",
		0, 0, "wire", 96, "eth1 tx: 0.10 of 0.1 Gbit/s");
	check_case("cpu_pct:cpu1 = 0.9", 0, 0, "none", NAN, "nothing was measured");
	check_case("cpu_pct:cpu1 = 1", 0, 0, "none", NAN, "receiver: CPU 1 is 1.0 % busy");
}

/* A socket of the sender; its times are seconds. */
struct socket {
	double acked, busy_s, rwnd_s, sndbuf_s, notsent, unacked, cwnd;
};

static void add_socket(struct store *s, int64_t run, const struct socket *k)
{
	struct socket_row r = {.pid = 7, .local = "a", .peer = "b", .readings = 2};

	for (size_t i = 0; i < SOCKET_NFIGURES; i++)
		r.f[i] = NAN;
	r.f[SOCKET_bytes_acked] = k->acked;
	r.f[SOCKET_busy_us] = 1e6 * k->busy_s;
	r.f[SOCKET_rwnd_limited_us] = 1e6 * k->rwnd_s;
	r.f[SOCKET_sndbuf_limited_us] = 1e6 * k->sndbuf_s;
	r.f[SOCKET_notsent] = k->notsent;
	r.f[SOCKET_unacked] = k->unacked;
	r.f[SOCKET_cwnd] = k->cwnd;
	assert_int_equal(store_socket_add(s, run, &r, NULL), 0);
}

static void add_sockets(struct store *s, int64_t run, const char *list)
{
	struct socket k;
	int n;

	for (; sscanf(list, "%lf %lf %lf %lf %lf %lf %lf%n", &k.acked, &k.busy_s, &k.rwnd_s,
		      &k.sndbuf_s, &k.notsent, &k.unacked, &k.cwnd, &n) == 7;
	     list += n + (list[n] == ';'))
		add_socket(s, run, &k);
}

TEST(sockets_of_a_sender_wait_for_windows_buffers_or_data)
{
	static const struct {
		const char *sockets; /* members of struct socket, one after the other */
		const char *limit;
		double share;
		const char *evidence;
	} waits[] = {
		{"1000 2 0.6 0 0 1 10", "rwnd", 30,
		 "waits for the receiver for 30.0 % of the window (rwnd_limited)"},
		{"1000 2 0 0.6 0 1 10", "sndbuf", 30,
		 "its send buffer is full for 30.0 % of the window (sndbuf_limited)"},
		{"1000 1 0.1 0.3 1 9 10", "cwnd", 30,
		 "cwnd is full with data waiting: 9 of 10 segments in flight in the first run"},
		{"1000 1.6 0.1 0.3 1 8 10", "wire", 60,
		 "data wait below TCP (link, qdisc or pacing): 8 of 10 segments in flight in the "
		 "first run"},
		{"1000 1.4 0.5 0.5 0 9 10", "application", 30,
		 "the sockets have nothing to send for 30.0 % of the window"},
		{"1000 1.41 0.5 0.5 0 9 10", "none", NAN, "receiver: nothing"},
		/* The mean of two sockets; one with less than 1 % of the bytes does not count. */
		{"1000 2 0.8 0 0 1 10; 10 2 0.4 0 0 1 10", "rwnd", 30,
		 "waits for the receiver for 30.0 % of the window (rwnd_limited)"},
		{"1000 2 0.8 0 0 1 10; 9.9 2 0.4 0 0 1 10", "rwnd", 40,
		 "waits for the receiver for 40.0 % of the window (rwnd_limited)"},
		/* Times are interpolated, so a socket may seem busy longer than the window. */
		{"1000 3 0 0 1 10 10", "cwnd", 100,
		 "cwnd is full with data waiting: 10 of 10 segments in flight in the first run"},
	};

	each (c, waits) {
		struct store *s = small_store();
		int64_t run = small_store_with(s, (struct run){.side = "sender"},
					       "seconds = 2, tcp_socket_bytes_acked = 1000");
		struct table t;

		add_sockets(s, run, c->sockets);
		t = small_store_table(s, "limits", (struct query){0});
		if (strcmp(c->limit, "none"))
			check_row(&t, 0, c->limit, c->share, c->evidence);
		else
			assert_string_equal(table_text(&t, 0, "limit"), "none");
		assert_int_equal(t.rows, 1);
	}
}

/* Both sides have data to send only where each sends a tenth of what the other sends. */
TEST(side_that_sends_little_does_not_wait)
{
	for (double acked = 99; acked <= 100; acked++) {
		struct store *s = small_store();
		int64_t run = small_store_with(s, (struct run){.side = "sender"},
					       "seconds = 2, tcp_socket_bytes_acked = 1000");
		struct table t;

		add_socket(s, run, &(struct socket){1000, 2, 0.6, 0, 0, 1, 10});
		run = small_store_run(s, (struct run){0});
		small_store_metric(s, run, "seconds", 2);
		small_store_metric(s, run, "tcp_socket_bytes_acked", acked);
		add_socket(s, run, &(struct socket){acked, 2, 0.7, 0, 0, 1, 10});
		t = small_store_table(s, "limits", (struct query){0});
		small_store_column_is(&t, "side", acked < 100 ? "sender" : "receiver sender");
	}
}

static void check_words(struct store *s, const char *variant, enum limits_order order,
			const char *is)
{
	freed(limits_free) struct limits l = {0};
	autofree char *words = NULL;

	assert_int_equal(limits_read(s, &(struct query){0}, &l, NULL), 0);
	words = limits_words(&l, variant, order);
	assert_string_equal(words ?: "no row", is);
}

/* A busy CPU makes data wait, too, so the application is no limit beside it. */
TEST(words_name_each_limit_with_its_side)
{
	struct store *s = small_store();
	struct table t;
	int64_t run;

	run = small_store_with(s, (struct run){.side = "sender"},
			       "seconds = 2, tcp_socket_bytes_acked = 1000, "
			       "cpu_pct:cpu1 = 99");
	add_socket(s, run, &(struct socket){1000, 1, 0, 0, 0, 1, 10});
	t = small_store_table(s, "limits", (struct query){0});
	small_store_column_is(&t, "limit", "cpu");
	check_words(s, "v", LIMITS_BY_SHARE, "sender cpu");
	check_words(s, "w", LIMITS_BY_SHARE, "no row");
	run = small_store_with(s, (struct run){0}, "seconds = 2, cpu_pct:cpu1 = 95");
	small_store_run(s, (struct run){.variant = "w", .position = 2});
	small_store_with(s, (struct run){.variant = "x", .position = 3},
			 "seconds = 2, cpu_pct:cpu1 = 50");
	check_words(s, "v", LIMITS_BY_SHARE, "sender cpu and receiver cpu");
	check_words(s, "v", LIMITS_BY_NAME, "receiver cpu and sender cpu");
	check_words(s, "w", LIMITS_BY_SHARE, "no measured limit");
	check_words(s, "x", LIMITS_BY_SHARE, "no known limit");
	t = small_store_table(s, "summary", (struct query){0});
	small_store_says(&t, "v: limited: receiver cpu and sender cpu; see 'zcost report limits'");
	small_store_says(&t, "w: limited: no measured limit; see 'zcost report limits'");
}

/* A run of the variant with one CPU on each side and a sender that waits for the receiver. */
static void add_transfer(struct store *s, const char *variant, double receiver_cpu,
			 double sender_cpu, double rwnd_s)
{
	int64_t run = small_store_run(s, (struct run){.variant = variant});

	small_store_metric(s, run, "seconds", 2);
	small_store_metric(s, run, "cpu_pct:cpu1", receiver_cpu);
	run = small_store_with(s, (struct run){.variant = variant, .side = "sender"},
			       "seconds = 2, tcp_socket_bytes_acked = 1000");
	small_store_metric(s, run, "cpu_pct:cpu2", sender_cpu);
	add_socket(s, run, &(struct socket){1000, 2, rwnd_s, 0, 0, 1, 10});
}

/* The strongest limit is the first one, and its order is no difference between two variants. */
TEST(limits_stand_by_share_and_say_what_they_wait_for)
{
	struct store *s = small_store();
	struct table t;

	add_transfer(s, "v", 92, 95, 1);
	add_transfer(s, "w", 95, 92, 1.98);
	t = small_store_table(s, "limits", (struct query){0});
	small_store_column_is(&t, "limit", "cpu cpu rwnd rwnd cpu cpu");
	small_store_column_is(&t, "side", "sender receiver sender sender receiver sender");
	check_words(s, "v", LIMITS_BY_SHARE,
		    "sender cpu, receiver cpu and sender rwnd (waits for the receiver)");
	check_words(s, "w", LIMITS_BY_SHARE,
		    "sender rwnd (waits for the receiver), receiver cpu and sender cpu");
	check_words(s, "v", LIMITS_BY_NAME,
		    "receiver cpu, sender cpu and sender rwnd (waits for the receiver)");
	check_words(s, "w", LIMITS_BY_NAME,
		    "receiver cpu, sender cpu and sender rwnd (waits for the receiver)");
	t = small_store_table(s, "summary", (struct query){0});
	small_store_says(&t, "v, w: limited: receiver cpu, sender cpu and sender rwnd");
	add_transfer(s, "x", 92, 95, 1);
	add_transfer(s, "y", 92, 95, 1);
	t = small_store_table(s, "summary", (struct query){0});
	small_store_says(&t, "v, w, x and 1 more: limited: receiver cpu");
}

TEST(limits_that_nobody_measured_are_named)
{
	struct store *s = small_store();
	struct table t;
	int64_t run;

	run = small_store_run(s, (struct run){.variant = "w"});
	small_store_metric(s, run, "seconds", 2);
	t = small_store_table(s, "limits", (struct query){.variant = "w"});
	small_store_says(
		&t,
		"w receiver: not measured, so never named as a limit: busy CPUs (collector cpu)");
	small_store_says(
		&t,
		"w: not measured, so never named as a limit: cwnd, rwnd, sndbuf and application");
	assert_true(limits_driver_is_virtual("veth"));
	assert_true(limits_driver_is_virtual("virtio_net"));
	assert_false(limits_driver_is_virtual("mlx5_core"));
}

static void add_limit(struct limits *l, const char *variant, const char *side, enum limit kind)
{
	array_add(l->row, l->n, l->cap,
		  (struct limit_row){.variant = variant, .side = side, .kind = kind});
}

TEST(variants_that_share_a_limit_have_no_different_limits)
{
	freed(limits_free) struct limits all = {0}, own = {0};
	static const struct {
		const char *one, *other;
		bool differ;
	} cases[] = {
		{"cpu", "both", false},	   {"cpu", "softirq", false}, {"both", "receiver", false},
		{"cpu", "receiver", true}, {"none", "cpu", true},     {"none", "idle", false},
		{"cpu", "unknown", false},
	};

	add_limit(&all, "cpu", "sender", LIMIT_CPU);
	add_limit(&all, "both", "receiver", LIMIT_SOFTIRQ);
	add_limit(&all, "both", "sender", LIMIT_CPU);
	add_limit(&all, "softirq", "sender", LIMIT_SOFTIRQ);
	add_limit(&all, "receiver", "receiver", LIMIT_CPU);
	add_limit(&all, "receiver", "sender", LIMIT_RWND);
	add_limit(&all, "none", "", LIMIT_NONE);
	add_limit(&all, "idle", "", LIMIT_NONE);
	each (c, cases) {
		assert_int_equal(limits_differ(&all, c->one, &all, c->other), c->differ);
		assert_int_equal(limits_differ(&all, c->other, &all, c->one), c->differ);
	}
	add_limit(&own, "cpu", "sender", LIMIT_RWND);
	assert_true(limits_differ(&all, "cpu", &own, "cpu"));
	assert_false(limits_differ(&all, "receiver", &own, "cpu"));
}
