// SPDX-License-Identifier: GPL-2.0-only
/* Evidence of zero copy from hand-made counts, and the verdicts that follow. */
#include "analyze/evidence/zerocopy.h"
#include "tests/unit/world.h"

/* What was counted on a side, and the evidence that follows. */
struct counted_case {
	const char *side;
	const char *calls;    /* "NAME = BYTES, NAME = BYTES x CALLS" */
	const char *metrics;  /* as of small_store_metrics() */
	const char *evidence; /* "WHAT TOTAL/ZERO_COPY/COPIED", "-" where an amount is not known */
};

#define KERNEL	"bytes received, by the kernel's count"
#define CALLS	"bytes received, by system calls"
#define COPIED	"rx_kernel_copied_bytes"
#define SOCKETS "tcp_socket_bytes_received"
#define ACKED	"tcp_socket_bytes_acked"
#define SENT_BY "bytes sent, by system calls"

static const struct counted_case cases[] = {
	/* Calls read all that the kernel copied: files and a coarse count do not matter. */
	{"receiver", "recvfrom = 600, read = 300, readv = 50, recvmsg = 50",
	 COPIED " = 1000, " SOCKETS " = 1500", "kernel 1000/0/1000, calls 1000/0/1000"},
	{"receiver", "recvfrom = 1000", COPIED " = 990, " SOCKETS " = 2000",
	 "kernel 1000/10/990, calls 1000/0/1000"},
	/* More than 1 % apart: the count of the sockets decides. */
	{"receiver", "recvfrom = 1000", COPIED " = 989, " SOCKETS " = 2000",
	 "kernel 2000/1011/989, calls 2000/-/1000"},
	/* Mapping calls and io_uring move bytes unseen: one for 100 reads is too many. */
	{"receiver", "recvfrom = 1000 x 100, getsockopt = 0", COPIED " = 1000, " SOCKETS " = 2000",
	 "kernel 2000/1000/1000, calls 2000/-/1000"},
	{"receiver", "recvfrom = 1000 x 101, io_uring_enter = 0",
	 COPIED " = 1000, " SOCKETS " = 2000", "kernel 1000/0/1000, calls 1000/0/1000"},
	/* The workload's account counts where the sockets' count is absent. */
	{"receiver", "recvfrom = 100, getsockopt = 0", "bytes = 3000, " SOCKETS " = 0",
	 "calls 3000/-/100"},
	{"receiver", "recvfrom = 100, getsockopt = 0", "", "calls 100/0/100"},
	/* A receiver that read 95 % of the bytes has a share; spliced bytes are not copied. */
	{"receiver", "recvfrom = 450, splice = 500", SOCKETS " = 1000",
	 "calls (splice) 1000/500/450"},
	{"receiver", "recvfrom = 500, splice = 449", SOCKETS " = 1000", "calls 1000/-/500"},
	/* Dropped bytes are neither copied nor zero copy. */
	{"receiver", "recvfrom = 100, recvfrom (MSG_TRUNC) = 500, recvmsg (MSG_TRUNC) = 400",
	 COPIED " = 100, " SOCKETS " = 500", "kernel 1000/-/100, calls (MSG_TRUNC) 1000/-/100"},
	{"receiver", "recvfrom = 100, recvmsg (MSG_TRUNC) = 900", SOCKETS " = 500",
	 "calls (MSG_TRUNC) 1000/-/100"},
	/* The kernel's count may miss 5 % of what calls read; beyond that the rest is not known. */
	{"receiver", "recvfrom = 1000", COPIED " = 950, " SOCKETS " = 1000",
	 "kernel 1000/50/950, calls 1000/0/1000"},
	{"receiver", "recvfrom = 1000", COPIED " = 949, " SOCKETS " = 1000",
	 "kernel 1000/-/949, calls 1000/0/1000"},
	/* The kernel copied more than the sockets received. */
	{"receiver", "recvfrom = 500", COPIED " = 1200, " SOCKETS " = 1000",
	 "kernel 1200/0/1200, calls 1000/-/500"},
	/* One byte counts. */
	{"receiver", "recvfrom = 1", "", "calls 1/0/1"},
	{"receiver", "read = 99, recvfrom (MSG_TRUNC) = 1", "", "calls 100/-/99"},
	{"receiver", "read = 50, recvfrom (MSG_TRUNC) = 50", "", "calls 100/-/50"},
	{"receiver", "read = 3, splice = 4", "", "calls (splice) 7/4/3"},
	/* Nothing says in which direction the work went. */
	{"receiver", "getsockopt = 0", "bytes = 1", ""},
	{"receiver", "splice = 9", "bytes = 9", ""},
	{"sender", "io_uring_enter = 0, write = 9", "bytes = 1000", ""},
	{"receiver", "getsockopt = 0", "bytes = 1, " SOCKETS " = 1", "calls 1/-/0"},
	{"receiver", "getsockopt = 0, read = 9", "bytes = 0", "calls 9/0/9"},
	/* A sender. */
	{"sender", "sendto = 100, sendmsg = 200, write = 300, writev = 400", "",
	 "sent 1000/0/1000"},
	{"sender", "write = 100, sendfile = 500, sendfile64 = 400", "",
	 "sent (sendfile) 1000/900/100"},
	{"sender", "write = 400, splice = 600", "", "sent (splice) 1000/600/400"},
	{"sender", "sendto = 100, sendto (MSG_ZEROCOPY) = 500, sendmsg (MSG_ZEROCOPY) = 400", "",
	 "sent (MSG_ZEROCOPY) 1000/-/-"},
	/* Calls with MSG_ZEROCOPY make the share unknown beyond 1 % of the bytes. */
	{"sender", "sendto = 990, sendto (MSG_ZEROCOPY) = 10", "", "sent 1000/0/990"},
	{"sender", "sendto = 989, sendto (MSG_ZEROCOPY) = 11", "", "sent 1000/-/-"},
	/* Calls sent less than half of the work: io_uring did, or nobody saw it. */
	{"sender", "sendto = 499, io_uring_enter = 0", "bytes = 1000",
	 "bytes sent, by io_uring 1000/-/-"},
	{"sender", "sendto = 499", "bytes = 1000",
	 "bytes sent, most by no call seen in the window 1000/-/-"},
	{"sender", "getsockopt = 0", ACKED " = 1000",
	 "bytes sent, by no call seen in the window 1000/-/-"},
	{"sender", "sendto = 500, io_uring_enter = 0", "bytes = 1000", "sent 500/0/500"},
	/* A proxy does both. A count of 0 is no evidence. */
	{"proxy", "read = 100, write = 100", COPIED " = 100",
	 "kernel 100/0/100, calls 100/0/100, sent 100/0/100"},
	{"proxy", "read = 100", "", "calls 100/0/100"},
	/* The calls of a side say its direction, whatever its name is: iperf3 -R, -Z -R, --bidir.
	 */
	{"receiver", "write = 1000, read = 9", COPIED " = 9, bytes = 1000", "sent 1000/0/1000"},
	{"receiver", "sendfile = 1000, getsockopt = 0 x 9", COPIED " = 0, bytes = 1000",
	 "sent (sendfile) 1000/1000/0"},
	{"sender", "read = 1000, write = 9", COPIED " = 1000, bytes = 1000",
	 "kernel 1000/0/1000, calls 1000/0/1000"},
	{"sender", "read = 1000, write = 400", COPIED " = 1000, bytes = 1400",
	 "kernel 1000/0/1000, calls 1000/0/1000, sent 400/0/400"},
	/* A direction with less than 1 % of the bytes is control traffic. */
	{"sender", "sendto = 1000, recvfrom = 10", "", "calls 10/0/10, sent 1000/0/1000"},
	/* The sockets' count tells reads and writes of files from those of sockets. */
	{"sender", "read = 1000, write = 1000", ACKED " = 1000, " SOCKETS " = 1, " COPIED " = 1",
	 "sent 1000/0/1000"},
	{"receiver", "read = 1000, write = 1000",
	 ACKED " = 1, " SOCKETS " = 1000, " COPIED " = 1000",
	 "kernel 1000/0/1000, calls 1000/0/1000"},
	/* Sockets that tcp_info does not see: the kernel copied no byte of the file that was read.
	 */
	{"sender", "read = 1000, sendto = 1000", ACKED " = 1, " SOCKETS " = 1, " COPIED " = 0",
	 "sent 1000/0/1000"},
	{"receiver", "read = 1000", COPIED " = 0, workload_udp = 1, " SOCKETS " = 1",
	 "kernel 1000/-/0, calls 1000/0/1000"},
	/* The work is no count of received bytes: what the kernel did not copy of it is not known.
	 */
	{"receiver", "recvfrom = 100, getsockopt = 0", "bytes = 3000, " COPIED " = 100",
	 "kernel 3000/-/100, calls 3000/-/100"},
	/* A side that splices and moves data both ways splices what no other call moved. */
	{"proxy", "splice = 2000, read = 10", ACKED " = 1000, " SOCKETS " = 1010, " COPIED " = 10",
	 "kernel 1010/1000/10, calls (splice) 1010/1000/10, sent (splice) 1000/1000/0"},
	{"sender", "splice = 1000, read = 500",
	 ACKED " = 1000, " SOCKETS " = 500, " COPIED " = 500",
	 "kernel 500/0/500, calls 500/0/500, sent (splice) 1000/1000/0"},
	{"sender", "splice = 1000, read = 995",
	 ACKED " = 1000, " SOCKETS " = 1004, " COPIED " = 995",
	 "kernel 995/0/995, calls 995/0/995, sent (splice) 1000/1000/0"},
	{"proxy", "splice = 1000, recvfrom = 500, sendto = 500", COPIED " = 500",
	 "kernel 500/-/500"},
};

