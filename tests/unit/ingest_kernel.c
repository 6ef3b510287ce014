// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsers of what the kernel counts, on recorded bytes with sums worked out by hand. Window: [10 s,
 * 13 s]; the side's CPUs: 1.
 */
#include "analyze/probes/snapshots.h"
#include "tests/unit/ingested.h"

#include <malloc.h>

static const uint64_t S = 1000000000;

static void fresh(void)
{
	ingest_start((struct ingest){
		.run = {.start_ns = 10 * S, .end_ns = 13 * S, .cpus = "1", .ncpus = 1},
		.has_cpus = true});
	cpuset_add(&in.cpus, 1);
}

/* Reads a file with these readings: READ("softnet.snap", {10, "1 2 3\n"}, {13, "2 3 4\n"}). */
#define READ_ON(file, ...) read_readings(file, READINGS(__VA_ARGS__))
#define READ(file, ...)	   (fresh(), READ_ON(file, __VA_ARGS__))

static void add(double seconds, const char *text)
{
	append_snap(path, seconds, text, strlen(text));
}

#define is(in, name, value) assert_float_equal(metric(&(in), name), value, 1e-9)
#define absent(in, name)    assert_true(isnan(metric(&(in), name)))

TEST(deltas)
{
	static const char *const more[] = {"w", "x", "y", "z"};
	freed(deltas_free) struct deltas d;

	fresh();
	d = (struct deltas){0};
	deltas_reading(&d, &in, 9 * S);
	assert_true(isnan(deltas_put(&d, "a", NO_CPU, 100)));
	deltas_put(&d, "b", NO_CPU, 5);
	deltas_reading(&d, &in, 11 * S); /* half of it is in the window */
	assert_float_equal(deltas_put(&d, "a", NO_CPU, 200), 100, 0);
	deltas_put(&d, "b", NO_CPU, 9);
	assert_true(isnan(deltas_put(&d, "b", NO_CPU, 99))); /* the first of two counts */
	deltas_put(&d, "late", NO_CPU, 1000);
	deltas_reading(&d, &in, 12 * S);
	deltas_put(&d, "a", NO_CPU, 20); /* set back: what it counted is not known */
	deltas_put(&d, "late", NO_CPU, 1007);
	deltas_put(&d, "late", NO_CPU, 9999); /* twice in one reading */
	deltas_reading(&d, &in, 13 * S);
	deltas_put(&d, "a", NO_CPU, 50);
	assert_float_equal(d.d[0].sum, 50 + 30, 1e-9);
	assert_float_equal(d.d[0].known_s, 2, 1e-9);
	assert_true(d.d[0].back && !d.d[0].between && !delta_gone(&d, &d.d[0]));
	assert_float_equal(d.d[1].sum, 2, 1e-9);
	assert_true(delta_gone(&d, &d.d[1]));
	assert_float_equal(d.d[2].sum, 7, 1e-9);
	assert_true(d.d[2].between);
	deltas_note_resets(&in, &d, "x");
	assert_string_equal(noted(&in, NOTE_counter_reset)->value[1].text, "a");
	notes_free(&in.notes);
	in.notes = (struct notes){0};
	for (size_t i = 0; i < 4; i++)
		deltas_put(&d, more[i], 1, 0);
	for (size_t i = 3; i < d.n; i++)
		d.d[i].back = true;
	deltas_note_resets(&in, &d, "x");
	assert_string_equal(noted(&in, NOTE_counter_reset)->value[1].text,
			    "a, w of CPU 1, x of CPU 1 and 2 more");
	deltas_restart(&d);
	deltas_reading(&d, &in, 13 * S + 1);
	assert_true(isnan(deltas_put(&d, "a", NO_CPU, 900))); /* another counter */
}

/* Only what happens in the window counts. A counter that appears at its start was not late. */
TEST(deltas_of_the_window_alone)
{
	freed(deltas_free) struct deltas d;

	fresh();
	d = (struct deltas){0};
	deltas_reading(&d, &in, 8 * S);
	deltas_put(&d, "a", NO_CPU, 9);
	deltas_reading(&d, &in, 9 * S);
	assert_true(isnan(deltas_put(&d, "a", NO_CPU, 5))); /* set back before the window */
	deltas_reading(&d, &in, 10 * S);
	assert_float_equal(deltas_put(&d, "a", NO_CPU, 6), 1, 0);
	deltas_put(&d, "b", NO_CPU, 50);
	deltas_reading(&d, &in, 13 * S);
	deltas_put(&d, "a", NO_CPU, 16);
	deltas_put(&d, "b", NO_CPU, 53);
	deltas_reading(&d, &in, 14 * S);
	deltas_put(&d, "a", NO_CPU, 2); /* set back after the window */
	deltas_put(&d, "b", NO_CPU, 99);
	assert_false(d.d[0].back || d.d[0].between || d.d[1].between);
	assert_float_equal(d.d[0].sum, 10, 1e-9);
	assert_float_equal(d.d[0].known_s, 3, 1e-9);
	assert_float_equal(d.d[1].sum, 3, 1e-9);
	deltas_note_resets(&in, &d, "x");
	assert_int_equal(in.notes.n, 0);
	assert_float_equal(d.span_s, 1, 1e-9);
	deltas_restart(&d);
	deltas_reading(&d, &in, 15 * S);
	assert_float_equal(d.span_s, 0, 0); /* another's reading came before */
}

