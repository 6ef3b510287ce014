// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/sideband.h"

/* Limits the parents to visit, because a damaged file may name any pid. */
enum { FORKS_DEEP = 4096 };

enum { PAGE_BITS = 12, PLACES_MOST = 1 << 9 };

static struct history_space *history_get_space(struct history *h, uint32_t pid)
{
	uint64_t *id = map_at(&h->index, pid);

	if (!*id) {
		array_add(h->list, h->n, h->cap, (struct history_space){0});
		*id = h->n;
	}
	return &h->list[*id - 1];
}

/* Marks where a map is. A long one, or one without an end, marks everything. */
static void history_mark_map(struct history *h, const struct side_map *m)
{
	uint64_t at = m->start >> PLACE_BITS, last = (m->end - 1) >> PLACE_BITS;
	uint32_t i;

	if (last - at > PLACES_MOST)
		memset(h->marks, 0xff, sizeof(h->marks));
	else
		for (; at <= last; at++) {
			i = history_mark_of(at << PLACE_BITS);
			h->marks[i / 64] |= 1ULL << i % 64;
		}
}

static void history_add_map(struct history_space *s, const struct side_map *m, uint32_t map,
			    uint32_t row)
{
	if (m->start >= m->end)
		return;
	array_add(s->maps, s->n, s->cap,
		  (struct history_map){.start = m->start,
				       .end = m->end,
				       .row = row,
				       .until = UINT32_MAX,
				       .map = map});
}

/*
 * Ends the program in kernel memory that began at the same place, and adds the new one. `loaded`
 * maps that place to the program's index + 1.
 */
static void history_apply_program(struct history *h, struct map *loaded, uint32_t index,
				  uint32_t row)
{
	const struct side_ksymbol *k = &h->side->ksymbols[index];
	struct side_map m = {.start = k->start, .end = k->end};
	uint64_t *at = map_at(loaded, k->start);

	if (*at)
		h->programs.maps[*at - 1].until = row;
	*at = 0;
	if (k->unregister || k->start >= k->end)
		return;
	history_add_map(&h->programs, &m, index, row);
	*at = h->programs.n;
}

static int history_compare_maps(const void *a, const void *b)
{
	const struct history_map *l = a, *r = b;

	return ascending(l->start, r->start)
		       ?: ascending(l->end, r->end) ?: ascending(l->row, r->row);
}

static void history_finish_space(struct history_space *s)
{
	uint64_t reach = 0;
	bool same;

	array_sort(s->maps, s->n, history_compare_maps);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->maps[i].end > reach)
			reach = s->maps[i].end;
		s->maps[i].reach = reach;
		same = i && s->maps[i].start == s->maps[i - 1].start &&
		       s->maps[i].end == s->maps[i - 1].end;
		s->maps[i].first = same ? s->maps[i - 1].first : i;
	}
}

void history_make(struct history *h, const struct sideband *side)
{
	freed(map_free) struct map loaded = {0};

	*h = (struct history){.side = side};
	for (size_t i = 0; i < side->n; i++) {
		const struct side_row *row = &side->list[i];
		struct history_space *s;

		if (row->kind == SIDE_MAP) {
			history_add_map(history_get_space(h, row->pid), &side->maps[row->what],
					row->what, (uint32_t)i);
			if (row->pid != KERNEL_PID)
				history_mark_map(h, &side->maps[row->what]);
		} else if (row->kind == SIDE_KSYMBOL) {
			history_apply_program(h, &loaded, row->what, (uint32_t)i);
		} else if (row->kind == SIDE_FORK && side_fork_key(row) != row->ppid) {
			s = history_get_space(h, side_fork_key(row));
			array_add(s->forks, s->nforks, s->forks_cap, i);
		}
	}
	for (size_t i = 0; i < h->n; i++)
		history_finish_space(&h->list[i]);
	history_finish_space(&h->programs);
}

/*
 * Returns the last fork up to `version`, or UINT32_MAX if the process existed from the beginning.
 */
static uint32_t history_last_fork(const struct history_space *s, uint32_t version)
{
	size_t n = rows_up_to(s->forks, s->nforks, sizeof(*s->forks), version);

	return n ? (uint32_t)s->forks[n - 1] : UINT32_MAX;
}

/* Returns the last row after `born` and up to `version` that maps `addr`. */
static const struct history_map *history_find_own(const struct history_space *s, uint64_t addr,
						  uint32_t born, uint32_t version)
{
	const struct history_map *best = NULL, *m;
	size_t low = rows_up_to(s->maps, s->n, sizeof(*s->maps), addr), first, n;

	for (; low-- > 0 && s->maps[low].reach > addr; low = first) {
		first = s->maps[low].first;
		n = rows_up_to(&s->maps[first].row, low + 1 - first, sizeof(*s->maps), version);
		m = n ? &s->maps[first + n - 1] : NULL;
		if (m && m->end > addr && m->until > version &&
		    (born == UINT32_MAX || m->row > born) && (!best || m->row > best->row))
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

const struct side_map *history_find_again(const struct history *h, struct history_seen *seen,
					  uint32_t pid, uint64_t addr, uint32_t version)
{
	uint64_t page = addr >> PAGE_BITS;
	struct seen_page *s = &seen->pages[hash_mix(page ^ (uint64_t)pid << 40) % SEEN_PAGES];

	/* One page may have several maps: [vsyscall], or odd files of JIT compilers. */
	if (s->page == page + 1 && s->pid == pid && s->version == version && s->map &&
	    addr >= s->map->start && addr < s->map->end)
		return s->map;
	*s = (struct seen_page){.page = page + 1, .pid = pid, .version = version};
	s->map = history_find(h, pid, addr, version);
	return s->map;
}

const struct side_ksymbol *history_find_program(const struct history *h, uint64_t addr,
						uint32_t version)
{
	const struct history_map *m =
		version == UINT32_MAX ? NULL
				      : history_find_own(&h->programs, addr, UINT32_MAX, version);

	return m ? &h->side->ksymbols[m->map] : NULL;
}

uint32_t history_state(const struct history *h, uint32_t pid, uint32_t version)
{
	const struct side_timeline *line = sideband_get_timeline(&h->side->spaces, pid);
	uint32_t low = 0, high = line && version != UINT32_MAX ? line->n : 0, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if ((line->changes[mid].value & ~SIDE_THREAD) <= version)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? 1 + (line->changes[low - 1].value & ~SIDE_THREAD) : 0;
}

void history_free(struct history *h)
{
	array_free(e, h->list, h->n, free(e->maps), free(e->forks));
	free(h->programs.maps);
	map_free(&h->index);
	*h = (struct history){0};
}
