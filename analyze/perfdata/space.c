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

static const struct side_map *map_of(const struct spaces *s, uint32_t id)
{
	return id < s->side->nmaps ? &s->side->maps[id] : &s->pieces[id - s->side->nmaps];
}

static uint32_t count(const struct space *sp)
{
	return sp->maps ? sp->maps->n : 0;
}

static const struct side_map *map_at_index(const struct spaces *s, const struct space *sp,
					   uint32_t at)
{
	return map_of(s, sp->maps->id[at]);
}

/* The first map that ends behind `addr`. */
static uint32_t lower_bound(const struct spaces *s, const struct space *sp, uint64_t addr)
{
	uint32_t low = 0, high = count(sp), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (map_at_index(s, sp, mid)->end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void drop_maps(struct space *sp)
{
	if (sp->maps && !--sp->maps->refs)
		free(sp->maps);
	sp->maps = NULL;
}

/* The space's own list, with room for one more. */
static struct space_maps *own_maps(struct space *sp)
{
	struct space_maps *old = sp->maps, *new = old;
	uint32_t n = count(sp), cap;

	if (old && old->refs == 1 && n < old->cap)
		return old;
	cap = n + 8 + (old && old->refs == 1 ? n / 2 : 0);
	if (old && old->refs == 1) {
		new = xrealloc(old, sizeof(*new) + cap * sizeof(*new->id));
	} else {
		new = xmalloc(sizeof(*new) + cap * sizeof(*new->id));
		if (n)
			memcpy(new->id, old->id, n * sizeof(*new->id));
		drop_maps(sp);
		new->refs = 1;
		new->n = n;
	}
	new->cap = cap;
	sp->maps = new;
	return new;
}

static void insert_at(struct space *sp, uint32_t at, uint32_t map)
{
	struct space_maps *m = own_maps(sp);

	memmove(m->id + at + 1, m->id + at, (m->n - at) * sizeof(*m->id));
	m->id[at] = map;
	m->n++;
}

static void remove_at(struct space *sp, uint32_t at, uint32_t gone)
{
	struct space_maps *m;

	if (!gone)
		return;
	m = own_maps(sp);
	m->n -= gone;
	memmove(m->id + at, m->id + at + gone, (m->n - at) * sizeof(*m->id));
}

/* A map that is not in the side-band: this replay's own. */
static uint32_t own_map(struct spaces *s, const struct side_map *map)
{
	array_grow(s->pieces, s->npieces, s->pieces_cap);
	s->pieces[s->npieces] = *map;
	return (uint32_t)(s->side->nmaps + s->npieces++);
}

/* What a new mapping leaves of an old one: its part [from, to). */
static uint32_t piece(struct spaces *s, uint32_t old, uint64_t from, uint64_t to)
{
	struct side_map m = *map_of(s, old);

	m.pgoff += from - m.start;
	m.start = from;
	m.end = to;
	return own_map(s, &m);
}

static void space_map(struct spaces *s, struct space *sp, uint32_t map)
{
	struct side_map new = *map_of(s, map);
	uint32_t at, head = UINT32_MAX, tail = UINT32_MAX, gone;

	if (new.start >= new.end)
		return;
	at = lower_bound(s, sp, new.start);
	for (gone = 0; at + gone < count(sp); gone++) {
		uint32_t id = sp->maps->id[at + gone];
		struct side_map old = *map_of(s, id);

		if (old.start >= new.end)
			break;
		if (old.start < new.start)
			head = piece(s, id, old.start, new.start);
		if (old.end > new.end)
			tail = piece(s, id, new.end, old.end);
	}
	remove_at(sp, at, gone);
	if (tail != UINT32_MAX)
		insert_at(sp, at, tail);
	insert_at(sp, at, map);
	if (head != UINT32_MAX)
		insert_at(sp, at, head);
}

/* Adds all that another space has. */
static void space_overlay(struct spaces *s, struct space *sp, struct space_maps *maps)
{
	uint32_t i;

	for (i = 0; maps && maps != sp->maps && i < maps->n; i++)
		space_map(s, sp, maps->id[i]);
}

/* A child begins with its parent's maps; one that perf made up gets its own told next. */
static void space_fork(struct spaces *s, const struct side_row *row)
{
	uint32_t key = side_fork_key(row);
	struct space *child, *parent;

	if (key == row->ppid)
		return;
	space_of(s, row->ppid);
	child = space_of(s, key);
	parent = space_of(s, row->ppid); /* may have moved */
	if (row->late) {
		space_overlay(s, child, parent->maps);
		return;
	}
	drop_maps(child);
	if (row->alone || side_is_thread(row))
		return;
	child->maps = parent->maps;
	if (child->maps)
		child->maps->refs++;
}

static void ksymbol(struct spaces *s, const struct side_row *row)
{
	const struct side_ksymbol *k = &s->side->ksymbols[row->what];
	struct space *sp = &s->programs;
	struct side_map m = {.start = k->start, .end = k->end, .dso = row->what};
	uint32_t at;

	if (!k->unregister) {
		space_map(s, sp, own_map(s, &m));
		return;
	}
	at = lower_bound(s, sp, k->start);
	if (at < count(sp) && map_at_index(s, sp, at)->start == k->start)
		remove_at(sp, at, 1);
}

static void changed(struct spaces *s, uint32_t pid)
{
	if (pid == KERNEL_PID)
		s->kernel_state = s->done + 1;
	else
		space_of(s, pid)->state = s->done + 1;
}

static void apply(struct spaces *s, const struct side_row *row)
{
	switch (row->kind) {
	case SIDE_MAP:
		space_map(s, space_of(s, row->pid), row->what);
		changed(s, row->pid);
		break;
	case SIDE_FORK:
		space_fork(s, row);
		changed(s, side_fork_key(row));
		break;
	case SIDE_KSYMBOL:
		ksymbol(s, row);
		changed(s, KERNEL_PID);
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

const struct space *spaces_get(const struct spaces *s, uint32_t pid)
{
	const uint64_t *id = map_get(&s->index, pid);

	return id ? &s->list[*id - 1] : NULL;
}

const struct side_map *spaces_find(const struct spaces *s, const struct space *sp, uint64_t addr)
{
	const struct side_map *m;
	uint32_t at;

	if (!sp)
		return NULL;
	at = lower_bound(s, sp, addr);
	if (at == count(sp))
		return NULL;
	m = map_at_index(s, sp, at);
	return addr >= m->start ? m : NULL;
}

const struct side_ksymbol *spaces_ksymbol(const struct spaces *s, uint64_t addr)
{
	const struct side_map *m = spaces_find(s, &s->programs, addr);

	return m ? &s->side->ksymbols[m->dso] : NULL;
}

void spaces_free(struct spaces *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		drop_maps(&s->list[i]);
	drop_maps(&s->programs);
	free(s->list);
	free(s->pieces);
	map_free(&s->index);
}