/* The sum over the side's CPUs; the CPUs alone where they counted; words of 32 bits begin again. */
TEST(deltas_of_cpus_have_sums)
{
	freed(deltas_free) struct deltas d;

	fresh(); /* the side has CPU 1 */
	d = (struct deltas){0};
	d.wraps = true;
	deltas_reading(&d, &in, 10 * S);
	deltas_put(&d, "a", 0, 1);
	deltas_put(&d, "a", 1, UINT32_MAX);
	deltas_put(&d, "a", 2, 5);
	deltas_reading(&d, &in, 13 * S);
	deltas_put(&d, "a", 0, 3);
	deltas_put(&d, "a", 1, 9);
	assert_float_equal(deltas_add_metrics(&in, &d, "x", "m"), 10, 0);
	/* CPU 2 has gone */
	metrics_are(&in, "m:a = 10, m:a:cpu0 = 2, m:a:cpu1 = 10, m:a:cpu2 = -");
}

static void snmp_at(double seconds, unsigned ns, unsigned retrans, unsigned drops, unsigned v6)
{
	char *text = xasprintf("netns %u\n"
			       "Ip: Forwarding DefaultTTL InReceives\nIp: 2 64 %u\n"
			       "Tcp: RtoAlgorithm MaxConn CurrEstab RetransSegs\nTcp: 1 -1 %u %u\n"
			       "TcpExt: TCPRcvQDrop TCPWqueueTooBig\nTcpExt: %u 0\n"
			       "Ip6InReceives                   \t%u\n",
			       ns, 10 * retrans, retrans, retrans, drops, v6);

	add(seconds, text);
	free(text);
}

TEST(snmp)
{
	fresh();
	snmp_at(10, 4026531840, 100, 7, 50);
	snmp_at(12, 4026531840, 104, 7, 51);
	snmp_at(13, 4026531840, 110, 9, 51);
	read_raw(&in, "snmp.snap");
	/* read, and nothing happened */
	/* a setting */
	/* a gauge */
	metrics_are(&in, "snmp:TcpRetransSegs = 10, snmp:IpInReceives = 100, "
			 "snmp:TcpExtTCPRcvQDrop = 2, snmp:TcpExtTCPWqueueTooBig = 0, "
			 "snmp:Ip6InReceives = 1, snmp:IpForwarding = -, snmp:TcpMaxConn = -, "
			 "snmp:TcpCurrEstab = -, points = 2, notes = 0");
	assert_float_equal(in.series[0].value, 2, 1e-9);
}

/* The workload enters its own namespace after the window has opened. */
TEST(snmp_netns)
{
	fresh();
	snmp_at(10, 1, 100000, 7, 50);
	snmp_at(10.2, 2, 3, 0, 0);
	snmp_at(13, 2, 8, 0, 0);
	read_raw(&in, "snmp.snap");
	metrics_are(&in, "snmp:TcpRetransSegs = 5, note coverage_partial = +");

	fresh();
	snmp_at(10, 1, 100000, 7, 50);
	snmp_at(12, 2, 3, 0, 0);
	snmp_at(13, 2, 8, 0, 0);
	read_raw(&in, "snmp.snap");
	metrics_are(&in, "snmp:TcpRetransSegs = -, note coverage_too_small = +");
}

TEST(snmp_awkward)
{
	fresh();
	snmp_at(10, 1, 100, 7, 50);
	assert_int_equal(parse_file(&in, "snmp.snap", path, &err), -ENODATA);
	add(11,
	    "netns 1\nTcp: RetransSegs InSegs\nTcp: 120\nTcpExt: A\nIpExt: 1\nUdp:\n\n:\nTcp: ");
	snmp_at(13, 1, 90, 8, 50); /* the host's counters were set back */
	read_raw(&in, "snmp.snap");
	/* read once */
	metrics_are(&in, "snmp:TcpRetransSegs = 20, snmp:TcpInSegs = -, note counter_reset = +");
	assert_true(noted_text(&in, NOTE_counter_reset, "TcpRetransSegs"));
}

/* An older capture has no line of the namespace. Only whole numbers from 0 on are counters. */
TEST(values_of_snmp_are_whole_numbers)
{
	READ("snmp.snap",
	     {10, "Udp: InDatagrams Torn Empty Less\nUdp: 5 5x  -3\nIcmp6InMsgs 7\nIcmp6Torn 7x\n"},
	     {12.9,
	      "Udp: InDatagrams Torn Empty Less\nUdp: 8 8x  -2\nIcmp6InMsgs 9\nIcmp6Torn 9x\n"});
	metrics_are(&in, "snmp:UdpInDatagrams = 3, snmp:Icmp6InMsgs = 2, metrics = 2");
	/* 2.9 of 3 s */
	assert_float_equal(noted(&in, NOTE_coverage_partial)->value[1].number, 290 / 3.0, 1e-9);
}

static const char irq_head[] = "           CPU0       CPU1       \n"
			       " 36:          0    2385392 PCI-MSIX-0000:00:02.0   1-edge      "
			       "virtio1-req.0\n";

TEST(irq)
{
	READ("irq.snap",
	     {10, "           CPU0       CPU1       \n"
		  "  4:          1          0  IO-APIC   6-edge      ttyS0, ttyS1\n"
		  "  5:          1          0  IO-APIC   7-edge      two  words\n"
		  " 24:         10         20     GICv3  27 Level     arch_timer\n"
		  " 36:          0    2385392 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
		  " 50:          5          5  xen-dyn    -event     eth0-q0-tx\n"
		  "LOC:   79894039   62315136   Local timer interrupts\n"
		  "ERR:          3\n"
		  "                    CPU0       CPU1       \n"
		  "      NET_RX:   48897594   43951626\n"},
	     {13, "           CPU0       CPU1       \n"
		  "  4:          1          0  IO-APIC   6-edge      ttyS0, ttyS1\n"
		  "  5:          1          0  IO-APIC   7-edge      two  words\n"
		  " 24:         13         27     GICv3  27 Level     arch_timer\n"
		  " 36:          8    2385402 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
		  " 50:          5          6  xen-dyn    -event     eth0-q0-tx\n"
		  "LOC:   79894139   62315436   Local timer interrupts\n"
		  "ERR:          4\n"
		  "                    CPU0       CPU1       \n"
		  "      NET_RX:   48897594   43951726\n"});
	metrics_are(&in, "irq:36 virtio1-req.0 = 10, "
			 "irq:36 virtio1-req.0:cpu0 = 8, irq:36 virtio1-req.0:cpu1 = 10, "
			 "irq:24 arch_timer = 7, irq:50 eth0-q0-tx = 1");
	is(in, "irq:4 ttyS0, ttyS1", 0);
	absent(in, "irq:4 ttyS0, ttyS1:cpu0"); /* none taken there */
	/* there is no CPU */
	metrics_are(&in, "irq:5 two  words = 0, irq:LOC Local timer interrupts = 300, "
			 "irq:ERR = 1, irq:total = 318, softirq:NET_RX = 100, "
			 "softirq:total = 100, notes = 0");
}

