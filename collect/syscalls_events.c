// SPDX-License-Identifier: GPL-2.0-only
#include "collect/syscalls_events.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

void syscalls_events_add(struct syscalls_events *e, const struct syscall_event *event)
{
	array_grow(e->pending, e->n, e->cap);
	e->pending[e->n++] = *event;
}

static void set_comm(struct syscalls_events *e, struct syscall_thread *t)
{
	const uint64_t *name = map_get(&e->comm, t->tid);

	if (!name)
		return;
	memset(t->comm, 0, sizeof(t->comm));
	strncpy(t->comm, intern_get(&e->names, (uint32_t)*name - 1), sizeof(t->comm) - 1);
}

static struct syscall_thread *thread_of(struct syscalls_events *e, const struct syscall_event *ev)
{
	uint64_t *slot = map_at(&e->slot, ev->tid);

	if (*slot)
		return &e->threads[*slot];
	if (!e->nthreads)
		e->nthreads = 1;
	array_grow(e->threads, e->nthreads, e->threads_cap);
	*slot = e->nthreads++;
	e->threads[*slot] = (struct syscall_thread){.pid = ev->pid, .tid = ev->tid};
	set_comm(e, &e->threads[*slot]);
	return &e->threads[*slot];
}

static struct syscall_cell *cell_of(struct syscalls_events *e, struct syscall_thread *t,
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

static void enter(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t = thread_of(e, ev);

	t->nr = ev->nr;
	t->entered = ev->time;
}

static void count(struct syscall_cell *c, const struct syscall_event *ev, uint64_t entered)
{
	syscall_time(c, ev->time - entered);
	syscall_count(c, ev->ret, syscall_moves_bytes(ev->nr));
}

/*
 * An exit with another number belongs to an enter that was lost; one with none began before the
 * window.
 */
static void leave(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t = thread_of(e, ev);

	if (!t->entered)
		return;
	if (t->nr != ev->nr)
		e->unpaired++;
	else if (ev->nr < SYSCALLS_NR)
		count(cell_of(e, t, ev->nr), ev, t->entered);
	t->entered = 0;
}

/* A new thread has its parent's name, and an old one's id perhaps. */
static void born(struct syscalls_events *e, const struct syscall_event *ev)
{
	const uint64_t *parent = map_get(&e->comm, ev->nr);
	uint64_t name = parent ? *parent : 0;

	if (name)
		*map_at(&e->comm, ev->tid) = name;
	*map_at(&e->slot, ev->tid) = 0;
}

static void renamed(struct syscalls_events *e, const struct syscall_event *ev)
{
	uint64_t *slot = map_get(&e->slot, ev->tid);

	*map_at(&e->comm, ev->tid) = (uint64_t)ev->nr + 1;
	if (slot && *slot)
		set_comm(e, &e->threads[*slot]);
}

static void apply(struct syscalls_events *e, const struct syscall_event *ev)
{
	switch (ev->kind) {
	case SYSCALL_FORK:
		born(e, ev);
		break;
	case SYSCALL_COMM:
		renamed(e, ev);
		break;
	case SYSCALL_ENTER:
		enter(e, ev);
		break;
	case SYSCALL_EXIT:
		leave(e, ev);
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct syscall_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

void syscalls_events_until(struct syscalls_events *e, uint64_t time)
{
	size_t i;

	qsort(e->pending, e->n, sizeof(*e->pending), by_time);
	for (i = 0; i < e->n && e->pending[i].time < time; i++)
		apply(e, &e->pending[i]);
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
