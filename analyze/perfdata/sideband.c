// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/sideband.h"

#include "analyze/perfdata/recording.h"

#include <stdio.h>

void sideband_add_row(struct sideband *s, const struct side_row *row)
{
	array_add(s->list, s->n, s->cap, *row);
}

static uint32_t sideband_add_dso(struct sideband *s, const struct side_dso *dso)
{
	uint32_t id = intern_bytes(&s->dso_ids, dso, sizeof(*dso));

	if (id == s->ndsos)
		array_add(s->dsos, s->ndsos, s->dsos_cap, *dso);
	return id;
}

uint32_t sideband_add_map(struct sideband *s, const struct side_map *map)
{
	array_add(s->maps, s->nmaps, s->maps_cap, *map);
	return (uint32_t)(s->nmaps - 1);
}

static int side_row_compare(const void *a, const void *b)
{
	const struct side_row *l = a, *r = b;

	return ascending(l->time, r->time) ?: ascending(l->order, r->order);
}

static struct side_timeline *timelines_get(struct side_timelines *t, uint32_t key)
{
	uint64_t *id = map_at(&t->index, key);

	if (!*id) {
		array_add(t->list, t->n, t->cap, (struct side_timeline){0});
		*id = t->n;
	}
	return &t->list[*id - 1];
}

static void timelines_change(struct side_timelines *t, uint32_t key, const struct side_row *at,
			     uint32_t value)
{
	struct side_timeline *line = timelines_get(t, key);

	array_add(line->changes, line->n, line->cap,
		  (struct side_change){at->time, at->order, value});
}

/*
 * A new thread has its parent's name. If the parent is unknown, the thread has no name, not even
 * that of an earlier thread with its tid.
 */
static void sideband_apply_fork_comm(struct sideband *s, const struct side_row *row)
{
	const struct side_timeline *parent = sideband_get_timeline(&s->comms, row->ptid);

	timelines_change(&s->comms, row->tid, row,
			 timeline_at(parent, UINT64_MAX, UINT64_MAX, UINT32_MAX));
}

static void sideband_apply(struct sideband *s, uint32_t index)
{
	const struct side_row *row = &s->list[index];

	switch (row->kind) {
	case SIDE_MAP:
		timelines_change(&s->spaces, row->pid, row, index);
		break;
	case SIDE_KSYMBOL:
		timelines_change(&s->spaces, KERNEL_PID, row, index);
		break;
	case SIDE_COMM:
		timelines_change(&s->comms, row->tid, row, row->what);
		break;
	case SIDE_FORK:
		sideband_apply_fork_comm(s, row);
		if (side_fork_key(row) != row->ppid)
			timelines_change(&s->spaces, side_fork_key(row), row,
					 index | (side_is_thread(row) ? SIDE_THREAD : 0));
		break;
	case SIDE_EXIT:
		break;
	}
}

/* --- perf record --tail-synthesize --- */

/* The last rows with a time, by tid: index + 1. */
struct side_last {
	struct map named; /* started or named the thread */
	struct map began; /* started the thread or its program */
	struct map
		lacks; /* pid of a process that lacks an exec: the time of its last recorded one */
};

static void sideband_set_last(const struct sideband *s, struct map *last, size_t i)
{
	uint64_t *at = map_at(last, s->list[i].tid);

	if (!*at || s->list[*at - 1].time <= s->list[i].time)
		*at = i + 1;
}

static void sideband_note_last(const struct sideband *s, struct side_last *last, size_t i)
{
	const struct side_row *row = &s->list[i];

	if (row->kind == SIDE_FORK || (row->kind == SIDE_COMM && row->exec))
		sideband_set_last(s, &last->began, i);
	if (row->kind == SIDE_FORK || row->kind == SIDE_COMM)
		sideband_set_last(s, &last->named, i);
}

static const struct side_row *sideband_find_last(const struct sideband *s,
						 const struct side_last *last,
						 const struct side_row *row)
{
	const uint64_t *at = row->kind == SIDE_COMM  ? map_get(&last->named, row->tid)
			     : row->kind == SIDE_MAP ? map_get(&last->began, row->pid)
						     : map_get(&last->began, row->tid);

	return at ? &s->list[*at - 1] : NULL;
}

/* Returns whether the process runs another program than its last recorded exec started. */
static bool side_row_lacks_exec(const struct side_row *row, const struct side_row *named)
{
	return row->kind == SIDE_COMM && row->pid == row->tid && named->kind == SIDE_COMM &&
	       named->exec && named->what != row->what;
}

