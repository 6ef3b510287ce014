// SPDX-License-Identifier: GPL-2.0-only
/* Dropped packets: out of drops.tsv, and in the table drops beside all other counters of drops. */
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

static const char heading[] = "whose\treason\tlocation\tdrops\tsegments\tbytes\n";

TEST(places_of_one_function_add_up_and_a_run_without_drops_has_zero)
{
	autofree char *kallsyms = xasprintf("%s.d/kallsyms", path);
	autofree char *dir = xasprintf("%s.d", path);
	static const char symbols[] = "ffffffff81000000 T udp_rcv\nffffffff81000100 T tcp_rcv\n";
	freed(str_free) struct str s = {0};
	struct error err = {0};

	mkdir(dir, 0755);
	assert_int_equal(file_write(kallsyms, symbols, strlen(symbols), NULL), 0);
	ingest_start((struct ingest){.host_dir = dir});
	str_printf(&s, "%s%s", heading,
		   "workload\tNO_SOCKET\t0xffffffff81000010\t3\t3\t300\n"
		   "workload\tNO_SOCKET\t0xffffffff81000020\t2\t90\t70\n"
		   "host\tNO_SOCKET\t0xffffffff81000110\t1\t1\t1\n"
		   "host\t0x30001\t0x10\t1\t1\t1\n"
		   "host\tNO_SOCKET\t0x10\tx\t1\t1\n");
	put_raw(s.buf);
	read_raw(&in, "drops.tsv");
	metrics_are(&in, "drops:workload NO_SOCKET udp_rcv = 5, "
			 "drops_segments:workload NO_SOCKET udp_rcv = 93, "
			 "drops_bytes:workload NO_SOCKET udp_rcv = 370, "
			 "drops:host NO_SOCKET tcp_rcv = 1, drops:host 0x30001 0x10 = 1, "
			 "drops:total = 7, drops_bytes:total = 372, metrics = 12, "
			 "note rows_unreadable = 1");
	ingest_start((struct ingest){.host_dir = dir});
	put_raw(heading);
	read_raw(&in, "drops.tsv");
	metrics_are(&in, "drops:total = 0, drops_segments:total = 0, metrics = 3, notes = 0");
	put_raw("whose\treason\tdrops\n");
	assert_int_equal(parse_file(&in, "drops.tsv", path, &err), -EBADMSG);
	ingest_start((struct ingest){.host_dir = dir});
	put_raw("reason\tlocation\tdrops\tns\n"
		"NO_SOCKET\t0xffffffff81000010\t3\t6000\nNO_SOCKET\t0xffffffff81000020\t1\t10\n");
	read_raw(&in, "drop_times.tsv");
	metrics_are(&in, "drops_timed:NO_SOCKET udp_rcv = 4, drops_ns:NO_SOCKET udp_rcv = 6010, "
			 "drops_timed:total = 4, drops_ns:total = 6010, metrics = 4, notes = 0");
	unlink(kallsyms);
	rmdir(dir);
}

/* --- the table --- */

/*
 * Two runs of 4 MiB in 2 s. One had no packet without a socket, which counts as 0 of them. Two runs
 * of the other pass timed 30 such packets.
 */
TEST(every_counter_of_drops_has_a_row)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(
		s, add_run(s, "measure", 1),
		"rate_kib = 2048, seconds = 2, drops:total = 8, drops_bytes:total = 80, "
		"drops:workload NO_SOCKET udp_rcv = 8, "
		"drops_bytes:workload NO_SOCKET udp_rcv = 80, softnet:dropped = 2, "
		"softnet:processed = 9, snmp:UdpRcvbufErrors = 4, snmp:UdpInDatagrams = 9, "
		"nic:host/eth0/link/rx_dropped = 0, nic:workload/veth0/link/tx_dropped = 3, "
		"nic:host/eth0/ethtool/rx0_drops = 6");
	small_store_metrics(s, add_run(s, "measure", 2),
			    "rate_kib = 2048, seconds = 2, drops:total = 0, drops_bytes:total = 0, "
			    "snmp:UdpRcvbufErrors = 0");
	small_store_metrics(
		s, add_run(s, "syscalls", 1),
		"drops_timed:NO_SOCKET udp_rcv = 10, drops_ns:NO_SOCKET udp_rcv = 9000, "
		"drops_timed:SOCKET_RCVBUFF udp_rcv = 1, drops_ns:SOCKET_RCVBUFF udp_rcv = 7");
	small_store_metrics(
		s, add_run(s, "syscalls", 2),
		"drops_timed:NO_SOCKET udp_rcv = 20, drops_ns:NO_SOCKET udp_rcv = 6000");
	t = small_store_table(s, "drops", (struct query){0});
	cells_are(&t, "source = kfree_skb softnet socket nic nic, "
		      "whose = workload host namespace host namespace, "
		      "reason = NO_SOCKET dropped UdpRcvbufErrors rx0_drops tx_dropped, "
		      "place = udp_rcv - - eth0 veth0");
	row_is(&t, 0,
	       "drops = 4, segments = -, bytes = 40, per_s = 2, per_mib = 1, cpu_us = 0.5, "
	       "cpu_pct = 0.0001, runs = 2");
	row_is(&t, 1, "drops = 2, per_s = 1, per_mib = 0.5, cpu_us = -, cpu_pct = -, runs = 1");
	row_is(&t, 2, "drops = 2, runs = 2");
	t = small_store_table(s, "drops", (struct query){.all = true});
	assert_int_equal(t.rows, 6);
	t = small_store_table(s, "drops", (struct query){.limit = 2});
	assert_int_equal(t.rows, 2);
}

TEST(without_drops_the_total_is_a_row)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(s, add_run(s, "measure", 1),
			    "seconds = 2, drops:total = 0, snmp:UdpNoPorts = 0");
	t = small_store_table(s, "drops", (struct query){0});
	cells_are(&t, "source = kfree_skb");
	row_is(&t, 0, "drops = 0, whose = -, reason = -");
	small_store_run(s = small_store(), (struct run){0});
	t = small_store_table(s, "drops", (struct query){0});
	assert_int_equal(t.rows, 0);
}

static void release(void)
{
	ingest_free(&in);
}

AROUND_TESTS(NULL, release)
