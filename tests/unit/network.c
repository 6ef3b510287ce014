// SPDX-License-Identifier: GPL-2.0-only
/* Tables of the network stack: packets of CPUs, interrupts, counters of cards, sockets. */
#include "tests/unit/small_store.h"

/* A run of 2 s in which the workload moved 4 MiB. */
static struct store *store_with(const char *metrics)
{
	struct store *s = small_store();

	small_store_metrics(s, small_store_with(s, (struct run){0}, "seconds = 2, rate_kib = 2048"),
			    metrics);
	return s;
}

TEST(softnet_names_the_cpus_with_the_most_packets)
{
	struct store *s =
		store_with("softnet:processed = 100, softnet:processed:cpu0 = 20, "
			   "softnet:processed:cpu2 = 74, softnet:processed:cpu3 = 5, "
			   "softnet:processed:cpu4 = 1, softnet:dropped = 0, softnet:squeezed = 8, "
			   "softnet:squeezed:cpu2 = 8, softnet:flow_limited = 0");
	struct cpuset cpus = {0};
	struct table t = small_store_table(s, "softnet", (struct query){0});

	small_store_column_is(&t, "name", "softnet_processed softnet_dropped softnet_squeezed");
	assert_string_equal(table_text(&t, 0, "cpus"), "2: 74 %, 0: 20 %, 3: 5 %");
	assert_string_equal(table_text(&t, 2, "cpus"), "2: 100 %");
	row_is(&t, 0, "value = 100, per_s = 50, per_mib = 25");
	cpuset_add(&cpus, 2);
	cpuset_add(&cpus, 4);
	t = small_store_table(s, "softnet", (struct query){.cpus = &cpus});
	small_store_column_is(&t, "name", "softnet_processed softnet_processed softnet_squeezed");
	row_is(&t, 1, "cpu = 4, value = 1");
	t = small_store_table(s, "softnet", (struct query){.by = "cpu"});
	cells_are(&t, "rows = 5, 0 cpu = 0");
	t = small_store_table(s, "softnet", (struct query){.all = true});
	assert_int_equal(t.rows, 4);
}

/* Less than one packet a second has shares, too. Of equal CPUs the first is named first. */
TEST(softnet_has_shares_of_few_packets)
{
	struct store *s =
		store_with("softnet:dropped = 1, softnet:dropped:cpu2 = 1, softnet:squeezed = 4, "
			   "softnet:squeezed:cpu0 = 2, softnet:squeezed:cpu1 = 2, "
			   "softnet:waiting_max = 6, softnet:processed_x:cpu5 = 9");
	struct table t = small_store_table(s, "softnet", (struct query){0});

	cells_are(&t, "name = softnet_dropped softnet_squeezed softnet_waiting_max, "
		      "0 per_s = 0.5, 2 value = 6, 2 per_s = -, 2 per_mib = -, 0 cpu = -");
	assert_string_equal(table_text(&t, 0, "cpus"), "2: 100 %");
	assert_string_equal(table_text(&t, 1, "cpus"), "0: 50 %, 1: 50 %");
}

/* A CPU that counted nothing in a run has no metric there: it counts as 0. */
TEST(softnet_counts_a_silent_cpu_as_zero)
{
	struct store *s = store_with("softnet:processed = 9, softnet:processed:cpu1 = 9");
	int64_t run = small_store_run(s, (struct run){.repeat = 2});
	struct table t;

	small_store_metric(s, run, "seconds", 2);
	small_store_metric(s, run, "softnet:processed", 3);
	small_store_run(s, (struct run){.repeat = 3}); /* no readings at all */
	t = small_store_table(s, "softnet", (struct query){.by = "cpu"});
	row_is(&t, 0, "runs = 2, value = 4.5");
}

