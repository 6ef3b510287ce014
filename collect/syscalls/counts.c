// SPDX-License-Identifier: GPL-2.0-only
/* Counts made in user space: from events, and of threads that ended. */
#include "collect/syscalls/methods.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

void syscalls_events_add(struct syscalls_events *e, const struct syscall_event *event)
{
	array_grow(e->pending, e->n, e->cap);
	e->pending[e->n++] = *event;
}

static void syscall_events_set_comm(struct syscalls_events *e, struct syscall_thread *t)
{
	const uint64_t *name = map_get(&e->comm, t->tid);

	if (!name)
		return;
	memset(t->comm, 0, sizeof(t->comm));
	strncpy(t->comm, intern_get(&e->names, (uint32_t)*name - 1), sizeof(t->comm) - 1);
}

static struct syscall_thread *syscall_events_thread(struct syscalls_events *e,
						    const struct syscall_event *ev)
{
	uint64_t *slot = map_at(&e->slot, ev->tid);

	if (*slot)
		return &e->threads[*slot];
	if (!e->nthreads)
		e->nthreads = 1;
	array_grow(e->threads, e->nthreads, e->threads_cap);
	*slot = e->nthreads++;
	e->threads[*slot] = (struct syscall_thread){.pid = ev->pid, .tid = ev->tid};
	syscall_events_set_comm(e, &e->threads[*slot]);
	return &e->threads[*slot];
}

static struct syscall_cell *syscall_events_cell(struct syscalls_events *e, struct syscall_thread *t,
						uint32_t nr)
{
	if (t->cell[nr])
		return &e->cells[t->cell[nr]];
	if (!e->ncells)
		e->ncells = 1;
	array_grow(e->cells, e->ncells, e->cells_cap);
	e->cells[e->ncells] = (struct syscall_cell){0};
	t->cell[nr] = (uint32_t)e->ncells++;
	return &e->cells[t->cell[nr]];
}

/* Says whether an exit with the number can end the call at the index. */
static bool syscall_events_same(uint32_t index, uint32_t nr)
{
	if (nr == UINT32_MAX)
		return syscall_restores(index);
	return index == syscall_index(nr, index >= SYSCALLS_32BIT) ||
	       (index >= SYSCALLS_FLAGGED && index == syscall_trait_of(nr).flagged);
}

/*
 * An exit with another number belongs to an enter that was lost. An exit without an enter began
 * before the window.
 */
static void syscall_events_leave(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t = syscall_events_thread(e, ev);
	struct syscall_cell *c;

	if (!t->entered)
		return;
	if (!syscall_events_same(t->nr, ev->nr)) {
		e->unpaired++;
	} else if (t->nr < SYSCALLS_NR) {
		c = syscall_events_cell(e, t, t->nr);
		syscall_time(c, ev->time - t->entered);
		syscall_count(c, syscall_restores(t->nr) ? 0 : ev->ret, syscall_moves_bytes(t->nr));
	}
	t->entered = 0;
}

/* A new thread has its parent's name, and perhaps the id of an old thread. */
static void syscall_events_fork(struct syscalls_events *e, const struct syscall_event *ev)
{
	const uint64_t *parent = map_get(&e->comm, ev->nr);
	uint64_t name = parent ? *parent : 0;

	if (name)
		*map_at(&e->comm, ev->tid) = name;
	*map_at(&e->slot, ev->tid) = 0;
}

static void syscall_events_rename(struct syscalls_events *e, const struct syscall_event *ev)
{
	uint64_t *slot = map_get(&e->slot, ev->tid);

	*map_at(&e->comm, ev->tid) = (uint64_t)ev->nr + 1;
	if (slot && *slot)
		syscall_events_set_comm(e, &e->threads[*slot]);
}

static void syscall_events_apply(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t;

	switch (ev->kind) {
	case SYSCALL_FORK:
		syscall_events_fork(e, ev);
		break;
	case SYSCALL_COMM:
		syscall_events_rename(e, ev);
		break;
	case SYSCALL_ENTER:
		t = syscall_events_thread(e, ev);
		t->nr = ev->nr;
		t->entered = ev->time;
		break;
	case SYSCALL_EXIT:
		syscall_events_leave(e, ev);
		break;
	}
}

static int syscall_events_by_time(const void *a, const void *b)
{
	const struct syscall_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

void syscalls_events_until(struct syscalls_events *e, uint64_t time)
{
	size_t i;

	qsort(e->pending, e->n, sizeof(*e->pending), syscall_events_by_time);
	for (i = 0; i < e->n && e->pending[i].time < time; i++)
		syscall_events_apply(e, &e->pending[i]);
	memmove(e->pending, e->pending + i, (e->n - i) * sizeof(*e->pending));
	e->n -= i;
}

void syscalls_events_free(struct syscalls_events *e)
{
	free(e->pending);
	free(e->threads);
	free(e->cells);
	map_free(&e->slot);
	map_free(&e->comm);
	intern_free(&e->names);
}

/* --- threads that ended --- */

_Static_assert(sizeof(struct syscall_key) == 3 * 4 + SYSCALLS_COMM, "no padding");

/*
 * Fills the key of the row for the thread's calls. All calls of one thread go to the same kind of
 * row.
 */
static struct syscall_key ended_key(const struct syscalls_ended *e, const struct syscall_thread *t)
{
	size_t level = e->n / SYSCALLS_ENDED_ROWS;
	struct syscall_key key = {0};

	if (level < 1)
		key.tid = t->tid;
	if (level < 2)
		key.pid = t->pid;
	if (level < 3)
		memcpy(key.comm, t->comm, strnlen(t->comm, sizeof(key.comm)));
	else
		memcpy(key.comm, "...", 3);
	return key;
}

static struct syscall_sum *ended_row(struct syscalls_ended *e, const struct syscall_key *key)
{
	uint32_t id = intern_bytes(&e->keys, key, sizeof(*key));

	if (id < e->n)
		return &e->rows[id];
	array_grow(e->rows, e->n, e->cap);
	e->rows[id] = (struct syscall_sum){.key = *key};
	e->n++;
	return &e->rows[id];
}

static void ended_merge_times(struct syscall_cell *to, const struct syscall_cell *from)
{
	if (!from->timed)
		return;
	if (!to->timed || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->timed += from->timed;
	to->total += from->total;
	to->first_total += from->first_total;
	to->square_lo += from->square_lo;
	to->square_hi += from->square_hi + (to->square_lo < from->square_lo);
}

static void ended_merge(struct syscall_sum *to, const struct syscall_cell *from)
{
	int i;

	to->first += syscall_first(from);
	ended_merge_times(&to->cell, from);
	to->cell.calls += from->calls;
	to->cell.errors += from->errors;
	to->cell.bytes += from->bytes;
	for (i = 0; i < SYSCALLS_BUCKETS; i++) {
		to->cell.time_hist[i] += from->time_hist[i];
		to->cell.size_hist[i] += from->size_hist[i];
	}
}

void syscalls_ended_add(struct syscalls_ended *e, const struct syscall_thread *t,
			const struct syscall_cell *cells, uint32_t ncells)
{
	struct syscall_key key = ended_key(e, t);

	for (key.nr = 0; key.nr < SYSCALLS_NR; key.nr++) {
		uint32_t cell = t->cell[key.nr];

		if (cell && cell < ncells && cells[cell].calls)
			ended_merge(ended_row(e, &key), &cells[cell]);
		if (t->entered && t->nr == key.nr)
			ended_row(e, &key)->unfinished++;
	}
}

void syscalls_ended_free(struct syscalls_ended *e)
{
	free(e->rows);
	intern_free(&e->keys);
}