/* A device without a trigger stands behind two spaces, or it is all of the description. */
TEST(device_of_an_interrupt_is_its_last_column)
{
	READ("irq.snap",
	     {10, "           CPU1\n 60:   5  chip one two\n 61:  5  chip 7-x  my nic\n 62: 010\n"},
	     {13, "           CPU1\n 60:   6  chip one two\n 61:  7  chip 7-x  my nic\n 62: 19\n"});
	metrics_are(&in, "irq:60 chip one two = 1, irq:61 my nic = 2, irq:62 = 9, irq:total = 12");
	assert_int_equal(in.notes.n, 0);
}

/* CPU 0 goes, so that the columns shift; CPU 2 comes; an interrupt gets another owner. */
TEST(irq_hotplug)
{
	READ("irq.snap",
	     {10, "           CPU0       CPU1       \n"
		  " 40:        100        200  IO-APIC   6-edge      eth0\n"
		  "                    CPU0       CPU1       \n"
		  "      NET_RX:   10   20\n"},
	     {11, "           CPU1       CPU2       \n"
		  " 40:        205          9  IO-APIC   6-edge      eth0\n"
		  "                    CPU1       CPU2       \n"
		  "      NET_RX:   21   0\n"},
	     {12, "           CPU0       CPU1       CPU2       \n"
		  " 40:        101        206         12  IO-APIC   6-edge      eth0\n"
		  "                    CPU0       CPU1       CPU2       \n"
		  "      NET_RX:   10   22   0\n"},
	     {13, "           CPU0       CPU1       CPU2       \n"
		  " 40:          0         50          0  IO-APIC   6-edge      eth1\n"
		  "                    CPU0       CPU1       CPU2       \n"
		  "      NET_RX:   11   5   0\n"});
	/* read once: not known */
	metrics_are(&in, "irq:40 eth0 = 6, irq:40 eth0:cpu2 = 3, "
			 "irq:40 eth1 = -, softirq:NET_RX = 2");
	assert_true(noted_text(&in, NOTE_counter_reset, "NET_RX of CPU 1"));
}

TEST(irq_damaged)
{
	READ("irq.snap", {10, irq_head},
	     {13,
	      " 36: 5 CPUX\n 9: 1 2 3\n     CPU0\n: 1\n 36\n 36: 18446744073709551616 x\n 36:\n"});
	absent(in, "irq:36 virtio1-req.0");
}

#define NAMES "\tlink\trx_packets\trx_bytes\n"

TEST(nic)
{
	READ("nic.snap",
	     {10, "n\thost\t4\teth0" NAMES "v\thost\t4\teth0\tlink\t100\t6400\n"
		  "n\thost\t4\teth0\tethtool\trx_drops\t[0]: rx_ucast/s\n"
		  "v\thost\t4\teth0\tethtool\t5\t18446744073709551610\n"
		  "n\thost\t4\teth0\trx-0\trx-packets\nv\thost\t4\teth0\trx-0\t7\n"
		  "n\tworkload\t2\teth0" NAMES "v\tworkload\t2\teth0\tlink\t1\t2\n"},
	     {12, "v\thost\t4\teth0\tlink\t300\t1000006400\n"
		  "v\thost\t4\teth0\tethtool\t5\t18446744073709551611\n"
		  /* the driver has another counter before the old ones */
		  "n\thost\t4\teth0\tethtool\tnew\trx_drops\t[0]: rx_ucast/s\n"
		  "v\thost\t4\teth0\trx-0\t8\nv\tworkload\t2\teth0\tlink\t1\t2\n"},
	     {13, "v\thost\t4\teth0\tlink\t310\t1000006400\n"
		  "v\thost\t4\teth0\tethtool\t77\t6\t18446744073709551615\n"
		  "v\thost\t4\teth0\trx-0\t9\nv\tworkload\t2\teth0\tlink\t1\t3\n"});
	metrics_are(&in, "nic:host/eth0/link/rx_packets = 210, "
			 "nic:host/eth0/link/rx_bytes = 1e9, nic:host/eth0/ethtool/rx_drops = 1, "
			 "nic:host/eth0/ethtool/[0]: rx_ucast/s = 5, "
			 "nic:host/eth0/rx-0/rx-packets = 2, "
			 "nic:workload/eth0/link/rx_bytes = 1, points = 4, notes = 0");
	absent(in, "nic:host/eth0/ethtool/new");	     /* read once */
	absent(in, "nic_known_s:host/eth0/link/rx_packets"); /* in all of the window */
	assert_string_equal(in.series[0].name, "nic_rx_gbps:host/eth0");
	assert_float_equal(in.series[0].value, 4, 1e-9);
}