TEST(interrupts_are_ranked_by_rate_with_their_cpus)
{
	struct store *s =
		store_with("irq:24 eth0-rx = 10, irq:24 eth0-rx:cpu1 = 9, irq:24 eth0-rx:cpu2 = 1, "
			   "irq:25 eth0-tx:cpu1 = 4, irq:25 eth0-tx:cpu2 = 3, "
			   "irq:25 eth0-tx:cpu3 = 2, irq:25 eth0-tx:cpu4 = 1, irq:25 eth0-tx = 30, "
			   "irq:LOC = 0, softirq:NET_RX = 4, softirq:NET_RX:cpu1 = 4");
	struct table t = small_store_table(s, "irq", (struct query){0});

	cells_are(&t, "source = 25 24 NET_RX, kind = irq irq softirq, "
		      "device = eth0-tx eth0-rx -, 0 per_s = 15");
	assert_string_equal(table_text(&t, 0, "cpus"), "1: 40 %, 2: 30 %, 3: 20 %");
	assert_string_equal(table_text(&t, 1, "cpus"), "1: 90 %, 2: 10 %");
	assert_true(small_store_noted(&t, "counts are those of the side's CPUs"));
	t = small_store_table(s, "irq", (struct query){.by = "cpu"});
	cells_are(&t, "source = 24 25 25 25 24 25 NET_RX, 1 cpu = 1, 1 per_s = 2");
	assert_false(small_store_noted(&t, "counts are those of the side's CPUs"));
	t = small_store_table(s, "irq", (struct query){.limit = 1});
	small_store_column_is(&t, "source", "25");
}

TEST(nic_sorts_kernel_driver_and_queues_and_names_kinds)
{
	struct store *s =
		store_with("nic:host/eth10/link/rx_packets = 2, "
			   "nic:host/eth2/ethtool/rx_crc_errors = 6, "
			   "nic:host/eth2/link/rx_dropped = 4, nic:host/eth2/rx-1/packets = 8, "
			   "nic:host/eth2/rx-0/packets = 8, nic:host/eth2/link/tx_packets = 0, "
			   "nic_known_s:host/eth2/link/rx_dropped = 1");
	struct table t = small_store_table(s, "nic", (struct query){0});

	cells_are(&t, "interface = eth2 eth2 eth2 eth2 eth10, "
		      "name = rx_dropped packets packets rx_crc_errors rx_packets, "
		      "queue = - rx-0 rx-1 - -, kind = drop - - error -");
	/* The counter was known for one of the two seconds. */
	cells_are(&t, "0 per_s = 4, 0 per_mib = 2, 3 per_s = 3");
	t = small_store_table(s, "nic", (struct query){.by = "queue"});
	small_store_column_is(&t, "queue", "rx-0 rx-1");
	t = small_store_table(s, "nic", (struct query){.by = "interface", .limit = 1});
	small_store_column_is(&t, "name", "rx_dropped");
	t = small_store_table(s, "nic", (struct query){.by = "interface", .all = true, .limit = 1});
	small_store_column_is(&t, "name", "rx_dropped tx_packets rx_packets");
	/* Two names with "err" that are no errors. */
	s = store_with(
		"nic:host/e/ethtool/interrupts = 4, nic:host/e/ethtool/tx_deferred = 3, "
		"nic:host/e/ethtool/tx_errors = 2, nic:host/e/ethtool/tx_excessive_deferral = 1");
	t = small_store_table(s, "nic", (struct query){0});
	cells_are(
		&t,
		"name = interrupts tx_deferred tx_errors tx_excessive_deferral, kind = - - error error");
}

