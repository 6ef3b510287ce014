// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/objects.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND 1000000000LL

void jit_maps_init(struct jit_maps *j, const struct recording *r, const struct perfdata_options *o)
{
	*j = (struct jit_maps){.r = r, .o = o};
}

void jit_maps_free(struct jit_maps *j)
{
	size_t i;

	for (i = 0; i < j->n; i++)
		symtab_free(&j->list[i].table);
	free(j->list);
	map_free(&j->index);
	str_free(&j->refused);
}

/* --- the file --- */

struct jit_line {
	uint64_t start, end;
	const char *name;
	size_t order;
};

/* "7f0012340000 1a0 Lcom/example/Main;::run" */
static bool jit_parse_line(char *text, struct jit_line *l)
{
	char *end, *name;

	l->start = strtoull(text, &end, 16);
	if (end == text || *end != ' ')
		return false;
	l->end = l->start + strtoull(end + 1, &name, 16);
	if (name == end + 1 || *name != ' ' || !name[1])
		return false;
	l->name = name + 1;
	return l->end > l->start;
}

static int jit_compare_lines(const void *a, const void *b)
{
	const struct jit_line *l = a, *r = b;
	int c = compare_u64(l->start, r->start);

	return c ? c : compare_u64(l->order, r->order);
}

/* If compilers replace code at an address, the last line counts. */
static void jit_fill_table(struct symtab *t, struct jit_line *lines, size_t n)
{
	size_t i;

	if (n)
		qsort(lines, n, sizeof(*lines), jit_compare_lines);
	for (i = 0; i < n; i++) {
		struct symtab_symbol s = {.start = lines[i].start,
					  .end = lines[i].end,
					  .binding = STB_GLOBAL,
					  .type = STT_FUNC};

		if (i + 1 == n || lines[i + 1].start != lines[i].start)
			symtab_add(t, &s, lines[i].name, NULL);
	}
	symtab_finish(t, false);
}

static void jit_read_map(struct jit_maps *j, struct symtab *t, const char *path)
{
	struct jit_line *lines = NULL, l = {0};
	char *text = NULL, *rest, *line;
	size_t n = 0, cap = 0, len;
	struct error err = {0};

	if (file_read(path, &text, &len, &err))
		unread_add(&j->r->profile->unread, &err);
	for (rest = text; (line = str_token(&rest, '\n'));) {
		if (!jit_parse_line(line, &l))
			continue;
		l.order = n;
		array_add(lines, n, cap, l);
	}
	jit_fill_table(t, lines, n);
	free(lines);
	free(text);
}

/* --- the process that wrote it --- */

/* Returns when the process began, as time() x 1e9, or 0 if the recording does not have it. */
static int64_t process_start_ns(const struct recording *r, uint32_t pid)
{
	const struct sideband *side = &r->side;
	uint64_t last = r->profile->last_ns;
	size_t i;

	for (i = side->n; i-- > 0;) {
		const struct side_row *row = &side->list[i];

		if (row->kind == SIDE_FORK && row->pid == pid && row->tid == pid && !row->alone &&
		    row->time && row->time <= last)
			return r->recorded_by_ns - (int64_t)(last - row->time);
	}
	return 0;
}

/* Returns when the running process with this pid began, or 0. The precision is a clock tick. */
static int64_t process_running_since_ns(uint32_t pid)
{
	char path[40], *text, *at;
	struct timespec up, now;
	unsigned long long ticks = 0;
	size_t len;
	int i;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (file_read(path, &text, &len, NULL))
		return 0;
	at = strrchr(text, ')'); /* state is the third field, starttime the 22nd */
	for (i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	free(text);
	clock_gettime(CLOCK_BOOTTIME, &up);
	clock_gettime(CLOCK_REALTIME, &now);
	return !ticks ? 0
		      : (now.tv_sec - up.tv_sec) * SECOND + now.tv_nsec - up.tv_nsec +
				(int64_t)(ticks * (SECOND / 100));
}

static bool jit_map_belongs(struct jit_maps *j, uint32_t pid, const char *path)
{
	const struct recording *r = j->r;
	int64_t since, written;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	written = (int64_t)st.st_mtim.tv_sec * SECOND + st.st_mtim.tv_nsec;
	since = process_running_since_ns(pid);
	if (!identity_is_this_host(r))
		str_printf(&j->refused, "%s: another host made the recording\n", path);
	else if (written + SECOND < process_start_ns(r, pid))
		str_printf(&j->refused, "%s: is older than the recorded process\n", path);
	else if (written > r->recorded_by_ns + SECOND && !(since && since <= r->recorded_by_ns))
		str_printf(
			&j->refused,
			"%s: was written to after the recording, and the recorded process %u has ended\n",
			path, pid);
	else
		return true;
	return false;
}

static void jit_load_map(struct jit_maps *j, struct symtab *t, uint32_t pid)
{
	const char *roots[] = {j->o->host_dir, j->o->symfs};
	char *path;
	size_t i;

	for (i = 0; i < array_size(roots) && !t->n; i++) {
		if (!roots[i])
			continue;
		path = xasprintf("%s/tmp/perf-%u.map", roots[i], pid);
		if (path_exists(path))
			jit_read_map(j, t, path);
		free(path);
	}
	if (t->n || !j->o->use_this_host)
		return;
	path = xasprintf("/tmp/perf-%u.map", pid);
	if (jit_map_belongs(j, pid, path))
		jit_read_map(j, t, path);
	free(path);
}

struct symtab_symbol *jit_maps_find(struct jit_maps *j, uint32_t pid, uint64_t addr,
				    const char **name)
{
	uint64_t *id = map_at(&j->index, pid);
	struct symtab_symbol *s;
	struct symtab *t;

	if (!*id) {
		array_add(j->list, j->n, j->cap, (struct jit_map){0});
		*id = j->n;
		jit_load_map(j, &j->list[j->n - 1].table, pid);
	}
	t = &j->list[*id - 1].table;
	s = t->n ? symtab_find(t, addr) : NULL;
	if (s)
		*name = symtab_name(t, s);
	return s;
}
