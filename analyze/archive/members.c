// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/members.h"

#include "lib/names.h"
#include "lib/json.h"
#include "lib/alloc.h"
#include "lib/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEX = 64 };

struct member *members_add(struct members *m, const char *name, bool folder)
{
	array_grow(m->list, m->n, m->cap);
	m->list[m->n] = (struct member){.name = xstrdup(name), .folder = folder};
	return &m->list[m->n++];
}

static int members_by_name(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

void members_sort(struct members *m)
{
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), members_by_name);
}

struct member *members_find(const struct members *m, const char *name)
{
	struct member key = {.name = (char *)name};

	return m->n ? bsearch(&key, m->list, m->n, sizeof(*m->list), members_by_name) : NULL;
}

size_t members_files(const struct members *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->n; i++)
		n += !m->list[i].folder;
	return n;
}

void members_free(struct members *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->list[i].name);
	free(m->list);
	*m = (struct members){0};
}

void findings_add(struct findings *f, const char *fmt, ...)
{
	va_list ap;

	if (f->n++ >= FINDINGS_KEPT)
		return;
	va_start(ap, fmt);
	f->lines[f->n - 1] = xvasprintf(fmt, ap);
	va_end(ap);
}

void findings_warn(const struct findings *f)
{
	size_t i;

	for (i = 0; i < f->n && i < FINDINGS_KEPT; i++)
		warn("%s", f->lines[i]);
	if (f->n > FINDINGS_KEPT)
		warn("and %zu more", f->n - FINDINGS_KEPT);
}

void findings_files(const struct findings *f, size_t files, bool has_manifest, struct str *out)
{
	size_t named = f->checked + f->differ;

	str_printf(out, "%zu files", files);
	if (!has_manifest)
		return;
	str_printf(out, ", %zu as manifest.json says", f->checked);
	if (f->differ)
		str_printf(out, ", %zu that differ%s", f->differ, f->differ == 1 ? "s" : "");
	if (named < files)
		str_printf(out, ", %zu not named in it", files - named);
}

void findings_free(struct findings *f)
{
	size_t i;

	for (i = 0; i < FINDINGS_KEPT; i++)
		free(f->lines[i]);
	*f = (struct findings){0};
}

static void findings_compare(const struct members *m, const char *name, const char *hex,
			     const char *whose, struct findings *f)
{
	const struct member *have = members_find(m, name);

	if (!have || have->folder)
		findings_add(f, "%s: missing; %s names it", name_shown(name), whose);
	else if (!strcasecmp(have->hex, hex))
		f->checked++;
	else if (++f->differ)
		findings_add(f, "%s: differs from the checksum in %s", name_shown(name), whose);
}

static void members_add_manifest_list(struct members *m, const char *folder, const json_t *files)
{
	const char *name;
	json_t *hex;

	json_object_foreach ((json_t *)files, name, hex) {
		char *path = xasprintf("%s/%s", folder, name);
		struct member *added = members_add(m, path, false);

		if (json_is_string(hex) && json_string_length(hex) == HEX)
			memcpy(added->hex, json_string_value(hex), HEX);
		free(path);
	}
}

void members_of_manifest(struct members *m, const json_t *manifest)
{
	const json_t *run;
	size_t i;

	json_array_foreach (json_object_get(manifest, "runs"), i, run) {
		const char *variant = json_str(run, "variant"), *pass = json_str(run, "pass");
		char *folder = xasprintf("runs/%s/%s-%02d", variant ? variant : "",
					 pass ? pass : "", (int)json_u64(run, "repeat"));

		members_add_manifest_list(m, folder, json_object_get(run, "files"));
		free(folder);
	}
	members_add_manifest_list(m, "hosts", json_object_get(manifest, "hosts"));
	members_sort(m);
}

void members_against_manifest(const struct members *m, const json_t *manifest, struct findings *f)
{
	struct members named = {0};
	size_t i;

	members_of_manifest(&named, manifest);
	for (i = 0; i < named.n; i++)
		findings_compare(m, named.list[i].name, named.list[i].hex, "manifest.json", f);
	members_free(&named);
}

void members_write_sums(const struct members *m, struct str *text)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (!m->list[i].folder)
			str_printf(text, "%s  %s\n", m->list[i].hex, m->list[i].name);
}

static bool members_parse_sum(struct members *m, const char *line)
{
	struct member *added;

	if (strspn(line, "0123456789abcdefABCDEF") != HEX || line[HEX] != ' ' ||
	    (line[HEX + 1] != ' ' && line[HEX + 1] != '*') || !line[HEX + 2])
		return false;
	added = members_add(m, line + HEX + 2, false);
	memcpy(added->hex, line, HEX);
	return true;
}

bool members_read_sums(struct members *m, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	bool good = true;

	while (good && rest && (line = str_token(&rest, '\n')))
		good = !*line || members_parse_sum(m, line);
	free(copy);
	members_sort(m);
	return good;
}

void members_against_sums(const struct members *m, const struct members *sums, struct findings *f)
{
	size_t i;

	for (i = 0; i < sums->n; i++)
		findings_compare(m, sums->list[i].name, sums->list[i].hex, SUMS_NAME, f);
	for (i = 0; i < m->n; i++)
		if (!m->list[i].folder && strcmp(m->list[i].name, SUMS_NAME) &&
		    !members_find(sums, m->list[i].name))
			findings_add(f, "%s: " SUMS_NAME " does not name it",
				     name_shown(m->list[i].name));
}
