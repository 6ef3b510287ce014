// SPDX-License-Identifier: GPL-2.0-only
/* Why zero copy did not pay: each cause at its threshold and just beside it, and which comes first.
 */
#include "tests/unit/small_store.h"

#define ASKED	 "asked_zero_copy = 1, workload_bytes = 1e8, seconds = 2"
#define LARGE	 ASKED ", sends = 1000, sends_copied = 0"
#define RECEIVED ASKED ", rx_bytes = 1000"
#define NO_CAUSE "is not compared. No cause reaches its threshold"

static void add_calls(struct store *s, int64_t run, const char *name, uint64_t calls,
		      uint64_t bytes, double seconds)
{
	struct syscall_row r = {.comm = "c",
				.pid = 7,
				.tid = 7,
				.name = name,
				.calls = calls,
				.bytes = bytes,
				.has_bytes = true,
				.total_ns = (uint64_t)(seconds * 1e9)};

	assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
}

static const struct {
	const char *metrics, *words;
} cases[] = {
	{LARGE, NO_CAUSE},
	/* Waits with one or two sends in flight; with more, notifications are late. */
	{LARGE
	 ", send_waits:ns = 10, send_waits:of_ns = 100, hist:outstanding:max = 2, hist:notify_ns:p50 = 250000",
	 "is not compared. Most of all, each send waits for its own notification, 10 % of the transfer (250 us each). Way out: keep more sends in flight"},
	{LARGE ", send_waits:ns = 9.9, send_waits:of_ns = 100, hist:outstanding:max = 2", NO_CAUSE},
	{LARGE
	 ", send_waits:ns = 25, send_waits:of_ns = 100, hist:outstanding:max = 32, hist:notify_ns:p50 = 1000",
	 "notifications come 1 us after their sends, and waiting for them takes 25 % of the transfer with up to 32 sends in flight. Way out: see who is slow"},
	{LARGE ", send_waits:ns = 24, send_waits:of_ns = 100, hist:outstanding:max = 32", NO_CAUSE},
	{LARGE ", send_waits:ns = 25, send_waits:of_ns = 100",
	 "notifications come an unknown time after their sends, and waiting for them takes 25 % of the transfer with up to an unknown number of sends in flight"},
	/* Small sends, and buffers inside a page. */
	{ASKED ", sends = 9767, sends_copied = 0",
	 "a send has only 10239 B: pinning and notifying cost a small send as much as a large one. Way out: send 10 KiB or more"},
	{ASKED ", sends = 9765, sends_copied = 0", NO_CAUSE},
	{LARGE ", send_pages:pinned = 6, send_pages:needed = 5",
	 "buffers begin inside a page, so that a send pins 1.2 times the pages that its bytes need. Way out: align the buffers"},
	{LARGE ", send_pages:pinned = 11, send_pages:needed = 10", NO_CAUSE},
	/* Copies. */
	{ASKED ", sends = 1000, sends_copied = 100",
	 "the kernel copies 10 % of the sends after all. Way out: look for what reads packets"},
	{ASKED ", sends = 1000, sends_copied = 99", NO_CAUSE},
	{ASKED
	 ", sends = 1000, sends_copied = 100, nic_state:host/eth0/feature:tx-scatter-gather = 0",
	 "copies 10 % of the sends after all: the interface gathers no fragments. Way out: switch scatter-gather on"},
	{ASKED
	 ", sends = 1000, sends_copied = 100, nic_state:host/eth0/feature:tx-scatter-gather = 1",
	 "copies 10 % of the sends after all. Way out"},
	/* A small send weighs more than its copy. */
	{ASKED ", sends = 1e5, sends_copied = 1e5", "a send has only 1000 B"},
	/* Limits. */
	{LARGE ", send_retries:optmem_max = 10",
	 "(it refuses 1 % of the sends). Way out: raise net"},
	{LARGE ", send_retries:memlock = 10", "refuses 1 % of the sends). Way out: raise RLIMIT"},
	{LARGE ", send_retries:memlock = 9", NO_CAUSE},
	/* io_uring. */
	{LARGE ", uring:sqes = 1000, uring:cqes = 2000, workload_calls:io_uring_enter = 1700",
	 "each completion of io_uring costs a call (1.2 in each io_uring_enter)"},
	{LARGE ", uring:sqes = 1000, uring:cqes = 2000, workload_calls:io_uring_enter = 1600",
	 NO_CAUSE},
	{LARGE
	 ", uring:sqes = 1, uring:cqes = 2000, workload_calls:io_uring_enter = 100, ring_overflow = 1",
	 "io_uring's completion ring is full at 1 % of the calls. Way out: take a larger ring"},
	/* A receiver that maps. The largest part comes first. */
	{RECEIVED ", rx_mapped_bytes = 900, rx_copied_bytes = 100, unmapped:fragment = 100",
	 "the receiver copies 10 % of the bytes, which came in fragments that are no whole pages"},
	{RECEIVED ", rx_copied_bytes = 99, unmapped:fragment = 99", NO_CAUSE},
	{RECEIVED ", rx_copied_bytes = 100, unmapped:remainder = 100, unmapped:fragment = 0",
	 "copies 10 % of the bytes, with which segments end inside a page"},
	{RECEIVED ", rx_copied_bytes = 300, unmapped:short_queue = 300",
	 "copies 30 % of the bytes, because it finds less than a page. Way out: wait for more data"},
	{RECEIVED ", rx_copied_bytes = 300",
	 "the receiver copies 30 % of the bytes. Way out: align"},
	/* devmem and zcrx: built from the published interfaces, never seen on hardware. */
	{RECEIVED
	 ", rx_copied_bytes = 300, rx_mapped_bytes = 700, hist:return_ns:p50 = 1, hist:return_ns:p99 = 2",
	 "the kernel copies 30 % of the bytes. Way out: switch header split on"},
	{RECEIVED ", hist:return_ns:p99 = 1e6",
	 "memory goes back to the NIC only 1000 us after it came (p99). Way out: return it earlier"},
	{RECEIVED ", hist:return_ns:p99 = 1e6, hist:return_ns:count = 10, refill_empty = 1",
	 "1000 us after it came (p99), and the refill ring is empty at 10 % of the returns. Way out"},
	{RECEIVED ", hist:return_ns:p99 = 999e3", NO_CAUSE},
};