/* Dates a row without a time. Returns false for a FORK if a recorded start or exec says more. */
static bool sideband_date_row(const struct sideband *s, struct side_last *last,
			      struct side_row *row)
{
	const struct side_row *since = sideband_find_last(s, last, row);

	if (!since)
		return true;
	if (side_row_lacks_exec(row, since))
		*map_at(&last->lacks, row->pid) = since->time;
	row->time = since->time;
	return row->kind != SIDE_FORK;
}

static void sideband_date_rows(struct sideband *s, struct side_last *last)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct side_row row = s->list[i];
		bool recorded = row.time;

		if (!recorded && !sideband_date_row(s, last, &row))
			continue;
		s->list[n] = row;
		if (recorded)
			sideband_note_last(s, last, n);
		n++;
	}
	s->n = n;
}

/*
 * perf record --tail-synthesize writes the running processes at the end of the file, without times.
 * Such rows would sort before a recorded start of their process, and the start would undo them. A
 * recording of some CPUs lacks what happens on other CPUs, such as an exec. So a name at the end
 * applies since the last recorded name or start of its thread, and maps at the end apply since the
 * last recorded exec or start of their process.
 *
 * A process that lacks an exec has recorded maps of its old program. They get the time of the maps
 * at the end, which come later in the file and replace them.
 */
static void sideband_date_tail(struct sideband *s)
{
	struct side_last last = {0};
	const uint64_t *since;

	sideband_date_rows(s, &last);
	for (size_t i = 0; i < s->n; i++) {
		struct side_row *row = &s->list[i];

		since = row->kind == SIDE_MAP ? map_get(&last.lacks, row->pid) : NULL;
		if (since && row->time > *since)
			row->time = *since;
	}
	map_free(&last.named);
	map_free(&last.began);
	map_free(&last.lacks);
}

/* Marks the starts of processes that perf listed before and that have not ended since. */
static void sideband_find_late_forks(struct sideband *s)
{
	freed(map_free) struct map listed = {0};

	for (size_t i = 0; i < s->n; i++) {
		struct side_row *row = &s->list[i];
		uint64_t *known = map_at(&listed, row->kind == SIDE_MAP ? row->pid : row->tid);

		if (row->kind == SIDE_MAP) {
			*known |= !row->time;
		} else if (row->kind == SIDE_EXIT || row->kind == SIDE_FORK) {
			row->late = *known && row->kind == SIDE_FORK && row->pid == row->tid &&
				    row->pid != row->ppid && !row->alone;
			*known = 0;
		}
	}
}

void sideband_finish(struct sideband *s)
{
	static const struct side_row idle; /* since time 0 */

	sideband_date_tail(s);
	array_sort(s->list, s->n, side_row_compare);
	sideband_find_late_forks(s);
	timelines_change(&s->comms, 0, &idle, intern_str(s->strings, "swapper"));
	for (size_t i = 0; i < s->n; i++)
		sideband_apply(s, (uint32_t)i);
}

static bool sideband_add_children(const struct sideband *s, struct map *found, struct profile *p)
{
	size_t before = p->nown;

	for (size_t i = 0; i < s->n; i++) {
		const struct side_row *row = &s->list[i];

		if (row->kind != SIDE_FORK || row->pid == row->ppid || !map_get(found, row->ppid) ||
		    map_get(found, row->pid))
			continue;
		*map_at(found, row->pid) = 1;
		profile_add_own(p, row->pid);
	}
	return p->nown > before;
}

void sideband_add_descendants(const struct sideband *s, const uint32_t *pids, size_t n,
			      struct profile *p)
{
	freed(map_free) struct map found = {0};

	for (size_t i = 0; i < n; i++) {
		*map_at(&found, pids[i]) = 1;
		profile_add_own(p, pids[i]);
	}
	/* perf lists the processes that it finds in the order of /proc, children before parents. */
	while (sideband_add_children(s, &found, p))
		;
	profile_sort_own(p);
}

const struct side_timeline *sideband_get_timeline(const struct side_timelines *t, uint32_t key)
{
	const uint64_t *id = map_get(&t->index, key);

	return id ? &t->list[*id - 1] : NULL;
}