/* Counters that are known for 99 of 100 s are known in the whole window. */
TEST(known_time_is_listed_below_99_percent)
{
	static const double ends[] = {109, 108.5};

	for (size_t i = 0; i < array_size(ends); i++) {
		fresh();
		in.run.end_ns = 110 * S;
		READ_ON("nic.snap",
			{10, "n\thost\t4\te" NAMES "v\thost\t4\te\tlink\t1\t0\n"
			     "n\thost\t5\tf\tlink\ttx_bytes\tother\nv\thost\t5\tf\tlink\t1\t0\n"},
			{ends[i], "v\thost\t4\te\tlink\t3\t0\n"},
			{110, "v\thost\t5\tf\tlink\t125000000001\t7\n"});
		is(in, "nic:host/e/link/rx_packets", 2);
		if (i)
			is(in, "nic_known_s:host/e/link/rx_packets", 98.5);
		else
			absent(in, "nic_known_s:host/e/link/rx_packets");
		assert_float_equal(noted(&in, NOTE_known_partly)->value[2].number, ends[i] - 10,
				   1e-9);
		assert_float_equal(noted(&in, NOTE_known_partly)->value[3].number, 100, 1e-9);
		assert_int_equal(in.nseries, 1); /* f has no two readings in a row */
	}
}

TEST(rates_of_links_are_of_bytes_in_both_directions)
{
	READ("nic.snap",
	     {10, "n\thost\t5\tf\tlink\ttx_bytes\tother\nv\thost\t5\tf\tlink\t1\t0\n"
		  "n\thost\t5\tf\ttx-0\ttx_bytes\nv\thost\t5\tf\ttx-0\t1\n"},
	     {13, "v\thost\t5\tf\tlink\t750000001\t7\nv\thost\t5\tf\ttx-0\t5\n"},
	     {13, "v\thost\t5\tf\tlink\t750000001\t7\nv\thost\t5\tf\ttx-0\t5\n"});
	metrics_are(&in, "points = 1, nic:host/f/tx-0/tx_bytes = 4");
	assert_string_equal(in.series[0].name, "nic_tx_gbps:host/f");
	assert_float_equal(in.series[0].value, 2, 1e-9);
}

/* The workload went into its namespace between two readings that both lie before the window. */
TEST(nic_early)
{
	READ("nic.snap", {9.8, "n\thost\t4\ta" NAMES "v\thost\t4\ta\tlink\t100\t6400\n"},
	     {9.99, "v\thost\t4\ta\tlink\t100\t6400\n"
		    "n\tworkload\t2\tb" NAMES "v\tworkload\t2\tb\tlink\t5\t1\n"},
	     {13.01, "v\thost\t4\ta\tlink\t110\t6400\nv\tworkload\t2\tb\tlink\t307\t1\n"});
	metrics_are(&in, "nic:workload/b/link/rx_packets = 300, "
			 "nic_known_s:workload/b/link/rx_packets = -, note known_partly = -");
}

/* An interface that went away in the warm-up, or that came behind a slice, is not one of the
 * window. */
TEST(nic_outside)
{
	READ("nic.snap",
	     {8, "n\thost\t4\ta" NAMES "v\thost\t4\ta\tlink\t100\t6400\n"
		 "n\thost\t5\tb" NAMES "v\thost\t5\tb\tlink\t5\t1\n"},
	     {9, "v\thost\t4\ta\tlink\t100\t6400\n"}, {13.01, "v\thost\t4\ta\tlink\t110\t6400\n"},
	     {14, "v\thost\t4\ta\tlink\t110\t6400\n"
		  "n\thost\t6\tc" NAMES "v\thost\t6\tc\tlink\t5\t1\n"},
	     {15, "n\thost\t6\tc" NAMES "v\thost\t6\tc\tlink\t7\t1\n"});
	metrics_are(&in, "nic_known_s:host/a/link/rx_packets = -, note known_partly = -");
}

TEST(nic_awkward)
{
	fresh();
	add(10, "n\thost\t4\ta" NAMES "v\thost\t4\ta\tlink\t100\t6400\n"
		"n\thost\t5\tb" NAMES "v\thost\t5\tb\tlink\t1\t1\n"
		"n\thost\t6\td" NAMES "v\thost\t6\td\tlink\t50\t50\n");
	add(11, "v\thost\t4\ta\tlink\t110\t6400\nv\thost\t5\tb\tlink\t5\t1\n"
		"v\thost\t6\td\tlink\t60\t60\n");
	/* a is another one, b is gone, c has come, d was set back; lines that say nothing */
	READ_ON("nic.snap",
		{12,
		 "n\thost\t9\ta" NAMES "v\thost\t9\ta\tlink\t0\t0\n"
		 "n\thost\t8\tc" NAMES "v\thost\t8\tc\tlink\t1000\t1\n"
		 "v\thost\t6\td\tlink\t3\t61\n"
		 "v\thost\t99\tz\tlink\t3\nv\thost\nx\tb\t1\tc\td\te\nv\thost\t6\td\tlink\t1\t2\t3\n"},
		{13, "v\thost\t9\ta\tlink\t7\t0\nv\thost\t8\tc\tlink\t1004\t1\n"
		     "v\thost\t6\td\tlink\t4\tmany\n"});
	metrics_are(&in, "nic:host/a/link/rx_packets = 17, "
			 "nic_known_s:host/a/link/rx_packets = 2, note known_partly = +, "
			 "nic:host/b/link/rx_packets = 4, nic_known_s:host/b/link/rx_packets = 1");
	assert_true(noted_text(&in, NOTE_known_partly, "host/b"));
	is(in, "nic:host/c/link/rx_packets", 4);
	assert_true(noted_text(&in, NOTE_known_partly, "host/c"));
	metrics_are(&in, "nic:host/d/link/rx_packets = 11, nic:host/d/link/rx_bytes = 11");
	metrics_are(&in, "note counter_reset = +, note rows_unreadable = 5");
}

