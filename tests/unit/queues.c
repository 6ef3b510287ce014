// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues, NAPI and page pools: from raw files to metrics and tables. The readings with zcrx, devmem
 * TCP and page pools follow the kernel's netdev.yaml: no hardware that has them was seen.
 */
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

/* --- queues.snap --- */

static const char head[] = "link\tifindex=1\tname=lo\nlink\tifindex=4\tname=eth2\n"
			   "napi\tid=513\tifindex=4\tirq=60\tdefer-hard-irqs=2\n"
			   "napi\tid=514\tifindex=4\tirq=61\tpid=900\tthreaded=1\n"
			   "napi\tid=600\tifindex=4\tthreaded=0\n"
			   "queue\tid=0\ttype=1\tifindex=4\tnapi-id=513\n"
			   "queue\tid=0\ttype=0\tifindex=4\tnapi-id=513\n";

/* Reads texts behind the head, at 10, 11, 12 and 13 s, the window. */
static void read_queues(const char *const text[4])
{
	ingest_start((struct ingest){.run = {.start_ns = 10000000000, .end_ns = 13000000000}});
	for (int i = 0; i < 4; i++) {
		freed(str_free) struct str s = {0};

		str_printf(&s, "%s%s", head, text[i]);
		append_snap(path, 10 + i, s.buf, s.len);
	}
	read_raw(&in, "queues.snap");
}

#define QUEUE_1 "queue\tid=1\ttype=0\tifindex=4\tnapi-id=514"

/* A bnxt with two queues as the documentation of 6.18 has it. */
TEST(an_owner_has_the_queue_for_a_part_of_the_window)
{
	read_queues((const char *const[]){QUEUE_1 "\n", QUEUE_1 "\tio-uring=1\n",
					  QUEUE_1 "\tio-uring=1\n",
					  QUEUE_1 "\tio-uring=1\nqueue\tid=x\nnonsense\n"});
	metrics_are(&in,
		    "queue_owner_pct:eth2/rx-1/zcrx = 83.3333333333, "
		    "queue_owner_from_s:eth2/rx-1/zcrx = 1, queue_owner_to_s:eth2/rx-1/zcrx = 3, "
		    "queue_owner_pct:eth2/rx-1/none = 16.6666666667, "
		    "queue_owner_to_s:eth2/rx-1/none = 0, queue_owner_pct:eth2/rx-0/none = 100, "
		    "queue_owner_pct:eth2/rx-0/zcrx = -, queue_owner_pct:eth2/tx-0/none = 100, "
		    "queue_state:eth2/rx-0/irq = 60, queue_state:eth2/rx-0/defer-hard-irqs = 2, "
		    "queue_state:eth2/rx-0/pid = -, queue_state:eth2/rx-1/pid = 900, "
		    "queue_state:eth2/rx-1/id = 514, queue_state:eth2/napi/threaded = 0, "
		    "queue_owner_pct:eth2/napi/ = 100, note rows_unreadable = 2, points = 3, "
		    "last queue_owned:eth2/rx-1/zcrx = 1");
}

TEST(devmem_and_af_xdp_own_a_queue_all_the_time)
{
	static const char text[] = QUEUE_1 "\tdmabuf=7\nqueue\tid=2\ttype=0\tifindex=4\txsk=1\n";

	read_queues((const char *const[]){text, text, text, text});
	metrics_are(&in, "queue_owner_pct:eth2/rx-1/devmem = 100, "
			 "queue_owner_from_s:eth2/rx-1/devmem = 0, "
			 "queue_owner_to_s:eth2/rx-1/devmem = 3, "
			 "queue_owner_pct:eth2/rx-1/none = -, "
			 "queue_owner_pct:eth2/rx-2/xsk = 100, queue_state:eth2/rx-2/irq = -");
}

/* --- page pools --- */

