// SPDX-License-Identifier: GPL-2.0-only
/*
 * The side-band is run through once before any event: then each thread's last name is known from
 * its first event on, and tables by name need not keep its rows apart until it ends.
 */
#include "analyze/perfdata/tracepoint_threads.h"

#include "lib/alloc.h"

#include <stdlib.h>

static uint32_t new_thread(struct tracepoint_threads *t, uint32_t tid)
{
	array_grow(t->list, t->n, t->cap);
	t->list[t->n] =
		(struct tracepoint_thread){.pid = UINT32_MAX, .tid = tid, .name = UINT32_MAX};
	return (uint32_t)t->n++;
}

/* In `now`, which while the side-band is run through holds the state at its row. */
static struct tracepoint_thread *known(struct tracepoint_threads *t, uint32_t tid)
{
	uint64_t *at = map_at(&t->now, tid);

	if (!*at)
		*at = new_thread(t, tid) + 1ULL;
	return &t->list[*at - 1];
}

/* Perf's own rows tell of threads that are there already. */
static void on_fork(struct tracepoint_threads *t, const struct side_row *row)
{
	uint64_t *parent = map_get(&t->now, row->ptid), *at;
	uint32_t name = parent ? t->list[*parent - 1].name : UINT32_MAX, thread;

	if (row->alone) {
		thread = (uint32_t)(known(t, row->tid) - t->list);
	} else {
		thread = new_thread(t, row->tid);
		at = map_at(&t->now, row->tid);
		*at = thread + 1ULL;
		array_grow(t->starts, t->nstarts, t->starts_cap);
		t->starts[t->nstarts++] = (struct thread_start){row->time, row->tid, thread};
	}
	t->list[thread].pid = row->pid;
	t->list[thread].name = name;
}

static void on_comm(struct tracepoint_threads *t, const struct side_row *row)
{
	struct tracepoint_thread *thread = known(t, row->tid);

	thread->pid = row->pid;
	thread->name = row->what;
}

/* As it was before the first start: ids that began as threads, and not by a fork. */
static void rewind_threads(struct tracepoint_threads *t)
{
	struct map now = {0};
	size_t i, start = 0;

	for (i = 0; i < t->n; i++) {
		if (start < t->nstarts && t->starts[start].thread == i)
			start++;
		else
			*map_at(&now, t->list[i].tid) = i + 1;
	}
	map_free(&t->now);
	t->now = now;
}

void tracepoint_threads_init(struct tracepoint_threads *t, const struct sideband *side)
{
	struct tracepoint_thread *idle;
	size_t i;

	*t = (struct tracepoint_threads){0};
	idle = known(t, 0);
	idle->pid = 0;
	idle->name = intern_str(side->strings, "swapper");
	for (i = 0; i < side->n; i++) {
		if (side->list[i].kind == SIDE_FORK)
			on_fork(t, &side->list[i]);
		else if (side->list[i].kind == SIDE_COMM)
			on_comm(t, &side->list[i]);
	}
	rewind_threads(t);
}

/* The next start. */
void tracepoint_threads_start(struct tracepoint_threads *t)
{
	const struct thread_start *s = &t->starts[t->next++];

	*map_at(&t->now, s->tid) = s->thread + 1ULL;
	t->recent[s->tid % THREADS_RECENT].thread = 0;
}

uint32_t tracepoint_threads_look_up(struct tracepoint_threads *t, uint32_t tid)
{
	uint32_t i = tid % THREADS_RECENT, thread = (uint32_t)(known(t, tid) - t->list);

	t->recent[i].tid = tid;
	t->recent[i].thread = thread + 1;
	return thread;
}

void tracepoint_threads_free(struct tracepoint_threads *t)
{
	free(t->list);
	free(t->starts);
	map_free(&t->now);
}
