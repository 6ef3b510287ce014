// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/time_order.h"

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
	o->tmp = xmalloc(piece * sizeof(*o->tmp));
}

void time_order_free(struct time_order *o)
{
	size_t i;

	for (i = 0; i < o->nruns; i++)
		free(o->runs[i].buf);
	free(o->runs);
	free(o->list);
	free(o->tmp);
	free(o->bounds);
	spool_close(&o->spool);
}

/* --- sorting: what comes in is a few ascending stretches, one of each ring buffer --- */

/* Where the stretches begin, and the end. */
static size_t find_bounds(struct time_order *o)
{
	size_t n = 0, i;

	for (i = 0; i < o->n; i++) {
		if (i && o->list[i].time >= o->list[i - 1].time)
			continue;
		array_grow(o->bounds, n, o->bounds_cap);
		o->bounds[n++] = i;
	}
	array_grow(o->bounds, n, o->bounds_cap);
	o->bounds[n] = o->n;
	return n;
}

/* [a, b) and [b, c) of `from` as one into `to`. */
static void merge_two(const struct tracepoint *from, struct tracepoint *to, size_t a, size_t b,
		      size_t c)
{
	size_t i = a, j = b, k = a;

	while (i < b && j < c)
		to[k++] = from[j].time < from[i].time ? from[j++] : from[i++];
	memcpy(to + k, from + i, (b - i) * sizeof(*to));
	k += b - i;
	memcpy(to + k, from + j, (c - j) * sizeof(*to));
}

static void sort(struct time_order *o)
{
	size_t n = find_bounds(o), i, k, *at = o->bounds;
	struct tracepoint *swap;

	while (n > 1) {
		for (i = k = 0; i < n; i += 2, k++) {
			size_t end = at[i + 2 < n ? i + 2 : n];
			size_t mid = i + 1 < n ? at[i + 1] : end;

			merge_two(o->list, o->tmp, at[i], mid, end);
			at[k] = at[i];
		}
		at[k] = o->n;
		n = k;
		swap = o->list;
		o->list = o->tmp;
		o->tmp = swap;
	}
}

/* --- delivery --- */

static void send(struct time_order *o, const struct tracepoint *t)
{
	if (t->time < o->last)
		o->late++;
	else
		o->last = t->time;
	o->deliver(o->ctx, t);
}

static int fill(struct time_order *o, struct time_order_run *run, struct error *err)
{
	size_t n = run->left < RUN_BUFFER ? (size_t)run->left : RUN_BUFFER;
	size_t len = n * sizeof(*run->buf), got = 0;
	ssize_t ret;

	while (got < len) {
		ret = pread(o->spool.fd, (char *)run->buf + got, len - got, (off_t)(run->at + got));
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			return error_sys(err, ret ? errno : EIO, "reading a temporary file");
		got += (size_t)ret;
	}
	run->at += len;
	run->left -= n;
	run->first = 0;
	run->n = n;
	return 0;
}

/* Sources are the runs and, last, what is in memory. The next event of one; NULL: it has no more.
 */
struct merge {
	struct time_order *o;
	size_t memory;	     /* how much of the list is gone */
	size_t *heap, nheap; /* sources; the earliest first */
};

static const struct tracepoint *head(const struct merge *m, size_t source)
{
	const struct time_order *o = m->o;

	if (source == o->nruns)
		return m->memory < o->n ? &o->list[m->memory] : NULL;
	return o->runs[source].first < o->runs[source].n
		       ? &o->runs[source].buf[o->runs[source].first]
		       : NULL;
}

static bool before(const struct merge *m, size_t a, size_t b)
{
	uint64_t ta = head(m, a)->time, tb = head(m, b)->time;

	return ta != tb ? ta < tb : a < b;
}

static void sift_down(struct merge *m, size_t i)
{
	size_t child, keep;

	for (; (child = 2 * i + 1) < m->nheap; i = child) {
		if (child + 1 < m->nheap && before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m, m->heap[child], m->heap[i]))
			return;
		keep = m->heap[i];
		m->heap[i] = m->heap[child];
		m->heap[child] = keep;
	}
}

static int advance(struct merge *m, size_t source, struct error *err)
{
	struct time_order_run *run;

	if (source == m->o->nruns) {
		m->memory++;
		return 0;
	}
	run = &m->o->runs[source];
	return ++run->first == run->n && run->left ? fill(m->o, run, err) : 0;
}

static int merge_all(struct merge *m, uint64_t limit, struct error *err)
{
	size_t i;
	int ret;

	for (i = 0; i <= m->o->nruns; i++)
		if (head(m, i))
			m->heap[m->nheap++] = i;
	for (i = m->nheap; i-- > 0;)
		sift_down(m, i);
	while (m->nheap && head(m, m->heap[0])->time <= limit) {
		send(m->o, head(m, m->heap[0]));
		ret = advance(m, m->heap[0], err);
		if (ret)
			return ret;
		if (!head(m, m->heap[0]))
			m->heap[0] = m->heap[--m->nheap];
		sift_down(m, 0);
	}
	return 0;
}

/* Everything up to `limit` goes out; the list is sorted. */
static int flush(struct time_order *o, uint64_t limit, struct error *err)
{
	struct merge m = {.o = o};
	int ret = 0;

	if (o->nruns) {
		m.heap = xmalloc((o->nruns + 1) * sizeof(*m.heap));
		ret = merge_all(&m, limit, err);
		free(m.heap);
	} else {
		while (m.memory < o->n && o->list[m.memory].time <= limit)
			send(o, &o->list[m.memory++]);
	}
	o->n -= m.memory;
	memmove(o->list, o->list + m.memory, o->n * sizeof(*o->list));
	return ret;
}

/* --- coming in --- */

static int put_aside(struct time_order *o, struct error *err)
{
	struct time_order_run run = {.left = o->n};
	int ret = 0;

	if (o->spool.fd < 0)
		ret = spool_open(&o->spool, err);
	if (ret)
		return ret;
	sort(o);
	run.at = o->spool.len;
	ret = spool_add(&o->spool, o->list, o->n * sizeof(*o->list), err);
	if (ret)
		return ret;
	o->n = 0;
	run.buf = xmalloc(RUN_BUFFER * sizeof(*run.buf));
	array_grow(o->runs, o->nruns, o->runs_cap);
	o->runs[o->nruns++] = run;
	return fill(o, &o->runs[o->nruns - 1], err);
}

int time_order_add(struct time_order *o, const struct tracepoint *t, struct error *err)
{
	o->list[o->n++] = *t;
	o->fresh = true;
	if (t->time > o->max)
		o->max = t->time;
	return o->n == o->piece ? put_aside(o, err) : 0;
}

int time_order_round(struct time_order *o, struct error *err)
{
	int ret;

	if (!o->fresh)
		return 0;
	sort(o);
	ret = flush(o, o->limit, err);
	o->limit = o->max;
	o->fresh = false;
	return ret;
}

int time_order_finish(struct time_order *o, struct error *err)
{
	sort(o);
	return flush(o, UINT64_MAX, err);
}