/* As Linux 6.18 has it: 15 words, CPU 0 offline in between. */
TEST(nic_state_has_numbers_and_words)
{
	static const char good[] = "netns\tinterface\tkey\tvalue\nhost\te0\trx_ring\t256\n"
				   "host\te0\tdriver\tveth\nhost\te0\n",
			  bad[] = "netns\tinterface\tkey\nhost\te0\trx_ring\n";

	fresh();
	assert_int_equal(file_write(path, good, sizeof(good) - 1, NULL), 0);
	read_raw(&in, "nic_state.tsv");
	metrics_are(&in, "nic_state:host/e0/rx_ring = 256, nic:host/e0/driver=veth = 1, "
			 "note rows_unreadable = 1");
	assert_int_equal(file_write(path, bad, sizeof(bad) - 1, NULL), 0);
	assert_int_not_equal(parse_file(&in, "nic_state.tsv", path, &err), 0);
	assert_non_null(strstr(err.text, "value"));
	unlink(path);
	err = (struct error){0};
	assert_int_equal(parse_file(&in, "nic_state.tsv", path, &err), -ENOENT);
}

TEST(softnet)
{
	READ("softnet.snap",
	     {10,
	      "0230a798 00000000 000001d4 0 0 0 0 0 0 00d7f2a1 00000000 00000000 00000000 0 0\n"
	      "fffffff0 00000001 000001d8 0 0 0 0 0 0 0174e474 00000000 00000003 00000001 1 2\n"},
	     {11,
	      "00000010 00000001 000001d8 0 0 0 0 0 0 0174e475 00000002 0000000a 00000001 a 0\n"},
	     {13,
	      "0230a799 00000000 000001d4 0 0 0 0 0 0 00d7f2a1 00000000 000000ff 00000000 0 0\n"
	      "00000020 00000005 000001d9 0 0 0 0 0 0 0174e476 00000002 00000000 00000001 0 0\n"});
	/* wraps at 2^32 */
	/* never read twice in a row */
	/* the side's CPU alone counts */
	metrics_are(&in, "softnet:processed = 48, softnet:processed:cpu1 = 48, "
			 "softnet:processed:cpu0 = -, softnet:dropped = 4, softnet:squeezed = 1, "
			 "softnet:received_rps = 2, softnet:flow_limit = 2, "
			 "softnet:waiting_max = 10");
}

/* Without numbers of CPUs, line 1 is CPU 1. */
TEST(softnet_by_place)
{
	READ("softnet.snap",
	     {10, "1 0 0 0 0 0 0 0 0 0 0\n10 0 0 0 0 0 0 0 0 0 0\n20 0 0 0 0 0 0 0 0 0 0\n"},
	     {13, "1 0 0 0 0 0 0 0 0 0 0\n13 0 0 0 0 0 0 0 0 0 0\n23 0 0 0 0 0 0 0 0 0 0\n"});
	metrics_are(&in, "softnet:processed:cpu1 = 3, softnet:processed:cpu2 = 3, "
			 "softnet:waiting_max = -");
}

/* Lines of 9 words have no word 9, and lines of 10 words have no word 10. */
TEST(softnet_counts_words_of_both_readings)
{
	static const char *const lines[] = {"10 0 0 0 0 0 0 0 0 5 6\n", "11 0 0 0 0 0 0 0 0\n",
					    "13 0 0 0 0 0 0 0 0 5 6\n", "16 0 0 0 0 0 0 0 0 7\n",
					    "1a 0 0 0 0 0 0 0 0 8 9\n"};

	fresh();
	for (size_t i = 0; i < array_size(lines); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%s", lines[i], lines[i]);
		add(10 + 0.75 * (double)i, text);
	}
	read_raw(&in, "softnet.snap");
	metrics_are(&in, "softnet:processed = 10, softnet:received_rps = 3, "
			 "softnet:flow_limit = -");
}

/* CPU 1 was never there, and CPU 3 goes before the window. */
TEST(only_the_window_has_packets)
{
	fresh();
	cpuset_add(&in.cpus, 0);
	cpuset_add(&in.cpus, 2);
	READ_ON("softnet.snap",
		{8, "0 0 0 0 0 0 0 0 0 0 0 00000005 00000000\n0 0 0 0 0 0 0 0 0 0 0 0 00000002\n"
		    "0 0 0 0 0 0 0 0 0 0 0 0 00000003\n"},
		{9,
		 "10 0 0 0 0 0 0 0 0 0 0 00000006 00000000\n10 0 0 0 0 0 0 0 0 0 0 0 00000002\n"},
		{10,
		 "20 0 1 0 0 0 0 0 0 0 0 00000007 00000000\n20 0 1 0 0 0 0 0 0 0 0 0 00000002\n"},
		{13,
		 "30 0 7 0 0 0 0 0 0 0 0 00000002 00000000\n30 0 4 0 0 0 0 0 0 0 0 0 00000002\n"},
		{14,
		 "40 0 7 0 0 0 0 0 0 0 0 00000063 00000000\n40 0 4 0 0 0 0 0 0 0 0 0 00000002\n"});
	/* in a reading at the window's start */
	metrics_are(&in, "softnet:processed = 32, softnet:squeezed = 9, softnet:waiting_max = 7, "
			 "notes = 0, points = 3");
	assert_float_equal(in.series[1].value, 2, 1e-9);
	assert_float_equal(in.series[2].value, 3, 1e-9);
}

#define SOFTNET(count, cpu) count " 0 0 0 0 0 0 0 0 0 0 0 " cpu "\n"

