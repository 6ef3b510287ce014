// SPDX-License-Identifier: GPL-2.0-only
/* What is handled at once: out of batches.tsv, and in the table batches. */
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

/* CPU 1 is the side's, CPU 0 is not. */
TEST(polls_are_those_of_the_side_s_cpus_and_interfaces_those_of_the_namespace)
{
	struct error err = {0};

	ingest_start((struct ingest){.has_cpus = true});
	cpuset_add(&in.cpus, 1);
	put_raw("cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\n"
		"0\t\t\tpoll\t100\t100\t\t9\n"
		"1\t\t\tpoll\t10\t25\t\t1\n"
		"1\thost\teth0\tpoll\t2\t64\t\t1\n"
		"0\thost\teth0\treceive\t3\t30\t4000\t\n"
		"1\thost\teth0\treceive\t1\t10\t500\t\n"
		"1\thost\teth0\treceive\tx\t10\t500\t\n");
	read_raw(&in, "batches.tsv");
	metrics_are(&in, "batches:poll = 10, batch_segments:poll = 25, batch_full:poll = 1, "
			 "batch_bytes:poll = -, batches:poll host/eth0 = 2, "
			 "batches:receive host/eth0 = 4, batch_segments:receive host/eth0 = 40, "
			 "batch_bytes:receive host/eth0 = 4500, batch_full:receive host/eth0 = -, "
			 "metrics = 9, note rows_unreadable = 1");
	put_raw("cpu\tnetns\n");
	assert_int_equal(parse_file(&in, "batches.tsv", path, &err), -EBADMSG);
}

/* Two runs of 4 MiB in 2 s. */
TEST(a_row_has_the_mean_of_a_batch)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(
		s, add_run(s, "syscalls", 1),
		"rate_kib = 2048, seconds = 2, batches:poll = 10, batch_segments:poll = 20, "
		"batch_full:poll = 1, batches:receive host/eth0 = 4, "
		"batch_segments:receive host/eth0 = 40, batch_bytes:receive host/eth0 = 4000");
	small_store_metrics(
		s, add_run(s, "syscalls", 2),
		"rate_kib = 2048, seconds = 2, batches:poll = 10, batch_segments:poll = 40, "
		"batch_full:poll = 0");
	small_store_metrics(s, add_run(s, "measure", 1),
			    "rate_kib = 2048, seconds = 2, sched_voluntary = 8");
	t = small_store_table(s, "batches", (struct query){0});
	cells_are(&t, "batch = poll receive wake_up, interface = - host/eth0 -");
	row_is(&t, 0, "per_s = 5, per_mib = 2.5, segments = 3, bytes = -, full_pct = 5, runs = 2");
	row_is(&t, 1,
	       "per_s = 2, per_mib = 1, segments = 10, bytes = 1000, full_pct = -, runs = 1");
	row_is(&t, 2, "per_s = 4, per_mib = 2, segments = -, bytes = 524288, runs = 1");
	small_store_run(s = small_store(), (struct run){0});
	t = small_store_table(s, "batches", (struct query){0});
	assert_int_equal(t.rows, 0);
	small_store_says(&t, "no run measured this");
}

/* The MTU is that of the interface whose packets are the unit, and an Ethernet header comes on top.
 */
TEST(a_packet_longer_than_the_mtu_is_an_aggregate)
{
	static const struct {
		const char *units, *says;
	} cases[] = {
		{"units=nic:eth0/rx",
		 "a packet has 51200 bytes on average: an aggregate of at least 33.7 packets"},
		{"units=nic:host/eth1", "an aggregate of at least 86.2 packets"},
		{"units=nic:lo", "a packet has 51200 bytes on average;"},
		{NULL, "a packet has 51200 bytes on average;"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct store *s = small_store();
		int64_t run = add_basis(s, "v");
		struct world w;
		struct table t;

		small_store_metrics(
			s, run,
			"rate_packets = 20000, nic_state:host/lo/mtu = 65536, "
			"nic_state:host/eth0/mtu = 1500, nic_state:host/eth1/mtu = 576");
		if (cases[i].units)
			put_metric(s, run, cases[i].units, NULL, 0);
		start_world(&w);
		add(&w, frame(&w, PROFILE_NONE, "f"), 1, CTX_SYSCALL, 1);
		store_world(s, add_run(s, "profile", 1), &w);
		t = small_store_table(s, "functions", (struct query){.unit = "packet"});
		small_store_says(&t, cases[i].says);
		t = small_store_table(s, "summary", (struct query){.unit = "packet"});
		small_store_says(&t, strcspn(cases[i].says, ";") < strlen(cases[i].says)
					     ? "a packet has 51200 bytes on average"
					     : cases[i].says);
	}
}

static void release(void)
{
	ingest_free(&in);
}

AROUND_TESTS(NULL, release)
