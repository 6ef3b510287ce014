// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/space.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static struct space *space_of(struct spaces *s, uint32_t pid)
{
	uint64_t *id = map_at(&s->index, pid);

	if (!*id) {
		array_grow(s->list, s->n, s->cap);
		s->list[s->n] = (struct space){0};
		*id = ++s->n;
	}
	return &s->list[*id - 1];
}

/* The first map that ends behind `addr`. */
static uint32_t lower_bound(const struct sideband *side, const struct space *sp, uint64_t addr)
{
	uint32_t low = 0, high = sp->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (side->maps[sp->maps[mid]].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void insert_at(struct space *sp, uint32_t at, uint32_t map)
{
	array_grow(sp->maps, sp->n, sp->cap);
	memmove(sp->maps + at + 1, sp->maps + at, (sp->n - at) * sizeof(*sp->maps));
	sp->maps[at] = map;
	sp->n++;
}

static void remove_at(struct space *sp, uint32_t at, uint32_t count)
{
	if (!count)
		return;
	sp->n -= count;
	memmove(sp->maps + at, sp->maps + at + count, (sp->n - at) * sizeof(*sp->maps));
}

/* What a new mapping leaves of an old one: its part [from, to). */
static uint32_t piece(struct sideband *side, uint32_t old, uint64_t from, uint64_t to)
{
	struct side_map m = side->maps[old];

	m.pgoff += from - m.start;
	m.start = from;
	m.end = to;
	return sideband_map(side, &m);
}

static void space_map(struct sideband *side, struct space *sp, uint32_t map)
{
	struct side_map new = side->maps[map];
	uint32_t at, head = UINT32_MAX, tail = UINT32_MAX, gone;

	if (new.start >= new.end)
		return;
	at = lower_bound(side, sp, new.start);
	for (gone = 0; at + gone < sp->n; gone++) {
		uint32_t id = sp->maps[at + gone];
		struct side_map old = side->maps[id];

		if (old.start >= new.end)
			break;
		if (old.start < new.start)
			head = piece(side, id, old.start, new.start);
		if (old.end > new.end)
			tail = piece(side, id, new.end, old.end);
	}
	remove_at(sp, at, gone);
	if (tail != UINT32_MAX)
		insert_at(sp, at, tail);
	insert_at(sp, at, map);
	if (head != UINT32_MAX)
		insert_at(sp, at, head);
}

/* A child begins with its parent's maps; one that perf made up gets its own told next. */
static void space_fork(struct spaces *s, const struct side_row *row)
{
	struct space *child = space_of(s, row->pid), *parent;

	child->n = 0;
	if (row->alone || row->pid == row->ppid)
		return;
	parent = space_of(s, row->ppid);
	child = space_of(s, row->pid); /* may have moved */
	if (child->cap < parent->n) {
		child->cap = parent->n;
		child->maps = xrealloc(child->maps, child->cap * sizeof(*child->maps));
	}
	if (parent->n)
		memcpy(child->maps, parent->maps, parent->n * sizeof(*child->maps));
	child->n = parent->n;
}

static void ksymbol(struct spaces *s, const struct side_row *row)
{
	struct sideband *side = s->side;
	const struct side_ksymbol *k = &side->ksymbols[row->what];
	struct space *sp = space_of(s, KERNEL_PID - 1);
	struct side_map m = {.start = k->start, .end = k->end, .dso = row->what};
	uint32_t at;

	if (!k->unregister) {
		space_map(side, sp, sideband_map(side, &m));
		return;
	}
	at = lower_bound(side, sp, k->start);
	if (at < sp->n && side->maps[sp->maps[at]].start == k->start)
		remove_at(sp, at, 1);
}

static void apply(struct spaces *s, const struct side_row *row)
{
	switch (row->kind) {
	case SIDE_MAP:
		space_map(s->side, space_of(s, row->pid), row->what);
		break;
	case SIDE_FORK:
		if (row->pid != row->ppid)
			space_fork(s, row);
		break;
	case SIDE_KSYMBOL:
		ksymbol(s, row);
		break;
	}
}

void spaces_advance(struct spaces *s, uint32_t version)
{
	if (version == UINT32_MAX)
		return;
	for (; s->done <= version && s->done < s->side->n; s->done++)
		apply(s, &s->side->list[s->done]);
}

const struct side_map *spaces_find(const struct spaces *s, uint32_t pid, uint64_t addr)
{
	const uint64_t *id = map_get(&s->index, pid);
	const struct side_map *m;
	uint32_t at;

	if (!id)
		return NULL;
	at = lower_bound(s->side, &s->list[*id - 1], addr);
	if (at == s->list[*id - 1].n)
		return NULL;
	m = &s->side->maps[s->list[*id - 1].maps[at]];
	return addr >= m->start ? m : NULL;
}

/* Kept as maps of a process that cannot be: their `dso` is the index in ksymbols. */
const struct side_ksymbol *spaces_ksymbol(const struct spaces *s, uint64_t addr)
{
	const struct side_map *m = spaces_find(s, KERNEL_PID - 1, addr);

	return m ? &s->side->ksymbols[m->dso] : NULL;
}

void spaces_free(struct spaces *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->list[i].maps);
	free(s->list);
	map_free(&s->index);
}
