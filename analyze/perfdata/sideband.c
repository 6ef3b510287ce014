// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/sideband.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

void sideband_row(struct sideband *s, const struct side_row *row)
{
	array_grow(s->list, s->n, s->cap);
	s->list[s->n++] = *row;
}

uint32_t sideband_dso(struct sideband *s, const struct side_dso *dso)
{
	uint32_t id = intern_bytes(&s->dso_ids, dso, sizeof(*dso));

	if (id == s->ndsos) {
		array_grow(s->dsos, s->ndsos, s->dsos_cap);
		s->dsos[s->ndsos++] = *dso;
	}
	return id;
}

uint32_t sideband_map(struct sideband *s, const struct side_map *map)
{
	array_grow(s->maps, s->nmaps, s->maps_cap);
	s->maps[s->nmaps] = *map;
	return (uint32_t)s->nmaps++;
}

uint32_t sideband_ksymbol(struct sideband *s, const struct side_ksymbol *k)
{
	array_grow(s->ksymbols, s->nksymbols, s->ksymbols_cap);
	s->ksymbols[s->nksymbols] = *k;
	return (uint32_t)s->nksymbols++;
}

static int by_time(const void *a, const void *b)
{
	const struct side_row *l = a, *r = b;

	if (l->time != r->time)
		return l->time < r->time ? -1 : 1;
	return l->order < r->order ? -1 : l->order > r->order;
}

static struct side_timeline *timeline(struct side_timelines *t, uint32_t key)
{
	uint64_t *id = map_at(&t->index, key);

	if (!*id) {
		array_grow(t->list, t->n, t->cap);
		t->list[t->n] = (struct side_timeline){0};
		*id = ++t->n;
	}
	return &t->list[*id - 1];
}

static void change(struct side_timelines *t, uint32_t key, const struct side_row *at,
		   uint32_t value)
{
	struct side_timeline *line = timeline(t, key);

	array_grow(line->changes, line->n, line->cap);
	line->changes[line->n++] = (struct side_change){at->time, at->order, value};
}

static uint32_t last_value(const struct side_timelines *t, uint32_t key, uint32_t none)
{
	const uint64_t *id = map_get(&t->index, key);

	return id ? t->list[*id - 1].changes[t->list[*id - 1].n - 1].value : none;
}

/* A new thread has its parent's name; of an unknown parent it has none, and not its tid's former
 * one. */
static void fork_comm(struct sideband *s, const struct side_row *row)
{
	change(&s->comms, row->tid, row, last_value(&s->comms, row->ptid, UINT32_MAX));
}

static void apply(struct sideband *s, uint32_t index)
{
	const struct side_row *row = &s->list[index];

	switch (row->kind) {
	case SIDE_MAP:
		change(&s->spaces, row->pid, row, index);
		break;
	case SIDE_KSYMBOL:
		change(&s->spaces, KERNEL_PID, row, index);
		break;
	case SIDE_COMM:
		change(&s->comms, row->tid, row, row->what);
		break;
	case SIDE_FORK:
		fork_comm(s, row);
		if (side_fork_key(row) != row->ppid)
			change(&s->spaces, side_fork_key(row), row,
			       index | (side_is_thread(row) ? SIDE_THREAD : 0));
		break;
	case SIDE_EXIT:
		break;
	}
}

/*
 * perf record --tail-synthesize writes at the file's end what runs then, with no time. Of a process
 * whose start was recorded that is how it was from its start on, not before: sorted by its time, 0,
 * the start would undo it. (A recording of some CPUs has the fork, where it happened on one of
 * these, and not the exec on another.)
 */
static void date_tail(struct sideband *s)
{
	struct map started = {0};
	const uint64_t *fork;
	size_t i;

	for (i = 0; i < s->n; i++) {
		struct side_row *row = &s->list[i];
		uint32_t key = row->kind == SIDE_MAP ? row->pid : row->tid;

		if (row->kind == SIDE_KSYMBOL || row->pid == KERNEL_PID)
			continue;
		if (row->time && row->kind == SIDE_FORK) {
			*map_at(&started, key) = i + 1;
		} else if (!row->time) {
			fork = map_get(&started, key);
			row->time = fork ? s->list[*fork - 1].time : 0;
		}
	}
	map_free(&started);
}

/* Which starts are of processes that perf had told of, and that had not ended since. */
static void find_late_forks(struct sideband *s)
{
	struct map told = {0};
	size_t i;

	for (i = 0; i < s->n; i++) {
		struct side_row *row = &s->list[i];
		uint64_t *known = map_at(&told, row->kind == SIDE_MAP ? row->pid : row->tid);

		if (row->kind == SIDE_MAP) {
			*known |= !row->time;
		} else if (row->kind == SIDE_EXIT || (row->kind == SIDE_FORK && row->time)) {
			row->late = *known && row->kind == SIDE_FORK && row->pid == row->tid &&
				    row->pid != row->ppid && !row->alone;
			*known = 0;
		}
	}
	map_free(&told);
}

void sideband_finish(struct sideband *s)
{
	struct side_row idle = {.tid = 0};
	size_t i;

	date_tail(s);
	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_time);
	find_late_forks(s);
	change(&s->comms, 0, &idle, intern_str(s->strings, "swapper"));
	for (i = 0; i < s->n; i++)
		apply(s, (uint32_t)i);
}

const struct side_timeline *sideband_timeline(const struct side_timelines *t, uint32_t key)
{
	const uint64_t *id = map_get(&t->index, key);

	return id ? &t->list[*id - 1] : NULL;
}

static void timelines_free(struct side_timelines *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->list[i].changes);
	free(t->list);
	map_free(&t->index);
}

void sideband_free(struct sideband *s)
{
	timelines_free(&s->comms);
	timelines_free(&s->spaces);
	intern_free(&s->dso_ids);
	free(s->list);
	free(s->maps);
	free(s->dsos);
	free(s->ksymbols);
	*s = (struct sideband){0};
}