/* Cards that moved packets have their settings in a note, of all runs. */
TEST(settings_of_working_cards_are_noted)
{
	struct store *s = store_with(
		"nic:host/eth0/link/rx_packets = 5, nic:host/eth1/link/tx_packets = 5, "
		"nic:host/eth2/link/tx_packets = 0, nic:host/lo/link/rx_packets = 5, "
		"nic_state:host/eth0/up = 1, nic_state:host/eth1/up = 1, "
		"nic_state:host/eth2/up = 1, nic_state:host/lo/up = 1, "
		"nic_state:host/eth0/speed_mbps = 25000, nic_state:host/eth0/mtu = 1500, "
		"nic_state:host/eth0/rx_ring = 256, "
		"nic_state:host/eth0/rx_ring_max = 4096, "
		"nic_state:host/eth0/tx_ring = 128, nic_state:host/eth0/rx_channels = 0, "
		"nic_state:host/eth0/feature:rx-gro = 1, "
		"nic_state:host/eth0/feature:rx-lro = 0, "
		"nic_state:host/eth0/rx_usecs = 8, "
		"nic_state:host/eth0/gro_max_size = 65536, "
		"nic_state:host/eth0/gso_max_size = 65535, "
		"nic:host/eth0/driver=mlx5_core = 1, nic_state:host/eth1/mtu = 9000");
	int64_t run = small_store_run(s, (struct run){.repeat = 2});
	struct table t;

	small_store_metric(s, run, "nic_state:host/eth0/rx_usecs", 16);
	small_store_metric(s, run, "nic_state:host/eth0/mtu", 1500);
	t = small_store_table(s, "nic", (struct query){0});
	small_store_says(
		&t,
		"host/eth0: mlx5_core, 25000 Mbit/s, mtu 1500, rx ring 256 of 4096, tx ring 128, rx-usecs 8|16, gro on, lro off, gso_max_size 65535");
	small_store_says(&t, "host/eth1: mtu 9000");
	assert_false(small_store_noted(&t, "host/eth2: "));
	assert_false(small_store_noted(&t, "host/lo: "));
}

TEST(counters_that_stand_still_are_named_in_a_note)
{
	struct store *s = store_with("nic:host/eth2/link/rx_packets = 0");
	struct table t = small_store_table(s, "nic", (struct query){0});

	assert_int_equal(t.rows, 0);
	small_store_says(&t, "no counter changed; --all shows the others");
}

TEST(tcp_scales_the_figures_of_a_socket)
{
	struct store *s = store_with("tcp_retransmits = 3, workload_bytes = 2e9");
	struct socket_row r = {
		.pid = 7, .local = "a:1", .peer = "b:2", .congestion = "cubic", .readings = 2};
	struct run *runs;
	struct table t;

	assert_int_equal(store_runs(s, &(struct run_filter){0}, &runs, NULL), 1);
	for (size_t i = 0; i < SOCKET_NFIGURES; i++)
		r.f[i] = 1e6 * (double)(i + 1);
	r.f[SOCKET_busy_us] = 1e6;
	assert_int_equal(store_socket_add(s, runs[0].id, &r, NULL), 0);
	r.local = "c:3";
	r.f[SOCKET_bytes_sent] = 0;
	r.f[SOCKET_bytes_acked] = 0;
	assert_int_equal(store_socket_add(s, runs[0].id, &r, NULL), 0);
	free(runs);
	t = small_store_table(s, "tcp", (struct query){0});
	cells_are(&t, "evidence = sock_diag sock_diag workload, local = a:1 c:3 -, "
		      "congestion = cubic cubic -, 2 run = 1, 0 busy_pct = 50, "
		      "1 retrans_per_gb = -, 2 retrans = 3, 2 retrans_per_gb = 1.5");
	small_store_says(&t, "evidence 'workload': retransmits cover the workload's whole run");
	assert_false(small_store_noted(&t, "rows; --all"));
	assert_float_equal(table_real(&t, 0, "rtt_us"), 1e6 * (SOCKET_rtt_us + 1), 0);
	assert_float_equal(table_real(&t, 0, "delivery_gbps"), 8e-3 * (SOCKET_delivery_rate + 1),
			   1e-9);
	assert_float_equal(table_real(&t, 0, "rmem_kib"), 1e6 * (SOCKET_rmem + 1) / 1024, 1e-6);
	assert_float_equal(table_real(&t, 0, "acked_mb"), SOCKET_bytes_acked + 1, 1e-9);
	assert_float_equal(table_real(&t, 0, "retrans_per_gb"),
			   1e9 * (SOCKET_retrans + 1) / (SOCKET_bytes_sent + 1), 1e-3);
	t = small_store_table(s, "tcp", (struct query){.limit = 1});
	small_store_column_is(&t, "local", "a:1 -");
	small_store_says(&t, "v receiver: 2 of 3 rows;");
}
