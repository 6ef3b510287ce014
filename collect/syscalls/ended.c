// SPDX-License-Identifier: GPL-2.0-only
#include "collect/syscalls/methods.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

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
