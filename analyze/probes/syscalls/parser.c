// SPDX-License-Identifier: GPL-2.0-only
/* syscalls.tsv: rows by (pid, tid, syscall), with log2 histograms of time and size. */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

#include <stdio.h>

static const struct {
	const char *column;
	size_t offset;
} numbers[] = {
	{"calls", offsetof(struct syscall_row, calls)},
	{"errors", offsetof(struct syscall_row, errors)},
	{"total_ns", offsetof(struct syscall_row, total_ns)},
	{"min_ns", offsetof(struct syscall_row, min_ns)},
	{"max_ns", offsetof(struct syscall_row, max_ns)},
};

enum {
	FIRST = 16
}; /* the first calls of a thread, which are always timed; docs/reference/capture-folder.md */

/* Calls and timed calls of all rows. */
struct timed {
	uint64_t calls, timed;
};

/*
 * Estimates the total where only a random sample of calls was timed: the others took as long as
 * those on average. The sum of squares is set so that the standard error of the mean, which is
 * taken over `calls`, is the standard error of the timed calls.
 */
static void syscall_estimate_total(struct syscall_row *s, uint64_t timed, uint64_t first,
				   uint64_t first_ns)
{
	double drawn = (double)(timed - first), n = (double)s->calls, k = (double)timed;
	double mean =
		drawn > 0 ? (double)(s->total_ns - first_ns) / drawn : (double)s->total_ns / k;

	s->total_ns += (uint64_t)llround(mean * (n - k));
	s->m2 *= k > 1 ? n * (n - 1) / (k * (k - 1)) : 1;
}

/*
 * Parses how many calls were timed, and how many of them are a thread's first calls. A row of one
 * thread has FIRST of these; a row of several threads says how many.
 */
static bool syscall_parse_timed(const struct tsv *t, size_t row, struct syscall_row *s,
				struct timed *sum)
{
	uint64_t timed = s->calls, first_ns = 0, first;

	if (tsv_column(t, "timed") >= 0 && (!parse_u64(tsv_text(t, row, "timed"), &timed) ||
					    !parse_u64(tsv_text(t, row, "first_ns"), &first_ns)))
		return false;
	first = timed < FIRST ? timed : FIRST;
	if (tsv_column(t, "first") >= 0 && !parse_u64(tsv_text(t, row, "first"), &first))
		return false;
	if (timed > s->calls || first > timed || first_ns > s->total_ns || (s->calls && !timed))
		return false;
	sum->calls += s->calls;
	sum->timed += timed;
	if (timed < s->calls)
		syscall_estimate_total(s, timed, first, first_ns);
	return true;
}

static bool syscall_parse_row(struct ingest *in, const struct tsv *t, size_t row,
			      struct syscall_row *s, struct timed *sum)
{
	const char *bytes = tsv_text(t, row, "bytes");
	uint64_t n = 0;
	bool never; /* no call returned: there is no minimum, maximum or deviation */

	*s = (struct syscall_row){
		.comm = arena_strdup(&in->arena, tsv_text(t, row, "comm")),
		.name = arena_strdup(&in->arena, tsv_text(t, row, "name")),
		.pid = atoll(tsv_text(t, row, "pid")),
		.tid = atoll(tsv_text(t, row, "tid")),
		.nr = atoll(tsv_text(t, row, "nr")),
	};
	never = parse_u64(tsv_text(t, row, "calls"), &n) && !n;
	for (size_t i = 0; i < array_size(numbers); i++) {
		const char *cell = tsv_text(t, row, numbers[i].column);

		if (never && !*cell)
			continue;
		if (!parse_u64(cell, &n))
			return false;
		memcpy((char *)s + numbers[i].offset, &n, sizeof(n));
	}
	s->has_bytes = *bytes != '\0';
	if (s->has_bytes && !parse_u64(bytes, &s->bytes))
		return false;
	parse_u64(tsv_text(t, row, "unfinished"), &s->unfinished);
	return (never || parse_real(tsv_text(t, row, "m2_ns2"), &s->m2)) &&
	       syscall_parse_timed(t, row, s, sum) &&
	       parse_hist(tsv_text(t, row, "time_hist"), s->time_hist, array_size(s->time_hist)) &&
	       parse_hist(tsv_text(t, row, "size_hist"), s->size_hist, array_size(s->size_hist));
}

static int syscalls_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct timed sum = {0};
	struct syscall_row row;

	(void)err;
	for (size_t i = 0; i < t->rows; i++) {
		if (syscall_parse_row(in, t, i, &row, &sum))
			array_add(in->syscalls, in->nsyscalls, in->syscalls_cap, row);
		else
			t->bad++;
	}
	if (sum.timed < sum.calls)
		note_add(&in->notes, syscalls_sampled, (double)sum.calls / (double)sum.timed);
	return 0;
}

const struct parser parser_syscalls = {
	.files = {"syscalls.tsv"},
	.collector = "syscalls",
	.columns = "comm pid tid nr name calls errors total_ns min_ns max_ns m2_ns2 bytes",
	.rows = syscalls_read_rows};

/* socket_copies.tsv: data of sockets that the kernel copied or pinned, in bytes. */

static const struct {
	const char *event, *metric;
} events[] = {
	{"skb_copy_datagram_iovec", "rx_kernel_copied_bytes"},
	{"skb_copy_ubufs", "host_tx_kernel_copied_bytes"},
	{"__zerocopy_sg_from_iter", "tx_kernel_pinned_bytes"},
};

static int socket_copies_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	uint64_t bytes;

	(void)err;
	for (size_t row = 0; row < t->rows; row++) {
		const char *event = tsv_text(t, row, "event");
		bool good = parse_u64(tsv_text(t, row, "bytes"), &bytes);

		t->bad += !good;
		for (size_t i = 0; good && i < array_size(events); i++)
			if (!strcmp(events[i].event, event))
				ingest_metric(in, events[i].metric, "B", (double)bytes);
	}
	return 0;
}

const struct parser parser_socket_copies = {.files = {"socket_copies.tsv"},
					    .collector = "syscalls",
					    .columns = "event calls bytes",
					    .rows = socket_copies_read_rows};