/* CPUs come one after the other, with more packets each. */
TEST(cpus_that_come_count_from_their_second_reading)
{
	READ("softnet.snap", {10, SOFTNET("1", "0") SOFTNET("1", "1")},
	     {11, SOFTNET("2", "0") SOFTNET("3", "1")},
	     {12, SOFTNET("2", "0") SOFTNET("3", "1") SOFTNET("5", "2") SOFTNET("7", "3")
			  SOFTNET("7", "4")},
	     {13, SOFTNET("2", "0") SOFTNET("3", "1") SOFTNET("9", "2") SOFTNET("f", "3")
			  SOFTNET("17", "4")});
	metrics_are(&in, "softnet:processed:cpu0 = 1, softnet:processed:cpu1 = 2, "
			 "softnet:processed:cpu2 = 4, softnet:processed:cpu3 = 8, "
			 "softnet:processed:cpu4 = 16");
}

TEST(words_that_a_reading_lacks_are_unknown)
{
	fresh();
	cpuset_add(&in.cpus, 0);
	READ_ON("softnet.snap", {10, "1 2 3 0 0 0 0 0 0 4\n1 2\n"},
		{13, "2 4 6 0 0 0 0 0 0 8 9\n5 9\n"});
	/* its line is cut */
	metrics_are(&in, "softnet:squeezed = 3, softnet:received_rps = 4, "
			 "softnet:flow_limit = -, softnet:waiting_max = -, "
			 "softnet:processed:cpu1 = -");
	fresh();
	cpuset_add(&in.cpus, 0);
	READ_ON("softnet.snap", {10, "1 2 3 0 0 0 0 0 0 4 5\n"}, {13, "2 4 6 0 0 0 0 0 0 8\n"});
	metrics_are(&in, "softnet:received_rps = 4, softnet:flow_limit = -");
}

TEST(packets_wait_at_the_first_reading_too)
{
	READ("softnet.snap", {10, "0 0 0 0 0 0 0 0 0 0 0 9 1\n"},
	     {13, "0 0 0 0 0 0 0 0 0 0 0 2 1\n"});
	is(in, "softnet:waiting_max", 9);
}

TEST(idle)
{
	fresh();
	cpuset_add(&in.cpus, 4);
	READ_ON("idle.snap",
		{10, "1\t0\tPOLL\t5\t100\n1\t3\tC6 deep\t10\t1000000\n4\t3\tC6 deep\t1\t7\n"},
		{12, "1\t0\tPOLL\t9\t150100\n1\t3\tC6 deep\t14\t1900000\n4\t3\tC6 deep\t1\t7\n"},
		{13, "1\t0\tPOLL\t9\t150100\n1\t3\tC6 deep\t15\t2200000\n4\t3\tC6 deep\t1\t7\n"});
	/* never woke, or never slept */
	metrics_are(&in, "cstate_pct:0 POLL:cpu1 = 5, cstate_pct:3 C6 deep:cpu1 = 40, "
			 "cstate_entries:3 C6 deep:cpu1 = 5, cstate_pct:3 C6 deep:cpu4 = 0, "
			 "cstate_pct:3 C6 deep = 40, cstate_entries:0 POLL = 4, notes = 0");
	/* Two readings at the same time are no span. */
	READ("idle.snap", {10, "1\t1\tC1\t5\t100\n"}, {10, "1\t1\tC1\t6\t2000100\n"},
	     {13, "1\t1\tC1\t6\t2000100\n"});
	metrics_are(&in, "cstate_pct:1 C1:cpu1 = 0, notes = 0");
}

/* The memory behind the states is 0, like the number of the CPU that is the last one here. */
TEST(states_of_cpu_0_end_with_the_list)
{
	fresh();
	cpuset_add(&in.cpus, 0);
	mallopt(M_PERTURB, 0xff); /* glibc fills new memory with the complement */
	READ_ON("idle.snap", {10, "1\t3\tC6\t1\t0\n0\t3\tC6\t10\t1000000\n"},
		{13, "1\t3\tC6\t1\t0\n0\t3\tC6\t11\t101000000\n"});
	mallopt(M_PERTURB, 0);
	is(in, "cstate_pct:3 C6:cpu0", 100); /* a share of 3 s, not of the 100 s before */
}

/* A sleep of 100 s ends in the window; a CPU goes; a counter is set back. */
TEST(idle_awkward)
{
	fresh();
	cpuset_add(&in.cpus, 2);
	READ_ON("idle.snap", {10, "1\t1\tC1\t5\t100\n1\t3\tC6\t10\t1000000\n2\t1\tC1\t0\t0\n"},
		{11, "1\t1\tC1\t6\t200100\n1\t3\tC6\t11\t101000000\n2\t1\tC1\t1\t4\n"},
		{13, "1\t1\tC1\t6\t200100\n1\t3\tC6\t11\t101000000\n1\tx\n\t\t\t\t\n"});
	metrics_are(&in, "cstate_pct:1 C1:cpu1 = 6.66666666667, cstate_pct:1 C1:cpu2 = -, "
			 "note known_partly = +, note rows_unreadable = 2");
	is(in, "cstate_pct:3 C6:cpu1", 80 / 3.0); /* what is left of the first second */

	READ("idle.snap", {10, "1\t1\tC1\t5\t1000\n"}, {13, "1\t1\tC1\t6\t10\n"});
	metrics_are(&in, "cstate_pct:1 C1:cpu1 = -, note counter_reset = +, "
			 "note known_partly = 0, note known_partly.severity = lossy");
	assert_true(noted_text(&in, NOTE_known_partly, "CPU 1"));
}