TEST(causes)
{
	for (size_t i = 0; i < array_size(cases); i++) {
		struct store *s = small_store();
		struct table t;

		small_store_with(s, (struct run){0}, cases[i].metrics);
		t = small_store_table(s, "why", (struct query){0});
		small_store_says(&t, cases[i].words);
	}
}

/* As in table zerocopy: 100 of 200 and 0 of 600 bytes are 12.5 %, where the runs' median is 25 %.
 */
TEST(shares_are_of_the_bytes_of_all_runs)
{
	struct store *s = small_store();
	struct table t;

	small_store_with(s, (struct run){0}, ASKED ", rx_bytes = 200, rx_mapped_bytes = 100");
	small_store_with(s, (struct run){.repeat = 2},
			 ASKED ", rx_bytes = 600, rx_mapped_bytes = 0");
	t = small_store_table(s, "why", (struct query){0});
	cells_are(&t, "mapped value = 12.5");
}

/* The rows of the reason have a 1, those of a further cause a 2. */
TEST(rows)
{
	struct store *s = small_store();
	struct table t;

	small_store_with(
		s, (struct run){0},
		ASKED
		", sends = 1e5, sends_copied = 1e5, send_waits:ns = 50, send_waits:of_ns = 100, hist:outstanding:max = 1");
	t = small_store_table(s, "why", (struct query){0});
	cells_are(
		&t,
		"waiting/in_flight_most value = 1, waiting/waiting reason = 1, bytes_per_send reason = 2, copied_sends reason = 3, copied_sends value = 100, rows = 4");
}

TEST(worker_threads_of_io_uring)
{
	struct store *s = small_store();
	int64_t run = small_store_with(s, (struct run){0}, LARGE ", uring:sqes = 1");
	const struct thread_row workers[] = {
		{.pid = 7, .tid = 8, .comm = "iou-wrk-7", .run_ns = 6e7},
		{.pid = 7, .tid = 9, .comm = "iou-wrk-7", .run_ns = 4e7},
		{.pid = 7, .tid = 7, .comm = "tcpzc", .run_ns = 2e9}};
	struct table t;

	for (size_t i = 0; i < array_size(workers); i++)
		assert_int_equal(store_thread_add(s, run, &workers[i], NULL), 0);
	t = small_store_table(s, "why", (struct query){0});
	small_store_says(&t, "io_uring hands requests to worker threads, which take 5 % of a CPU");
}

