// SPDX-License-Identifier: GPL-2.0-only
/* Sorts events by time: in memory by rounds, or in pieces in a temporary file. */
#include "analyze/perfdata/tracepoint_parts.h"

#include "lib/file.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUN_BUFFER = 512 };

void time_order_init(struct time_order *o, size_t piece,
		     void (*deliver)(void *ctx, const struct tracepoint *t), void *ctx)
{
	*o = (struct time_order){.piece = piece, .spool.fd = -1, .deliver = deliver, .ctx = ctx};
	o->list = xmalloc(piece * sizeof(*o->list));
}

void time_order_free(struct time_order *o)
{
	size_t i;

	for (i = 0; i < o->nruns; i++)
		free(o->runs[i].buf);
	free(o->runs);
	free(o->list);
	free(o->starts);
	spool_close(&o->spool);
}

/* --- pieces --- */

static int time_order_read_run(struct time_order *o, struct time_order_run *run, struct error *err)
{
	size_t n = run->left < RUN_BUFFER ? (size_t)run->left : RUN_BUFFER;
	size_t len = n * sizeof(*run->buf);
	ssize_t got = file_read_at(o->spool.fd, run->buf, len, run->offset);

	if (got != (ssize_t)len)
		return error_sys(err, got < 0 ? (int)-got : EIO, "reading a temporary file");
	run->offset += len;
	run->left -= n;
	run->at = run->buf;
	run->end = run->buf + n;
	return 0;
}

/* --- merging --- */

struct merge {
	struct time_order *o;
	struct time_order_run *memory; /* the stretches of the list */
	struct time_order_run **heap;  /* a heap of non-empty runs, the earliest first */
	size_t n;
	void (*take)(void *ctx, const struct tracepoint *t, size_t n);
	void *ctx;
};

static bool run_is_earlier(const struct time_order_run *a, const struct time_order_run *b)
{
	return a->at->time != b->at->time ? a->at->time < b->at->time : a->number < b->number;
}

static void merge_sift_down(struct merge *m, size_t i)
{
	struct time_order_run *keep;
	size_t child;

	for (; (child = 2 * i + 1) < m->n; i = child) {
		if (child + 1 < m->n && run_is_earlier(m->heap[child + 1], m->heap[child]))
			child++;
		if (!run_is_earlier(m->heap[child], m->heap[i]))
			return;
		keep = m->heap[i];
		m->heap[i] = m->heap[child];
		m->heap[child] = keep;
	}
}

static void merge_add_run(struct merge *m, struct time_order_run *run)
{
	if (run->at != run->end)
		m->heap[m->n++] = run;
}

/* Starts with the stretches of the list and, with `pieces`, the pieces in the temporary file. */
static void merge_begin(struct merge *m, bool pieces)
{
	struct time_order *o = m->o;
	size_t i;

	m->memory = xcalloc(o->nstarts + 1, sizeof(*m->memory));
	m->heap = xcalloc(o->nstarts + o->nruns + 1, sizeof(*m->heap));
	for (i = 0; pieces && i < o->nruns; i++)
		merge_add_run(m, &o->runs[i]);
	for (i = 0; i < o->nstarts; i++) {
		m->memory[i].at = o->list + o->starts[i];
		m->memory[i].end = o->list + (i + 1 < o->nstarts ? o->starts[i + 1] : o->n);
		m->memory[i].number = o->nruns + i;
		merge_add_run(m, &m->memory[i]);
	}
	for (i = m->n; i-- > 0;)
		merge_sift_down(m, i);
}

/* Returns the latest time up to which the first run precedes all others. */
static uint64_t merge_first_until(const struct merge *m, uint64_t limit)
{
	const struct time_order_run *next = m->n > 1 ? m->heap[1] : NULL;
	uint64_t until;

	if (m->n > 2 && run_is_earlier(m->heap[2], next))
		next = m->heap[2];
	if (!next)
		return limit;
	until = next->at->time - (next->number < m->heap[0]->number);
	return until < limit ? until : limit;
}