static void add_calls(struct store *s, int64_t run, const char *calls)
{
	autofree char *list = strdup(calls);
	char *rest = list, *name, *value;

	while ((name = str_token(&rest, ',')) && *name) {
		struct syscall_row r = {
			.comm = "c", .pid = 7, .tid = 7, .calls = 1, .has_bytes = true};

		value = strstr(name, " = ");
		*value = '\0';
		r.name = name + strspn(name, " ");
		sscanf(value + 3, "%lu x %lu", &r.bytes, &r.calls);
		assert_int_equal(store_syscall_add(s, run, &r, NULL), 0);
	}
}

static void print_evidence(struct str *s, const struct evidence *e)
{
	static const char *const whats[][2] = {
		{KERNEL, "kernel"}, {CALLS, "calls"}, {SENT_BY, "sent"}, {"", ""}};
	const double amounts[] = {e->total, e->zero_copy, e->copied};
	size_t w = 0;

	while (!str_starts(e->what, whats[w][0]))
		w++;
	str_printf(s, "%s%s%s ", s->len ? ", " : "", whats[w][1], e->what + strlen(whats[w][0]));
	each (a, amounts)
		str_printf(s, isnan(*a) ? "%s-" : "%s%g", a == amounts ? "" : "/", *a);
	assert_int_equal(e->source, w ? BY_SYSCALLS : BY_KERNEL);
}