/* Two pools of rx-1, and one of no queue. The second reading lacks the first pool. */
TEST(pools_have_the_names_of_their_queues)
{
	static const char other[] = "page-pool\tid=18\tifindex=4\tnapi-id=514\tinflight=5\n"
				    "page-pool\tid=19\tifindex=1\tinflight=1\tdetach-time=500\n"
				    "page-pool-stats\tinfo=99\talloc-fast=100\n";
	static const char *const pool[] = {
		"page-pool\tid=17\tifindex=4\tnapi-id=514\tinflight=10\tio-uring=1", "queue\tid=3",
		"page-pool\tid=17\tifindex=4\tnapi-id=514\tinflight=20",
		"page-pool\tid=17\tifindex=4\tinflight=30\tinflight-mem=40960"};
	static const int ring[] = {1000, 0, 2000, 2900}, gone[] = {10, 0, 20, 320};
	char text[4][1024];

	for (int i = 0; i < 4; i++)
		snprintf(text[i], sizeof(text[i]),
			 QUEUE_1 "\n%s\npage-pool-stats\tinfo=%d\talloc-fast=%d\trecycle-cached=0"
				 "\trecycle-cache-full=0\trecycle-ring=%d\trecycle-ring-full=0"
				 "\trecycle-released-refcnt=%d\n%s",
			 pool[i], i == 1 ? 98 : 17, 100 * i, ring[i], gone[i], other);
	read_queues((const char *const[]){text[0], text[1], text[2], text[3]});
	metrics_are(&in,
		    "page_pool_mean:eth2/rx-1/inflight = 25, page_pool_mean:eth2/rx-1/id = 17, "
		    "page_pool_mean:eth2/rx-1/io-uring = -, page_pool_mean:eth2/rx-1.1/id = 18, "
		    "page_pool_mean:lo/pool/detach-time = 500, "
		    "page_pool:eth2/rx-1/alloc-fast = 100, page_pool:eth2/rx-1/recycle-ring = 900, "
		    "page_pool_mean:eth2/rx-1/recycled_pct = 75, "
		    "last page_pool_mem:eth2/rx-1 = 40960, note rows_unreadable = -");
	put_raw("cpu\tnetns\tinterface\tkind\tbatches\tsegments\tbytes\tfull\tid\n"
		"0\thost\teth2\theld\t3\t0\t0\t\t17\n1\thost\teth2\theld\t4\t0\t0\t\t17\n"
		"1\thost\teth2\treleased\t4\t0\t0\t\t17\n0\t\tva\theld\t5\t0\t0\t\t77\n"
		"0\t\tva\theld\t5\t0\t0\t\t78\n");
	read_raw(&in, "pools.tsv");
	metrics_are(&in, "page_pool:eth2/rx-1/held = 7, page_pool:eth2/rx-1/released = 4, "
			 "page_pool:va/pool/held = 10");
}

/* Two runs of 4 MiB in 2 s; the pages of the tracepoints are from another pass. */
TEST(tables_have_queues_and_pools_of_all_runs)
{
	struct store *s = small_store();
	struct table t;

	small_store_metrics(
		s, add_run(s, "measure", 1),
		"rate_kib = 2048, seconds = 2, queue_owner_pct:eth2/rx-1/none = 100, "
		"queue_state:eth2/rx-0/irq = 61, page_pool_mean:eth2/rx-1/id = 5, "
		"page_pool_mean:eth2/rx-1/inflight = 64, page_pool:eth2/rx-1/alloc-fast = 20");
	small_store_metrics(
		s, add_run(s, "measure", 2),
		"rate_kib = 2048, seconds = 2, queue_owner_pct:eth2/rx-1/zcrx = 100, "
		"queue_owner_from_s:eth2/rx-1/zcrx = 0, queue_owner_to_s:eth2/rx-1/zcrx = 2, "
		"queue_owner_pct:eth2/rx-0/none = 100, queue_state:eth2/rx-0/irq = 60, "
		"queue_owner_pct:eth2/napi/ = 100, queue_state:eth2/napi/id = 7");
	small_store_metrics(s, add_run(s, "syscalls", 1),
			    "rate_kib = 2048, seconds = 2, page_pool:eth2/rx-1/held = 8");
	t = small_store_table(s, "queues", (struct query){0});
	cells_are(&t, "interface = eth2 eth2 eth2 eth2, queue = rx-1 napi rx-0 rx-1, "
		      "owner = zcrx - none none, napi_id = - 7 - -, irq = - - 61|60 -");
	row_is(&t, 0, "owned_pct = 100, from_s = 0, to_s = 2, irq = -, runs = 1");
	t = small_store_table(s, "queues", (struct query){.limit = 1});
	assert_int_equal(t.rows, 1);
	small_store_says(&t, "1 of 4 rows");
	t = small_store_table(s, "pools", (struct query){0});
	cells_are(&t, "interface = eth2 eth2 eth2, pool = rx-1 rx-1 rx-1, "
		      "name = inflight alloc-fast held");
	row_is(&t, 0, "mean = 64, count = -, runs = 1");
	row_is(&t, 1, "mean = -, count = 20, per_s = 10, per_mib = 5, runs = 1");
	row_is(&t, 2, "count = 8, per_s = 4, per_mib = 2, runs = 1");
	small_store_run(s = small_store(), (struct run){0});
	t = small_store_table(s, "pools", (struct query){0});
	assert_int_equal(t.rows, 0);
	small_store_says(&t, "no run measured this");
}

static void stop(void)
{
	ingest_free(&in);
}

AROUND_TESTS(NULL, stop)