/* CPU 2 is known for 9 of 10 s, because the last reading has two rows of its state. */
TEST(states_known_for_nine_tenths_are_used)
{
	fresh();
	in.run.end_ns = 20 * S;
	cpuset_add(&in.cpus, 2);
	READ_ON("idle.snap", {10, "1\t1\tC1\t5\t100\n2\t1\tC1\t0\t0\n"},
		{19, "1\t1\tC1\t5\t100\n2\t1\tC1\t1\t900000\n"},
		{20,
		 "1\t1\tC1\t5\t100\n2\t1\tC1\t1\t900000\n2\t1\tC1\t1\t900000\n4096\t1\tC1\t1\t1\nx\t1\tC1\t1\t1\n"});
	metrics_are(&in, "cstate_pct:1 C1:cpu2 = 10, cstate_entries:1 C1:cpu2 = 1, "
			 "note known_partly = 9, note known_partly.severity = warning, "
			 "note rows_unreadable = 2");
}

TEST(states_known_for_eight_tenths_are_lossy)
{
	fresh();
	in.run.end_ns = 20 * S;
	cpuset_add(&in.cpus, 2);
	READ_ON("idle.snap", {10, "1\t1\tC1\t5\t100\n2\t1\tC1\t0\t0\n"},
		{18, "1\t1\tC1\t5\t100\n2\t1\tC1\t1\t900000\n"}, {20, "1\t1\tC1\t5\t100\n"});
	metrics_are(&in, "cstate_pct:1 C1:cpu2 = -, note known_partly = 8, "
			 "note known_partly.severity = lossy");
}

/* A span of 3 s with 8 s of sleep: the state with the most loses 5 s, or all of its time. */
TEST(early_sleep_is_taken_from_the_longest_state)
{
	fresh();
	cpuset_add(&in.cpus, 2);
	READ_ON("idle.snap",
		{10, "1\t1\tC1\t0\t0\n1\t2\tC2\t0\t0\n1\t3\tC3\t0\t0\n"
		     "2\t1\tC1\t0\t0\n2\t2\tC2\t0\t0\n"},
		{13, "1\t1\tC1\t1\t1500000\n1\t2\tC2\t1\t5000000\n1\t3\tC3\t1\t1500000\n"
		     "2\t1\tC1\t1\t4000000\n2\t2\tC2\t1\t4000000\n"});
	/* the first of equal states */
	metrics_are(&in, "cstate_pct:1 C1:cpu1 = 50, cstate_pct:2 C2:cpu1 = 0, "
			 "cstate_pct:3 C3:cpu1 = 50, cstate_pct:1 C1:cpu2 = 0, "
			 "cstate_pct:2 C2:cpu2 = 133.333333333");
}

TEST(notes_on_idle_states_begin_at_1_percent)
{
	fresh();
	in.run.end_ns = 110 * S;
	cpuset_add(&in.cpus, 2);
	READ_ON("idle.snap", {10, "1\t1\tC1\t0\t0\n2\t1\tC1\t0\t0\n"}, {109, "2\t1\tC1\t0\t0\n"},
		{110, "1\t1\tC1\t1\t100010000\n"});
	is(in, "cstate_pct:1 C1:cpu2", 0); /* known for 99 of 100 s */
	assert_true(noted_text(&in, NOTE_known_partly, "CPU 1"));
	assert_int_equal(in.notes.n, 1);
}

TEST(gauge_is_read_twice_at_one_time)
{
	READ("sockstat.snap", {10, "TCP: inuse 4\n"}, {11, "TCP: inuse 6\n"},
	     {11, "TCP: inuse 6\n"}, {13, "TCP: inuse 6\n"});
	metrics_are(&in, "sockstat_mean:TCP.inuse = 5.66666666667, sockstat_max:TCP.inuse = 6");
}

/* Gauges on straight lines: 10 at 9 s, 20 at 11 s, 0 at 15 s. The window begins at 15, ends at 10.
 */
TEST(sockstat_means_and_maxima_of_the_window)
{
	READ("sockstat.snap",
	     {9, "netns 1\nsockets: used 4\nTCP: inuse 10 orphan 0 tw 0 alloc 9 mem 100\n"},
	     {11, "netns 1\nsockets: used 4\nTCP: inuse 20 orphan 0 tw 0 alloc 9 mem 100\n"
		  "TCP6: inuse 1\n"},
	     {15,
	      "netns 1\nsockets: used 4\nTCP: inuse 0 orphan 0 tw 0 alloc 9 mem 100\n"
	      "TCP6: inuse 5\nTCP: inuse x\nTCP: inuse 5x\nTCP: inuse\nnonsense\nUDP: inuse 3\n"});
	/* read once */
	/* known for the last two seconds */
	metrics_are(&in, "sockstat_mean:TCP.inuse = 15.8333333333, sockstat_max:UDP.inuse = -, "
			 "sockstat_max:TCP.inuse = 20, sockstat_mean:sockets.used = 4, "
			 "sockstat_max:TCP.mem = 100, sockstat_mean:TCP6.inuse = 2, "
			 "sockstat_mean:TCP.orphan = 0, note rows_unreadable = 4");
}