static void check_case(const struct counted_case *c)
{
	struct store *s = small_store();
	int64_t run = small_store_run(s, (struct run){.pass = "syscalls", .side = c->side});
	freed(str_free) struct str found = {0};
	struct evidence e[MAX_EVIDENCE];
	int n;

	add_calls(s, run, c->calls);
	small_store_metrics(s, run, c->metrics);
	n = zero_copy_evidence(s, &(struct query){0}, "v", true, e, NULL);
	for (int i = 0; i < n; i++)
		print_evidence(&found, &e[i]);
	assert_string_equal(found.buf ? found.buf : "", c->evidence);
}

TEST(system_calls_and_the_kernels_count_are_evidence)
{
	each (c, cases)
		check_case(c);
}

/* The workload's account of a receiver, by metric, and what the table then says. */
TEST(verdict_follows_the_workloads_account)
{
	static const struct {
		const char *metrics;
		const char *says;
	} verdicts[] = {
		{"rx_mapped_bytes = 900, rx_copied_bytes = 100, asked_zero_copy = 1",
		 "the receiver does not copy 90.0 % of its data (from the workload's account)"},
		{"rx_mapped_bytes = 899, rx_copied_bytes = 101, asked_zero_copy = 1",
		 "the receiver does not copy 89.9 % of its data (from the workload's account). Zero "
		 "copy was asked for: the kernel copied 10.1 % of bytes received"},
		{"rx_mapped_bytes = 1, rx_copied_bytes = 89, rx_unknown_bytes = 10, asked_zero_copy = 1",
		 "the receiver copies every byte (from the workload's account)"},
		{"rx_mapped_bytes = 0, rx_copied_bytes = 100, asked_zero_copy = 1",
		 "the receiver copies every byte (from the workload's account). Zero copy was asked "
		 "for: the kernel copied 100.0 % of bytes received"},
		{"rx_mapped_bytes = 0, rx_copied_bytes = 100", "the receiver copies every byte"},
		{"rx_mapped_bytes = 0, rx_copied_bytes = 0, rx_unknown_bytes = 100", "no evidence"},
		{"sends_zero_copy = 0, sends_copied = 0", "no evidence"},
		{"rx_dropped_bytes = 100", "the receiver dropped the bytes unread"},
		{"sends_zero_copy = 0, sends_copied = 7, rx_mapped_bytes = 0, rx_copied_bytes = 0, rx_unknown_bytes = 100",
		 "the receiver copies every byte that it sends (from the workload's account)"},
		{"sends_zero_copy = 0, sends_copied = 7, rx_mapped_bytes = 0, rx_copied_bytes = 9, asked_zero_copy = 0",
		 "the receiver copies every byte that it receives (from the workload's account), the "
		 "receiver copies every byte that it sends"},
		{"sends_zero_copy = 0, sends_copied = 7, rx_mapped_bytes = 50, rx_copied_bytes = 50",
		 "the receiver does not copy 50.0 % of the data that it receives"},
		{"sends_zero_copy = 7, sends_copied = 0, rx_mapped_bytes = 50, rx_copied_bytes = 50",
		 "the receiver does not copy a byte that it sends"},
	};
	struct table t;

	each (c, verdicts) {
		struct store *s = small_store();
		int64_t run = small_store_run(s, (struct run){0});

		small_store_metrics(s, run, c->metrics);
		t = small_store_table(s, "zerocopy", (struct query){0});
		small_store_says(&t, c->says);
	}
}