/* A program without an account: its system calls say how it sends and how it waits. */
TEST(program_without_an_account)
{
	struct store *s = small_store();
	int64_t run = small_store_with(s, (struct run){.side = "sender", .pass = "syscalls"},
				       "seconds = 2");
	struct table t;

	small_store_with(s, (struct run){.side = "sender"}, "seconds = 2");
	add_calls(s, run, "sendmsg (MSG_ZEROCOPY)", 100, 2000000, 0.1);
	add_calls(s, run, "recvmsg", 90, 0, 0.1);
	add_calls(s, run, "ppoll", 90, 0, 0.5);
	t = small_store_table(s, "why", (struct query){0});
	small_store_says(
		&t,
		"each send waits for its own notification: 0.9 calls of recvmsg for each send, and 25 % of the window in poll");
	cells_are(&t, "bytes_per_call value = 20000, polling reason = 1");
}

/* Six runs of each variant: `zc` costs `factor` times as much, at the rate of the base. */
static struct table compared(double factor, const char *more)
{
	struct store *s = small_store();
	char metrics[400];

	for (int i = 1; i <= 6; i++)
		for (int zc = 0; zc < 2; zc++) {
			snprintf(metrics, sizeof(metrics),
				 "seconds = 2, rate_kib = 1e6, throughput = 8, cpu_pct = %.4f%s",
				 100 * (1 + i / 1000.0) * (zc ? factor : 1), zc ? more : "");
			small_store_with(s,
					 (struct run){.variant = zc ? "zc" : "base",
						      .side = "sender",
						      .repeat = i},
					 metrics);
		}
	return small_store_table(s, "why", (struct query){.variant = "zc"});
}

TEST(verdicts)
{
	static const char waits[] =
		", asked_zero_copy = 1, send_waits:ns = 50, send_waits:of_ns = 100, hist:outstanding:max = 1, hist:notify_ns:p50 = 2000";
	struct table t = compared(1.5, waits);

	small_store_says(
		&t,
		"zc sender: did not pay against base, CPU time per KiB +50 % (worse), throughput +0 % (~), because each send waits");
	t = compared(0.5, waits);
	small_store_says(
		&t,
		"zc sender: paid against base, CPU time per KiB -50 % (better), throughput +0 % (~). What is left to gain: each send waits");
	t = compared(1, waits);
	small_store_says(&t, "zc sender: shows no gain against base, CPU time per KiB +0 % (~)");
	t = compared(0.5, ", asked_zero_copy = 1, sends = 10, sends_copied = 10");
	small_store_says(&t, "shows no gain against base, CPU time per KiB -50 % (copied)");
}

/* Costs 1.5 times the base at 4k, and half of it at 16k: the lines cross between the two. */
TEST(sweep_of_sizes_has_a_break_even)
{
	static const char *const names[] = {"send+4k", "zc+4k", "send+16k", "zc+16k"};
	static const double costs[] = {100, 150, 100, 50};
	struct store *s = small_store();
	struct table t;
	char metrics[200];

	for (int v = 0; v < 4; v++) {
		store_variant_add(s, names[v], "", v % 2 ? "zc" : "send", NULL);
		store_setting_add(s, names[v], "size", strchr(names[v], '+') + 1, NULL);
		for (int i = 1; i <= 6; i++) {
			snprintf(
				metrics, sizeof(metrics),
				"seconds = 2, rate_kib = 1e6, cpu_pct = %.4f, asked_zero_copy = %d",
				costs[v] * (1 + i / 1000.0), v % 2);
			small_store_with(
				s, (struct run){.variant = names[v], .side = "sender", .repeat = i},
				metrics);
		}
	}
	t = small_store_table(s, "why", (struct query){0});
	small_store_says(&t, "zc+4k sender: did not pay against send+4k, CPU time per KiB +50 %");
	small_store_says(
		&t,
		"zc+16k sender: paid against send+16k, CPU time per KiB -50 % (better); 'zcost report");
	small_store_says(
		&t,
		"sender ns_per_kib: zc is dearer than send at size = 4k; cheaper at size = 16k");
	small_store_says(&t, "the lines cross at size = 8.43k");
}

TEST(capture_without_zero_copy_is_refused)
{
	struct store *s = small_store();

	small_store_with(s, (struct run){0}, "asked_zero_copy = 0, seconds = 2, sends = 10");
	small_store_refuses(s, "why", (struct query){0}, -ENODATA,
			    "no side is known to use MSG_ZEROCOPY");
}
