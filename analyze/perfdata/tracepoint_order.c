// SPDX-License-Identifier: GPL-2.0-only
/* Sorts events by time: merges the ascending stretches of the ring buffers, round by round. */
#include "analyze/perfdata/tracepoint_parts.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/* An ascending stretch of the list, as far as it is not delivered. */
struct ascent {
	const struct tracepoint *at, *end;
};

struct merge {
	struct ascent *ascents;
	struct ascent **heap; /* a heap of non-empty ascents, the earliest first */
	size_t n;
};

void time_order_init(struct time_order *o, void (*deliver)(void *ctx, const struct tracepoint *t),
		     void *ctx)
{
	*o = (struct time_order){.deliver = deliver, .ctx = ctx};
}

void time_order_free(struct time_order *o)
{
	free(o->list);
	free(o->starts);
}

/* Of events with equal times, those of the stretch that came first go first. */
static bool ascent_is_earlier(const struct ascent *a, const struct ascent *b)
{
	return a->at->time != b->at->time ? a->at->time < b->at->time : a < b;
}

static void merge_sift_down(struct merge *m, size_t i)
{
	struct ascent *keep;
	size_t child;

	for (; (child = 2 * i + 1) < m->n; i = child) {
		if (child + 1 < m->n && ascent_is_earlier(m->heap[child + 1], m->heap[child]))
			child++;
		if (!ascent_is_earlier(m->heap[child], m->heap[i]))
			return;
		keep = m->heap[i];
		m->heap[i] = m->heap[child];
		m->heap[child] = keep;
	}
}

static void merge_begin(struct merge *m, const struct time_order *o)
{
	size_t i;

	*m = (struct merge){.ascents = xcalloc(o->nstarts + 1, sizeof(*m->ascents)),
			    .heap = xcalloc(o->nstarts + 1, sizeof(*m->heap))};
	for (i = 0; i < o->nstarts; i++) {
		m->ascents[i].at = o->list + o->starts[i];
		m->ascents[i].end = o->list + (i + 1 < o->nstarts ? o->starts[i + 1] : o->n);
		m->heap[m->n++] = &m->ascents[i];
	}
	for (i = m->n; i-- > 0;)
		merge_sift_down(m, i);
}

/* Returns the latest time up to which the first stretch precedes all others. */
static uint64_t merge_first_until(const struct merge *m, uint64_t limit)
{
	const struct ascent *next = m->n > 1 ? m->heap[1] : NULL;
	uint64_t until;

	if (m->n > 2 && ascent_is_earlier(m->heap[2], next))
		next = m->heap[2];
	if (!next)
		return limit;
	until = next->at->time - (next < m->heap[0]);
	return until < limit ? until : limit;
}

static void time_order_deliver(struct time_order *o, const struct tracepoint *t)
{
	if (t->time < o->last)
		o->late++;
	else
		o->last = t->time;
	o->deliver(o->ctx, t);
}

/* Moves the events that were not delivered to the start of the list. */
static void merge_end(struct merge *m, struct time_order *o)
{
	size_t i, n, ascents = o->nstarts;

	o->n = o->nstarts = 0;
	for (i = 0; i < ascents; i++) {
		n = (size_t)(m->ascents[i].end - m->ascents[i].at);
		if (!n)
			continue;
		memmove(o->list + o->n, m->ascents[i].at, n * sizeof(*o->list));
		o->starts[o->nstarts++] = o->n;
		o->n += n;
	}
	free(m->ascents);
	free(m->heap);
}

/* Delivers the events up to `limit`. */
static void time_order_flush(struct time_order *o, uint64_t limit)
{
	struct ascent *first;
	struct merge m;
	uint64_t until;

	merge_begin(&m, o);
	while (m.n && m.heap[0]->at->time <= limit) {
		first = m.heap[0];
		until = merge_first_until(&m, limit);
		for (; first->at < first->end && first->at->time <= until; first->at++)
			time_order_deliver(o, first->at);
		if (first->at == first->end)
			m.heap[0] = m.heap[--m.n];
		merge_sift_down(&m, 0);
	}
	merge_end(&m, o);
}

struct tracepoint *time_order_slot(struct time_order *o)
{
	array_grow(o->list, o->n, o->cap);
	return &o->list[o->n];
}

void time_order_keep(struct time_order *o)
{
	const struct tracepoint *t = &o->list[o->n];

	if (!o->n || t->time < t[-1].time)
		array_add(o->starts, o->nstarts, o->starts_cap, o->n);
	if (t->time > o->max)
		o->max = t->time;
	o->fresh = true;
	o->n++;
}

void time_order_round(struct time_order *o)
{
	if (!o->fresh)
		return;
	time_order_flush(o, o->limit);
	o->limit = o->max;
	o->fresh = false;
}

void time_order_finish(struct time_order *o)
{
	time_order_flush(o, UINT64_MAX);
}