/* A fallback of more than a tenth stands above every table of the variant. */
TEST(title_names_a_fallback_of_more_than_a_tenth)
{
	for (double copied = 10; copied <= 11; copied++) {
		struct store *s = small_store();
		int64_t run = small_store_run(s, (struct run){.side = "sender"});
		struct table t;

		small_store_metric(s, run, "sends_zero_copy", 100 - copied);
		small_store_metric(s, run, "sends_copied", copied);
		small_store_metric(s, run, "asked_zero_copy", 1);
		t = small_store_table(s, "zerocopy", (struct query){0});
		if (copied > 10)
			assert_string_equal(t.title, "NOT ZERO COPY: v sender: 11.0 % of sends, by "
						     "completion flags, fell back to copying");
		else
			assert_null(t.title);
	}
}

/* The share of a receiver by system calls, `copied` of 1000 bytes, and by the workload's account.
 */
TEST(sides_are_described_by_their_best_source)
{
	static const struct {
		double copied, mapped; /* mapped: of 100 by the workload; NAN: no account */
		const char *says;
	} sides[] = {
		{0, NAN, "the receiver does not copy (from system calls)"},
		{1, NAN, "the receiver does not copy 99.9 % of its data (from system calls)"},
		{500, NAN, "the receiver does not copy 50.0 % of its data"},
		{501, NAN, "the receiver copies 50.1 % of its data"},
		{989, NAN, "the receiver copies 98.9 % of its data"},
		{990, NAN, "the receiver copies every byte"},
		{990, 2,
		 "the receiver copies 98.0 to 99.0 % of its data (from the workload's "
		 "account, system calls)"},
		{100, 98, "the receiver does not copy 90.0 to 98.0 % of its data"},
		{500, 50, "the receiver does not copy 50.0 % of its data"},
		{500, 40, "the receiver copies 50.0 to 60.0 % of its data"},
		{500, 39, "no verdict for the receiver, because its sources contradict each other"},
	};
	struct table t;

	each (c, sides) {
		struct store *s = small_store();
		int64_t run = small_store_run(s, (struct run){.pass = "all"});
		autofree char *calls =
			xasprintf("splice = %g, read = %g", 1000 - c->copied, c->copied);

		add_calls(s, run, calls);
		small_store_metric(s, run, SOCKETS, 1000);
		if (!isnan(c->mapped)) {
			small_store_metric(s, run, "rx_mapped_bytes", c->mapped);
			small_store_metric(s, run, "rx_copied_bytes", 100 - c->mapped);
		}
		t = small_store_table(s, "zerocopy", (struct query){0});
		small_store_says(&t, c->says);
	}
}

