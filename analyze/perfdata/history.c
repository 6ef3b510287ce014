// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/history.h"

#include "lib/alloc.h"

#include <stdlib.h>

enum { FORKS_DEEP = 4096 }; /* parents that are asked: a damaged file may name any number */

static struct history_space *space_of(struct history *h, uint32_t pid)
{
	uint64_t *id = map_at(&h->index, pid);

	if (!*id) {
		array_grow(h->list, h->n, h->cap);
		h->list[h->n] = (struct history_space){0};
		*id = ++h->n;
	}
	return &h->list[*id - 1];
}

static void add_map(struct history_space *s, const struct side_map *m, uint32_t map, uint32_t row)
{
	if (m->start >= m->end)
		return;
	array_grow(s->maps, s->n, s->cap);
	s->maps[s->n++] =
		(struct history_map){.start = m->start, .end = m->end, .row = row, .map = map};
}

static void add_fork(struct history_space *s, uint32_t row)
{
	array_grow(s->forks, s->nforks, s->forks_cap);
	s->forks[s->nforks++] = row;
}

static int by_start(const void *a, const void *b)
{
	const struct history_map *l = a, *r = b;

	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->row < r->row ? -1 : l->row > r->row;
}

static void finish(struct history_space *s)
{
	uint64_t reach = 0;
	uint32_t i;

	if (s->n)
		qsort(s->maps, s->n, sizeof(*s->maps), by_start);
	for (i = 0; i < s->n; i++) {
		if (s->maps[i].end > reach)
			reach = s->maps[i].end;
		s->maps[i].reach = reach;
	}
}

void history_make(struct history *h, const struct sideband *side)
{
	size_t i;

	*h = (struct history){.side = side};
	for (i = 0; i < side->n; i++) {
		const struct side_row *row = &side->list[i];

		if (row->kind == SIDE_MAP)
			add_map(space_of(h, row->pid), &side->maps[row->what], row->what,
				(uint32_t)i);
		else if (row->kind == SIDE_FORK && side_fork_key(row) != row->ppid)
			add_fork(space_of(h, side_fork_key(row)), (uint32_t)i);
	}
	for (i = 0; i < h->n; i++)
		finish(&h->list[i]);
}

/* The last fork up to `version`; UINT32_MAX: the process was there from the beginning. */
static uint32_t fork_before(const struct history_space *s, uint32_t version)
{
	uint32_t low = 0, high = s->nforks, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->forks[mid] <= version)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? s->forks[low - 1] : UINT32_MAX;
}

/* Of the rows after `born` and up to `version` the last one that maps `addr`. */
static const struct history_map *find_own(const struct history_space *s, uint64_t addr,
					  uint32_t born, uint32_t version)
{
	const struct history_map *best = NULL;
	uint32_t low = 0, high = s->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->maps[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && s->maps[low].reach > addr) {
		const struct history_map *m = &s->maps[low];

		if (m->end > addr && m->row <= version && (born == UINT32_MAX || m->row > born) &&
		    (!best || m->row > best->row))
			best = m;
	}
	return best;
}

/* What a FORK left is asked of the parent; `deep` counts down over all of one look-up. */
static const struct history_map *find(const struct history *h, uint32_t pid, uint64_t addr,
				      uint32_t version, int *deep)
{
	const struct history_map *m;
	const struct history_space *s;
	const struct side_row *fork;
	const uint64_t *id;
	uint32_t born;

	while (version != UINT32_MAX && (*deep)-- > 0) {
		id = map_get(&h->index, pid);
		if (!id)
			return NULL;
		s = &h->list[*id - 1];
		born = fork_before(s, version);
		m = find_own(s, addr, born, version);
		if (m || born == UINT32_MAX)
			return m;
		fork = &h->side->list[born];
		if (fork->late) {
			m = find(h, fork->ppid, addr, born, deep);
			if (m)
				return m;
			version = born - 1; /* what perf had told of */
			continue;
		}
		if (fork->alone || side_is_thread(fork))
			return NULL;
		pid = fork->ppid;
		version = born; /* of the parent no row has that number */
	}
	return NULL;
}

const struct side_map *history_find(const struct history *h, uint32_t pid, uint64_t addr,
				    uint32_t version)
{
	int deep = FORKS_DEEP;
	const struct history_map *m = find(h, pid, addr, version, &deep);

	return m ? &h->side->maps[m->map] : NULL;
}

void history_free(struct history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++) {
		free(h->list[i].maps);
		free(h->list[i].forks);
	}
	free(h->list);
	map_free(&h->index);
	*h = (struct history){0};
}