/* Heat is counted by core and by package, a quota by cgroup. A counter needs both snapshots. */
TEST(throttling_is_the_sum_of_cores_and_the_strictest_cgroup)
{
	READ("throttle.snap",
	     {10, "cpu1 core_throttle_count 5\ncpu1 core_throttle_total_time_ms 100\n"
		  "cpu1 package_throttle_count 50\ncpu11 core_throttle_count 7\n"
		  "cpu11 core_throttle_total_time_ms 0\ncpu11 package_throttle_count 50\n"
		  "cpu2 core_throttle_count 9\n/a nr_throttled 1\n/a throttled_usec 1000\n"
		  "/a/b nr_throttled 2\n/a/b throttled_usec 0\n/c throttled_time 5\n"},
	     {13, "cpu1 core_throttle_count 6\ncpu1 core_throttle_total_time_ms 350\n"
		  "cpu1 package_throttle_count 60\ncpu11 core_throttle_count 9\n"
		  "cpu11 core_throttle_total_time_ms 1000\ncpu11 package_throttle_count 54\n"
		  "cpu2 core_throttle_count 8\ncpu3 core_throttle_count 100\n"
		  "/a nr_throttled 4\n/a throttled_usec 3000\n/a/b nr_throttled 4\n"
		  "/a/b throttled_usec 1000000\n/c throttled_time 500000005\n/c other 9\nx\n"});
	/* a host has one hierarchy or the other */
	metrics_are(&in, "throttled_heat = 13, throttled_heat_s = 1.25, throttled_quota = 3, "
			 "throttled_quota_s = 1.5, note throttled_heat = 13, "
			 "note throttled_heat[1] = 3, note throttled_quota = 3, "
			 "note throttled_quota[1] = 1.5, note throttled_quota[2] = 3");
	READ("throttle.snap",
	     {10,
	      "cpu1 core_throttle_count 5\ncpu1 core_throttle_total_time_ms 0\n/a nr_throttled 1\n"},
	     {13, "cpu0 core_throttle_count 9\ncpu1 core_throttle_count 5\n"
		  "cpu1 core_throttle_total_time_ms x\n/a nr_throttled 1\n"});
	/* known to be none */
	metrics_are(&in, "throttled_heat = 0, throttled_quota = 0, throttled_heat_s = -, "
			 "throttled_quota_s = -, note rows_unreadable = 1, notes = 1");
}

static const struct snapshots {
	const char *file, *first, *last, *metric;
} snapshots[] = {
	{"proc_stat.snap", "cpu1 0 0 0 0\n", "cpu1 9 0 0 9\n", "cpu_pct"},
	{"softnet.snap", "1 2 3\n1 2 3\n", "2 3 4\n2 3 4\n", "softnet:dropped"},
	{"idle.snap", "1\t1\tC1\t5\t100\n", "1\t1\tC1\t6\t200\n", "cstate_pct:1 C1"},
	{"snmp.snap", "Udp6Out 1\n", "Udp6Out 2\n", "snmp:Udp6Out"},
	{"irq.snap", "  CPU1\n 1: 1\n", "  CPU1\n 1: 2\n", "irq:1"},
	{"nic.snap", "n\th\t4\te\tlink\tx\nv\th\t4\te\tlink\t1\n", "v\th\t4\te\tlink\t2\n",
	 "nic:h/e/link/x"},
	{"sockstat.snap", "TCP: inuse 1\n", "TCP: inuse 2\n", "sockstat_max:TCP.inuse"},
	{"sched.snap", "7 7 1 1 1 1 1 w\n", "7 7 2 2 2 2 2 w\n", "sched_wait_ns"},
	{"throttle.snap", "cpu1 core_throttle_count 1\n", "cpu1 core_throttle_count 2\n",
	 "throttled_heat"},
};

/* Reads both texts as they are at two times. */
static void two_readings(const struct snapshots *s, double from, double to, double end)
{
	fresh();
	in.run.end_ns = (uint64_t)(end * 1e9);
	READ_ON(s->file, {from, s->first}, {to, s->last});
}

TEST(readings_need_nine_tenths_of_the_window)
{
	each (c, snapshots) {
		two_readings(c, 10, 10.5, 10.5);
		assert_false(isnan(metric(&in, c->metric)));
		if (!strcmp(c->file, "throttle.snap"))
			continue; /* its readings are at the window's ends */
		two_readings(c, 10, 11, 13);
		absent(in, c->metric);
		assert_non_null(noted(&in, NOTE_coverage_too_small));
	}
}

/* A collector that was killed leaves a cut reading. Those before it count. */
TEST(file_with_a_cut_reading_is_noted)
{
	FILE *f;

	fresh();
	add(10, "Udp6Out 1\n");
	add(13, "Udp6Out 4\n");
	f = fopen(path, "a");
	fputs("@14000000000 100\nUdp6Out", f);
	fclose(f);
	read_raw(&in, "snmp.snap");
	is(in, "snmp:Udp6Out", 3);
	assert_true(noted_text(&in, NOTE_file_damaged, path));
	fresh();
	f = fopen(path, "w");
	fputs("@10000000000 100\nUdp6Out", f);
	fclose(f);
	assert_int_equal(parse_file(&in, "snmp.snap", path, &err), -ENODATA);
	assert_true(noted_text(&in, NOTE_file_damaged, path));
}

/* Columns of more CPUs than there can be, or with other names, have no counts. */
TEST(columns_of_interrupts_are_cpus)
{
	char *head = xasprintf("  CPU1 CPU%d\n 1: 1 1\n  CPU1\n RX: 1\n", CPUSET_MAX);

	READ("irq.snap", {10, head}, {13, "  CPU1 CPUs\n 1: 2 2\n  CPU1\n RX: 2\n"});
	metrics_are(&in, "irq:1 = -, softirq:RX = 1");
	free(head);
	fresh(); /* the first column is another CPU's */
	READ_ON("irq.snap", {10, "  CPU0 CPU2\n 1: 1 1\n"}, {13, "  CPU1 CPU2\n 1: 1 1\n"});
	absent(in, "irq:1");
}

TEST(figures_need_two_readings)
{
	each (c, snapshots) {
		struct error err = {0};

		fresh();
		assert_int_equal(parse_file(&in, c->file, path, &err), -ENOENT);
		add(10, c->first);
		err = (struct error){0};
		assert_int_equal(parse_file(&in, c->file, path, &err), -ENODATA);
		assert_non_null(strstr(err.text, "1 snapshots; two are needed"));
		assert_int_equal(in.nmetrics, 0);
	}
}