/*
 * The receiver's account says 10 %, and system calls say 90 % in one of two runs. The sender, with
 * one run, has no contradiction.
 */
TEST(contradiction_names_the_shares_of_its_side)
{
	struct store *s = small_store();
	struct table t;
	int64_t run;

	for (int repeat = 1; repeat <= 2; repeat++) {
		run = small_store_with(s, (struct run){.repeat = repeat},
				       "rx_mapped_bytes = 10, rx_copied_bytes = 90");
	}
	run = small_store_run(s, (struct run){.pass = "syscalls"});
	add_calls(s, run, "splice = 900, read = 100");
	run = small_store_with(s, (struct run){.side = "sender"},
			       "sends_zero_copy = 3, sends_copied = 1");
	t = small_store_table(s, "zerocopy", (struct query){0});
	cells_are(&t, "side = receiver receiver sender, 0 total = 200, 0 share = 10, "
		      "1 share = 90, 2 share = 75");
	small_store_says(&t, "no verdict for the receiver, because its sources contradict each "
			     "other. The share of zero copy is 10.0 % (bytes received), 90.0 % "
			     "(bytes received, by system calls (splice))");
	small_store_says(&t, "the sender does not copy 75.0 % of its data");
	small_store_says(&t, "the workload's own count over its whole run, warm-up included");
}

TEST(share_of_a_side_is_that_of_its_worst_evidence)
{
	static const struct evidence e[] = {
		{.side = "sender", .total = 10, .zero_copy = 1},
		{.side = "receiver", .total = 10, .zero_copy = 8},
		{.side = "receiver", .total = 10, .zero_copy = 5},
		{.side = "receiver", .total = 10, .zero_copy = NAN},
		{.side = "receiver", .total = 10, .zero_copy = 6},
	};

	assert_float_equal(zero_copy_share(e, 5, "receiver"), 0.5, 0);
	assert_float_equal(zero_copy_share(e, 5, "sender"), 0.1, 1e-12);
	assert_true(isnan(zero_copy_share(e, 5, "proxy")));
}

/*
 * Adds samples of the copy function, or of a softirq that interrupts the copy function, to a
 * profile.
 */
static void add_copies(struct world *w, const char *comm, enum context context, uint64_t n,
		       const char *interrupt)
{
	uint32_t copy = frame(w, PROFILE_NONE, "_copy_to_iter");

	w->comm = intern_str(&w->p.strings, comm);
	add(w, interrupt ? frame(w, copy, interrupt) : copy, 1, context, n);
}

/*
 * 100 samples: the workload copies 30, softirqs 20, another program 40.
 * 10 are in softirqs that interrupt a copy, 4 of them a copy of the workload.
 */
TEST(copying_of_other_programs_is_left_out)
{
	static const struct thread_row thread = {.pid = 7, .tid = 7, .comm = "tcpzc"};
	static const char *const direction[] = {
		"_copy_to_iter of all programs with callees and interrupts, ns/KiB",
		"_copy_to_iter of the workload with callees and interrupts, ns/KiB",
	};
	struct table t;
	struct world w;
	struct store *s;
	int64_t measured, profiled;

	for (int known = 0; known < 2; known++) {
		s = small_store();
		measured = add_basis(s, "v");
		if (known)
			assert_int_equal(store_thread_add(s, measured, &thread, &err), 0);
		profiled = add_run(s, "profile", 1);
		start_world(&w);
		add_copies(&w, "tcpzc", CTX_SYSCALL, 30, NULL);
		add_copies(&w, "tcpzc", CTX_SOFTIRQ, 4, "tcp_ack");
		add_copies(&w, "ksoftirqd/1", CTX_SOFTIRQ, 20, NULL);
		add_copies(&w, "mandb", CTX_SYSCALL, 40, NULL);
		add_copies(&w, "mandb", CTX_SOFTIRQ, 6, "tcp_ack");
		store_world(s, profiled, &w);
		t = small_store_table(s, "zerocopy", (struct query){0});
		assert_float_equal(cell(&t, "side", "receiver", "copied"), known ? 500 : 900, 1e-9);
		assert_float_equal(cell(&t, "evidence", direction[known], "copied"),
				   known ? 340 : 1000, 1e-9);
	}
}

