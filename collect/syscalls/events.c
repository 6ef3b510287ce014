// SPDX-License-Identifier: GPL-2.0-only
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

static void syscall_events_enter(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t = syscall_events_thread(e, ev);

	t->nr = ev->nr;
	t->entered = ev->time;
}

static void syscall_events_count(struct syscall_cell *c, const struct syscall_event *ev,
				 const struct syscall_thread *t)
{
	syscall_time(c, ev->time - t->entered);
	syscall_count(c, syscall_restores(t->nr) ? 0 : ev->ret, syscall_moves_bytes(t->nr));
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

	if (!t->entered)
		return;
	if (!syscall_events_same(t->nr, ev->nr))
		e->unpaired++;
	else if (t->nr < SYSCALLS_NR)
		syscall_events_count(syscall_events_cell(e, t, t->nr), ev, t);
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
	switch (ev->kind) {
	case SYSCALL_FORK:
		syscall_events_fork(e, ev);
		break;
	case SYSCALL_COMM:
		syscall_events_rename(e, ev);
		break;
	case SYSCALL_ENTER:
		syscall_events_enter(e, ev);
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
