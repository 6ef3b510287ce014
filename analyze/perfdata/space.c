// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/sideband.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static struct space *spaces_get_or_add(struct spaces *s, uint32_t pid)
{
	uint64_t *id = map_at(&s->index, pid);

	if (!*id) {
		array_add(s->list, s->n, s->cap, (struct space){0});
		*id = s->n;
	}
	return &s->list[*id - 1];
}

static const struct side_map *spaces_map(const struct spaces *s, uint32_t id)
{
	return id < s->side->nmaps ? &s->side->maps[id] : &s->pieces[id - s->side->nmaps];
}

static uint32_t space_count_maps(const struct space *sp)
{
	return sp->maps ? sp->maps->n : 0;
}

static const struct side_map *space_map_at(const struct spaces *s, const struct space *sp,
					   uint32_t at)
{
	return spaces_map(s, sp->maps->id[at]);
}

/* Returns the index of the first map that ends after `addr`. */
static uint32_t space_lower_bound(const struct spaces *s, const struct space *sp, uint64_t addr)
{
	uint32_t low = 0, high = space_count_maps(sp), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (space_map_at(s, sp, mid)->end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void space_drop_maps(struct space *sp)
{
	if (sp->maps && !--sp->maps->refs)
		free(sp->maps);
	sp->maps = NULL;
}

/* Returns the space's own list with room for one more map. Copies a shared list. */
static struct space_maps *space_own_maps(struct space *sp)
{
	struct space_maps *old = sp->maps, *new;
	uint32_t n = space_count_maps(sp), cap;

	if (old && old->refs == 1 && n < old->cap)
		return old;
	cap = n + 8 + (old && old->refs == 1 ? n / 2 : 0);
	if (old && old->refs == 1) {
		new = xrealloc(old, sizeof(*new) + cap * sizeof(*new->id));
	} else {
		new = xmalloc(sizeof(*new) + cap * sizeof(*new->id));
		if (old)
			memcpy(new->id, old->id, n * sizeof(*new->id));
		space_drop_maps(sp);
		new->refs = 1;
		new->n = n;
	}
	new->cap = cap;
	sp->maps = new;
	return new;
}

static void space_insert_map(struct space *sp, uint32_t at, uint32_t map)
{
	struct space_maps *m = space_own_maps(sp);

	memmove(m->id + at + 1, m->id + at, (m->n - at) * sizeof(*m->id));
	m->id[at] = map;
	m->n++;
}

static void space_remove_maps(struct space *sp, uint32_t at, uint32_t gone)
{
	struct space_maps *m;

	if (!gone)
		return;
	m = space_own_maps(sp);
	m->n -= gone;
	memmove(m->id + at, m->id + at + gone, (m->n - at) * sizeof(*m->id));
}

/* Adds a map that only this replay has. */
static uint32_t spaces_add_piece(struct spaces *s, const struct side_map *map)
{
	array_add(s->pieces, s->npieces, s->pieces_cap, *map);
	return (uint32_t)(s->side->nmaps + s->npieces - 1);
}

/* Returns the part [from, to) of an old map. */
static uint32_t spaces_cut_map(struct spaces *s, uint32_t old, uint64_t from, uint64_t to)
{
	struct side_map m = *spaces_map(s, old);

	m.pgoff += from - m.start;
	m.start = from;
	m.end = to;
	return spaces_add_piece(s, &m);
}

static void space_add_map(struct spaces *s, struct space *sp, uint32_t map)
{
	struct side_map new = *spaces_map(s, map);
	uint32_t at, head = UINT32_MAX, tail = UINT32_MAX, gone;

	if (new.start >= new.end)
		return;
	at = space_lower_bound(s, sp, new.start);
	for (gone = 0; at + gone < space_count_maps(sp); gone++) {
		uint32_t id = sp->maps->id[at + gone];
		struct side_map old = *spaces_map(s, id);

		if (old.start >= new.end)
			break;
		if (old.start < new.start)
			head = spaces_cut_map(s, id, old.start, new.start);
		if (old.end > new.end)
			tail = spaces_cut_map(s, id, new.end, old.end);
	}
	space_remove_maps(sp, at, gone);
	if (tail != UINT32_MAX)
		space_insert_map(sp, at, tail);
	space_insert_map(sp, at, map);
	if (head != UINT32_MAX)
		space_insert_map(sp, at, head);
}

/* Adds all maps of another space. */
static void space_overlay(struct spaces *s, struct space *sp, struct space_maps *maps)
{
	uint32_t i;

	for (i = 0; maps && maps != sp->maps && i < maps->n; i++)
		space_add_map(s, sp, maps->id[i]);
}

/*
 * A child starts with its parent's maps. For a FORK that perf wrote, the child's own maps follow.
 */
static void space_fork(struct spaces *s, const struct side_row *row)
{
	uint32_t key = side_fork_key(row);
	struct space *child, *parent;

	if (key == row->ppid)
		return;
	spaces_get_or_add(s, row->ppid);
	child = spaces_get_or_add(s, key);
	parent = spaces_get_or_add(s, row->ppid); /* the list may have moved */
	if (row->late) {
		space_overlay(s, child, parent->maps);
		return;
	}
	space_drop_maps(child);
	if (row->alone || side_is_thread(row))
		return;
	child->maps = parent->maps;
	if (child->maps)
		child->maps->refs++;
}

static void spaces_apply_ksymbol(struct spaces *s, const struct side_row *row)
{
	const struct side_ksymbol *k = &s->side->ksymbols[row->what];
	struct space *sp = &s->programs;
	struct side_map m = {.start = k->start, .end = k->end, .dso = row->what};
	uint32_t at;

	if (!k->unregister) {
		space_add_map(s, sp, spaces_add_piece(s, &m));
		return;
	}
	at = space_lower_bound(s, sp, k->start);
	if (at < space_count_maps(sp) && space_map_at(s, sp, at)->start == k->start)
		space_remove_maps(sp, at, 1);
}

static void spaces_mark_changed(struct spaces *s, uint32_t pid)
{
	if (pid == KERNEL_PID)
		s->kernel_state = s->done + 1;
	else
		spaces_get_or_add(s, pid)->state = s->done + 1;
}

static void spaces_apply(struct spaces *s, const struct side_row *row)
{
	switch (row->kind) {
	case SIDE_MAP:
		space_add_map(s, spaces_get_or_add(s, row->pid), row->what);
		spaces_mark_changed(s, row->pid);
		break;
	case SIDE_FORK:
		space_fork(s, row);
		spaces_mark_changed(s, side_fork_key(row));
		break;
	case SIDE_KSYMBOL:
		spaces_apply_ksymbol(s, row);
		spaces_mark_changed(s, KERNEL_PID);
		break;
	}
}

void spaces_advance(struct spaces *s, uint32_t version)
{
	if (version == UINT32_MAX)
		return;
	for (; s->done <= version && s->done < s->side->n; s->done++)
		spaces_apply(s, &s->side->list[s->done]);
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
	at = space_lower_bound(s, sp, addr);
	if (at == space_count_maps(sp))
		return NULL;
	m = space_map_at(s, sp, at);
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
		space_drop_maps(&s->list[i]);
	space_drop_maps(&s->programs);
	free(s->list);
	free(s->pieces);
	map_free(&s->index);
}

/* --- history: all times --- */

/* Limits the parents to visit, because a damaged file may name any pid. */
enum { FORKS_DEEP = 4096 };

static struct history_space *history_get_space(struct history *h, uint32_t pid)
{
	uint64_t *id = map_at(&h->index, pid);

	if (!*id) {
		array_add(h->list, h->n, h->cap, (struct history_space){0});
		*id = h->n;
	}
	return &h->list[*id - 1];
}

static void history_add_map(struct history_space *s, const struct side_map *m, uint32_t map,
			    uint32_t row)
{
	if (m->start >= m->end)
		return;
	array_add(s->maps, s->n, s->cap,
		  (struct history_map){.start = m->start, .end = m->end, .row = row, .map = map});
}

static int history_compare_maps(const void *a, const void *b)
{
	const struct history_map *l = a, *r = b;

	return compare_u64(l->start, r->start);
}

static void history_finish_space(struct history_space *s)
{
	uint64_t reach = 0;
	uint32_t i;

	if (s->n)
		qsort(s->maps, s->n, sizeof(*s->maps), history_compare_maps);
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
		struct history_space *s;

		if (row->kind == SIDE_MAP) {
			history_add_map(history_get_space(h, row->pid), &side->maps[row->what],
					row->what, (uint32_t)i);
		} else if (row->kind == SIDE_FORK && side_fork_key(row) != row->ppid) {
			s = history_get_space(h, side_fork_key(row));
			array_add(s->forks, s->nforks, s->forks_cap, (uint32_t)i);
		}
	}
	for (i = 0; i < h->n; i++)
		history_finish_space(&h->list[i]);
}

/*
 * Returns the last fork up to `version`, or UINT32_MAX if the process existed from the beginning.
 */
static uint32_t history_last_fork(const struct history_space *s, uint32_t version)
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

/* Returns the last row after `born` and up to `version` that maps `addr`. */
static const struct history_map *history_find_own(const struct history_space *s, uint64_t addr,
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

/*
 * Visits the parent if the process itself has no map since its fork. `deep` limits the whole
 * look-up.
 */
static const struct history_map *history_find_deep(const struct history *h, uint32_t pid,
						   uint64_t addr, uint32_t version, int *deep)
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
		born = history_last_fork(s, version);
		m = history_find_own(s, addr, born, version);
		if (m || born == UINT32_MAX)
			return m;
		fork = &h->side->list[born];
		if (fork->late) {
			m = history_find_deep(h, fork->ppid, addr, born, deep);
			if (m)
				return m;
			version = born - 1; /* the rows that perf wrote before the fork */
			continue;
		}
		if (fork->alone || side_is_thread(fork))
			return NULL;
		pid = fork->ppid;
		version = born; /* this row changes only the child */
	}
	return NULL;
}

const struct side_map *history_find(const struct history *h, uint32_t pid, uint64_t addr,
				    uint32_t version)
{
	int deep = FORKS_DEEP;
	const struct history_map *m = history_find_deep(h, pid, addr, version, &deep);

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