/* Adds a variant of a sweep; `copies` of its 100 samples are in the copy function. */
static void add_sweep_variant(struct store *s, const char *variant, const char *size,
			      uint64_t copies)
{
	struct world w;
	int64_t profiled;

	assert_int_equal(store_variant_add(s, variant, "", NULL, NULL), 0);
	assert_int_equal(store_setting_add(s, variant, "size", size, NULL), 0);
	assert_int_equal(store_setting_add(s, variant, "gro", "on", NULL), 0);
	add_basis(s, variant);
	profiled = add_run_of(s, variant, "profile", 1);
	start_world(&w);
	add_copies(&w, "tcpzc", CTX_SYSCALL, copies, NULL);
	add(&w, frame(&w, PROFILE_NONE, "tcp_ack"), 1, CTX_SYSCALL, 100 - copies);
	store_world(s, profiled, &w);
}

TEST(copying_is_compared_with_the_variant_of_the_same_settings)
{
	static const struct {
		const char *variant, *size, *evidence;
		uint64_t copies;
	} variants[] = {
		{"plain+4K", "4K", "", 60},
		{"zc+4K", "4K", " (plain+4K: 600.0)", 10},
		{"plain+64K", "64K", "", 20},
		{"zc+64K", "64K", " (plain+64K: 200.0)", 5},
	};
	struct table t;
	char name[128];
	size_t row;
	struct store *s = small_store();

	each (c, variants)
		add_sweep_variant(s, c->variant, c->size, c->copies);
	t = small_store_table(s, "zerocopy", (struct query){0});
	each (r, variants) {
		row = find(&t, "variant", r->variant) + 1;
		snprintf(name, sizeof(name),
			 "_copy_to_iter of all programs with callees and interrupts, ns/KiB%s",
			 r->evidence);
		assert_string_equal(table_text(&t, row, "evidence"), name);
	}
}

/*
 * Adds a sender; of its 100 samples, `copies` copy from the program and `late` copy after the send
 * call. Returns its run.
 */
static int64_t add_late_sender(struct store *s, const char *variant, uint64_t copies, uint64_t late)
{
	struct world w;
	int64_t run;

	assert_int_equal(store_variant_add(s, variant, "", NULL, NULL), 0);
	run = small_store_with(s, (struct run){.variant = variant, .pass = "all", .side = "sender"},
			       "cpu_pct = 100, rate_kib = 1000000");
	start_world(&w);
	add(&w, frame(&w, PROFILE_NONE, "_copy_from_iter"), 1, CTX_SYSCALL, copies);
	add(&w, frame(&w, PROFILE_NONE, "tcp_ack"), 1, CTX_SYSCALL, 100 - copies - late);
	if (late)
		add(&w, frame(&w, frame(&w, PROFILE_NONE, "skb_copy_ubufs"), "memcpy"), 1,
		    CTX_SOFTIRQ, late);
	store_world(s, run, &w);
	return run;
}

static int64_t add_sender(struct store *s, const char *variant, uint64_t copies)
{
	return add_late_sender(s, variant, copies, 0);
}

/*
 * The kernel may copy pages that a program lends it after the send call. The profile of the send
 * call confirms completions and sendfile. It contradicts completions only if the call copies.
 */