/* Takes the events up to `limit`, one stretch at a time. */
static int merge_run(struct merge *m, uint64_t limit, struct error *err)
{
	const struct tracepoint *from;
	struct time_order_run *run;
	uint64_t until;
	int ret = 0;

	while (!ret && m->n && m->heap[0]->at->time <= limit) {
		run = m->heap[0];
		until = merge_first_until(m, limit);
		for (from = run->at; run->at < run->end && run->at->time <= until;)
			run->at++;
		m->take(m->ctx, from, (size_t)(run->at - from));
		if (run->at == run->end && run->left)
			ret = time_order_read_run(m->o, run, err);
		if (run->at == run->end)
			m->heap[0] = m->heap[--m->n];
		merge_sift_down(m, 0);
	}
	return ret;
}

/* Moves the events that were not taken to the start of the list. */
static void merge_end(struct merge *m)
{
	struct time_order *o = m->o;
	size_t i, n, stretches = o->nstarts;

	o->n = o->nstarts = 0;
	for (i = 0; i < stretches; i++) {
		n = (size_t)(m->memory[i].end - m->memory[i].at);
		if (!n)
			continue;
		memmove(o->list + o->n, m->memory[i].at, n * sizeof(*o->list));
		o->starts[o->nstarts++] = o->n;
		o->n += n;
	}
	free(m->memory);
	free(m->heap);
}

/* --- delivering events --- */

static void time_order_deliver(void *ctx, const struct tracepoint *t, size_t n)
{
	struct time_order *o = ctx;

	for (; n--; t++) {
		if (t->time < o->last)
			o->late++;
		else
			o->last = t->time;
		o->deliver(o->ctx, t);
	}
}

static int time_order_flush(struct time_order *o, uint64_t limit, struct error *err)
{
	struct merge m = {.o = o, .take = time_order_deliver, .ctx = o};
	int ret;

	merge_begin(&m, true);
	ret = merge_run(&m, limit, err);
	merge_end(&m);
	return ret;
}

static void time_order_append(void *ctx, const struct tracepoint *t, size_t n)
{
	struct tracepoint **to = ctx;

	memcpy(*to, t, n * sizeof(*t));
	*to += n;
}

static int time_order_spool_piece(struct time_order *o, struct error *err)
{
	struct tracepoint *sorted = xmalloc(o->n * sizeof(*sorted)), *to = sorted;
	struct time_order_run run = {.number = o->nruns, .left = o->n};
	struct merge m = {.o = o, .take = time_order_append, .ctx = &to};
	int ret = 0;

	merge_begin(&m, false);
	merge_run(&m, UINT64_MAX, err);
	merge_end(&m);
	if (o->spool.fd < 0)
		ret = spool_open(&o->spool, err);
	run.offset = o->spool.len;
	if (!ret)
		ret = spool_add(&o->spool, sorted, run.left * sizeof(*sorted), err);
	free(sorted);
	if (ret)
		return ret;
	run.buf = xmalloc(RUN_BUFFER * sizeof(*run.buf));
	array_add(o->runs, o->nruns, o->runs_cap, run);
	return time_order_read_run(o, &o->runs[o->nruns - 1], err);
}

/* --- adding events --- */

int time_order_keep(struct time_order *o, struct error *err)
{
	const struct tracepoint *t = &o->list[o->n];

	if (!o->n || t->time < t[-1].time)
		array_add(o->starts, o->nstarts, o->starts_cap, o->n);
	if (t->time > o->max)
		o->max = t->time;
	o->fresh = true;
	return ++o->n == o->piece ? time_order_spool_piece(o, err) : 0;
}

int time_order_round(struct time_order *o, struct error *err)
{
	int ret;

	if (!o->fresh)
		return 0;
	ret = time_order_flush(o, o->limit, err);
	o->limit = o->max;
	o->fresh = false;
	return ret;
}

int time_order_finish(struct time_order *o, struct error *err)
{
	return time_order_flush(o, UINT64_MAX, err);
}