static void timelines_free(struct side_timelines *t)
{
	array_free(e, t->list, t->n, free(e->changes));
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

/* --- reading records --- */

static struct side_row sideband_make_row(struct recording *r, const struct record *rec,
					 enum side_kind kind)
{
	struct side_row row = {.order = rec->order, .kind = (uint8_t)kind};

	sample_trailer_time(&r->events, rec->body, &row.time);
	if (row.time == UINT64_MAX)
		row.time = 0;
	return row;
}

/* "[kernel.kallsyms]_text" gives the place of the kernel and the address of that symbol. */
static void sideband_note_kernel(struct sideband *side, const struct side_map *map,
				 const char *name)
{
	const char *symbol = strchr(name, ']');

	if (side->ref_name[0] || !symbol)
		return;
	snprintf(side->ref_name, sizeof(side->ref_name), "%s", symbol + 1);
	side->ref_addr = map->pgoff;
	side->kernel_start = map->start;
	side->kernel_end = map->end;
}

static void sideband_add_mapping(struct recording *r, const struct record *rec, struct side_map map,
				 struct side_dso dso, const char *name, uint32_t pid)
{
	unsigned int mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct side_row row = sideband_make_row(r, rec, SIDE_MAP);
	struct sideband *side = &r->side;

	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return;
	if (map.end < map.start)
		map.end = UINT64_MAX;
	dso.name = intern_str(side->strings, name);
	row.pid = mode == PERF_RECORD_MISC_KERNEL ? KERNEL_PID : pid;
	if (row.pid == KERNEL_PID && !strncmp(name, "[kernel.kallsyms]", 17)) {
		sideband_note_kernel(side, &map, name);
		if (dso.build_id != UINT32_MAX)
			side->kernel_build_id = dso.build_id;
		return;
	}
	side->nmodules += row.pid == KERNEL_PID;
	map.dso = sideband_add_dso(side, &dso);
	row.what = sideband_add_map(side, &map);
	sideband_add_row(side, &row);
}

static uint32_t sideband_read_build_id(struct recording *r, struct cursor id)
{
	uint8_t n = cursor_u8(&id);
	const uint8_t *bytes;
	char hex[41] = "";

	cursor_take(&id, 3);
	bytes = cursor_take(&id, 20);
	if (!bytes || n > 20 || !n)
		return UINT32_MAX;
	for (uint8_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	return intern_str(r->side.strings, hex);
}

void sideband_read_mmap(struct recording *r, const struct record *rec)
{
	struct side_dso dso = {.build_id = UINT32_MAX};
	struct cursor c = rec->body, id;
	uint32_t pid = cursor_u32(&c);
	struct side_map map = {0};

	cursor_u32(&c); /* tid */
	map.start = cursor_u64(&c);
	map.end = map.start + cursor_u64(&c);
	map.pgoff = cursor_u64(&c);
	if (rec->type == PERF_RECORD_MMAP2) {
		id = cursor_sub(&c, 24);
		cursor_take(&c, 8); /* prot, flags */
		if (rec->misc & MISC_MMAP_BUILD_ID) {
			dso.build_id = sideband_read_build_id(r, id);
		} else {
			dso.major = cursor_u32(&id);
			dso.minor = cursor_u32(&id);
			dso.inode = cursor_u64(&id);
		}
	}
	if (!c.bad)
		sideband_add_mapping(r, rec, map, dso, record_rest_string(&c), pid);
}

void sideband_read_comm(struct recording *r, const struct record *rec)
{
	struct side_row row = sideband_make_row(r, rec, SIDE_COMM);
	struct cursor c = rec->body;

	row.pid = cursor_u32(&c);
	row.tid = cursor_u32(&c);
	row.what = intern_str(r->side.strings, record_rest_string(&c));
	row.exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
	if (!c.bad)
		sideband_add_row(&r->side, &row);
}

void sideband_read_task(struct recording *r, const struct record *rec)
{
	enum side_kind kind = rec->type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT;
	struct side_row row = sideband_make_row(r, rec, kind);
	struct cursor c = rec->body;

	row.pid = cursor_u32(&c);
	row.ppid = cursor_u32(&c);
	row.tid = cursor_u32(&c);
	row.ptid = cursor_u32(&c);
	row.alone = kind == SIDE_FORK && rec->misc & MISC_FORK_EXEC;
	if (!c.bad)
		sideband_add_row(&r->side, &row);
}

void sideband_read_ksymbol(struct recording *r, const struct record *rec)
{
	struct side_row row = sideband_make_row(r, rec, SIDE_KSYMBOL);
	struct cursor c = rec->body;
	struct side_ksymbol k = {.start = cursor_u64(&c)};

	k.end = k.start + cursor_u32(&c);
	cursor_u16(&c); /* type */
	k.unregister = cursor_u16(&c) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	k.name = intern_str(r->side.strings, record_rest_string(&c));
	if (c.bad)
		return;
	row.pid = KERNEL_PID;
	row.what = (uint32_t)r->side.nksymbols;
	array_add(r->side.ksymbols, r->side.nksymbols, r->side.ksymbols_cap, k);
	sideband_add_row(&r->side, &row);
}