TEST(profile_of_the_send_call_does_not_deny_a_later_copy)
{
	static const struct {
		const char *metrics;
		const char *calls;
		uint64_t copies;
		const char *says; /* the verdict of several sources, or NULL */
	} senders[] = {
		{"sends_zero_copy = 0, sends_copied = 7, asked_zero_copy = 1",
		 "sendto (MSG_ZEROCOPY) = 100", 0,
		 "the sender copies every byte after the send call (from the workload's account, "
		 "profile)"},
		{"sends_zero_copy = 7, sends_copied = 0, asked_zero_copy = 1", "", 60,
		 "no verdict for the sender, because its sources contradict each other. The share "
		 "of zero copy is 100.0 % (sends, by completion flags). _copy_from_iter with "
		 "callees costs 600.0 ns/KiB, 600.0 in plain"},
		{"", "sendto (MSG_ZEROCOPY) = 100", 0, NULL},
		{"bytes = 1000", "io_uring_enter = 0", 0, NULL},
		{"", "sendfile = 100", 0, "the sender does not copy (from system calls, profile)"},
	};

	each (c, senders) {
		struct store *s = small_store();
		struct table t;
		int64_t run;

		add_sender(s, "plain", 60);
		run = add_sender(s, "lends", c->copies);
		small_store_metrics(s, run, c->metrics);
		add_calls(s, run, c->calls);
		t = small_store_table(s, "zerocopy", (struct query){.variant = "lends"});
		if (c->says)
			small_store_says(&t, c->says);
		else
			assert_false(small_store_noted(&t, "profile)"));
	}
}

/*
 * A program that keeps no account of what the kernel answered to MSG_ZEROCOPY. From 5 % on the
 * copies after the send call are its own. Completions and calls that lend no pages say more.
 */
TEST(late_copies_in_the_profile_are_evidence)
{
	static const struct {
		const char *calls;
		const char *metrics;
		uint64_t late;
		bool fell_back;
	} senders[] = {
		{"sendto (MSG_ZEROCOPY) = 900, sendto = 100", "", 5, true},
		{"sendto (MSG_ZEROCOPY) = 900, sendto = 100", "", 4, false},
		{"io_uring_enter = 0", ACKED " = 1000", 5, true},
		{"sendto = 1000", "", 50, false},
		{"sendto (MSG_ZEROCOPY) = 1000",
		 "sends_zero_copy = 7, sends_copied = 0, asked_zero_copy = 1", 50, false},
	};

	each (c, senders) {
		struct store *s = small_store();
		int64_t run = add_late_sender(s, "lends", 0, c->late);
		struct table t;

		add_calls(s, run, c->calls);
		small_store_metrics(s, run, c->metrics);
		t = small_store_table(s, "summary", (struct query){0});
		assert_int_equal(t.title != NULL, c->fell_back);
		if (c->fell_back) {
			assert_string_equal(
				t.title, "NOT ZERO COPY: lends sender: 100.0 % of bytes sent, by "
					 "skb_copy_ubufs in the profile, fell back to copying");
			assert_float_equal(table_real(&t, 0, "zero_copy_share"), 0, 0);
		}
		t = small_store_table(s, "zerocopy", (struct query){0});
		assert_int_equal(small_store_noted(&t, "the sender copies every byte after the "
						       "send call (from system calls, profile)"),
				 c->fell_back);
	}
}

/*
 * A base that moves data the other way, as plain iperf3 for iperf3 -R, is no measure of copying:
 * its sender copies no received data to speak of. Each direction has its own row and verdict.
 */
TEST(each_direction_of_a_side_has_its_own_verdict)
{
	static const char plain[] = "write = 1000 x 9", reverse[] = "read = 1000 x 9",
			  both[] = "read = 500 x 9, sendfile = 1000 x 9";
	struct store *s = small_store();
	struct table t;

	add_calls(s, add_sender(s, "plain", 60), plain);
	add_calls(s, add_sender(s, "reverse", 60), reverse);
	add_calls(s, add_sender(s, "both", 0), both);
	t = small_store_table(s, "zerocopy", (struct query){.variant = "reverse"});
	assert_int_equal(t.rows, 3);
	assert_string_equal(table_text(&t, 2, "evidence"),
			    "_copy_to_iter of all programs with callees and interrupts, ns/KiB");
	small_store_says(&t, "the sender copies every byte that it receives (from system calls)");
	t = small_store_table(s, "zerocopy", (struct query){.variant = "both"});
	small_store_says(&t, "the sender copies every byte that it receives (from system calls), "
			     "the sender does not copy a byte that it sends (from system calls, "
			     "profile)");
	assert_true(find(&t, "evidence",
			 "_copy_from_iter of all programs with callees and interrupts, ns/KiB "
			 "(plain: 600.0)") > 0);
}

/* `dd | cat` reads and writes files and pipes. Without readings of sockets nobody knows. */
TEST(workload_without_sockets_transfers_nothing)
{
	static const struct {
		const char *calls, *metrics, *says;
	} rows[] = {
		{"read = 1000, write = 1000", "tcp_sockets = 0, " COPIED " = 0",
		 "no network transfer: the workload used no socket"},
		{"read = 1000, write = 1000", COPIED " = 0", "copies every byte"},
		{"read = 1000, write = 1000", "tcp_sockets = 1, " COPIED " = 0",
		 "copies every byte"},
		{"read = 1000, write = 1000, accept4 = 0", "tcp_sockets = 0, " COPIED " = 0",
		 "copies every byte"},
		{"write = 1000", "tcp_sockets = 0, workload_udp = 1, " COPIED " = 0",
		 "copies every byte"},
	};

	each (r, rows) {
		struct store *s = small_store();
		struct table t;

		small_store_run(s, (struct run){0});
		add_calls(s, small_store_run(s, (struct run){.pass = "syscalls"}), r->calls);
		small_store_metrics(s, 2, r->metrics);
		t = small_store_table(s, "zerocopy", (struct query){0});
		small_store_says(&t, r->says);
	}
}

/* One side alone does not tell where its data went. */
TEST(verdict_says_on_whose_word_sends_were_copied)
{
	static const struct {
		const char *host; /* the receiver's, or NULL without a receiver */
		bool local;
	} receivers[] = {{"h", true}, {"other", false}, {NULL, false}};

	each (c, receivers) {
		struct store *s = small_store();
		struct table t;

		small_store_with(s, (struct run){.side = "sender"},
				 "sends_zero_copy = 0, sends_copied = 7, asked_zero_copy = 1");
		if (c->host)
			small_store_run(s, (struct run){.host = c->host});
		t = small_store_table(s, "zerocopy", (struct query){0});
		small_store_says(&t,
				 "the sender copies every byte (from the workload's account). Zero "
				 "copy was asked for: the kernel copied 100.0 % of sends");
		assert_int_equal(small_store_noted(&t, "; it copies packets that stay on the host"),
				 c->local);
	}
}

/* Two runs of 2 s. A queue of AF_XDP is no evidence, nor is a run without readings of queues. */
TEST(queue_without_its_owner_says_for_how_long)
{
	static const char owned[] = "seconds = 2, queue_owner_pct:eth2/rx-1/zcrx = 100, "
				    "queue_owner_pct:eth2/rx-2/xsk = 100";
	static const struct {
		const char *second; /* run */
		double total, without;
		const char *says; /* no note for NULL */
	} runs[] = {
		{owned, 4, 0, NULL},
		{"seconds = 2", 2, 0, NULL},
		{"seconds = 2, queue_owner_pct:eth2/rx-1/zcrx = 75, "
		 "queue_owner_pct:eth2/rx-1/none = 25",
		 4, 0.5, "zcrx did not have eth2/rx-1 for 0.5 of 4.0 s"},
		{"seconds = 2, queue_owner_pct:eth2/rx-1/none = 100", 4, 2,
		 "zcrx did not have eth2/rx-1 for 2.0 of 4.0 s, when the kernel can only copy"},
	};

	each (c, runs) {
		struct store *s = small_store();
		struct table t;

		small_store_metrics(s, small_store_run(s, (struct run){0}), owned);
		small_store_metrics(s, small_store_run(s, (struct run){.repeat = 2}), c->second);
		t = small_store_table(s, "zerocopy", (struct query){0});
		cells_are(&t, "rows = 1, evidence = seconds in which zcrx had eth2/rx-1");
		assert_float_equal(table_real(&t, 0, "total"), c->total, 1e-9);
		assert_float_equal(table_real(&t, 0, "copied"), c->without, 1e-9);
		assert_int_equal(small_store_noted(&t, "did not have"), !!c->says);
		if (c->says)
			small_store_says(&t, c->says);
	}
}
