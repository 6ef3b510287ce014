// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/layout.h"

#include "lib/names.h"
#include "lib/json.h"
#include "analyze/model/notes.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 1 };

static const char *keep(struct layout *l, const char *s)
{
	return s && *s ? arena_strdup(&l->arena, s) : NULL;
}

static const char *keepf(struct layout *l, const char *fmt, ...)
{
	const char *kept;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	kept = arena_strdup(&l->arena, text);
	free(text);
	return kept;
}

static void add(struct layout *l, const struct layout_entry *e)
{
	array_grow(l->entries, l->nentries, l->entries_cap);
	l->entries[l->nentries++] = *e;
}

/* --- manifest.json --- */

static int position_of(const json_t *order, const char *name, int otherwise)
{
	const json_t *o;
	size_t i;

	json_array_foreach (order, i, o)
		if (json_string_value(o) && !strcmp(json_string_value(o), name))
			return (int)i;
	return otherwise;
}

static void add_run(struct layout *l, const char *capture, const json_t *root, const json_t *run,
		    size_t index)
{
	const json_t *sides = json_object_get(run, "sides"), *side;
	struct layout_entry e = {
		.variant = keep(l, json_str(run, "variant")),
		.pass = keep(l, json_str(run, "pass")),
		.repeat = (int)json_u64(run, "repeat"),
		.status = keep(l, json_str(run, "status")),
		.why = keep(l, json_str(run, "why")),
	};
	const char *name;
	size_t i;

	if ((e.variant && !name_is_part(e.variant)) || (e.pass && !name_is_part(e.pass))) {
		note_add(&l->notes, manifest_bad_name, index);
		return;
	}
	if (!e.variant || !e.pass) {
		note_add(&l->notes, manifest_bad_run, index);
		return;
	}
	name = keepf(l, "%s/%s-%02d", e.variant, e.pass, e.repeat);
	e.position = position_of(json_object_get(root, "order"), name, (int)index);
	json_array_foreach (sides, i, side) {
		e.side = keep(l, json_string_value(side));
		if (!e.side)
			continue;
		if (!name_is_part(e.side)) {
			note_add(&l->notes, manifest_bad_name, index);
			continue;
		}
		e.dir = keepf(l, "%s/runs/%s/%s", capture, name, e.side);
		add(l, &e);
	}
}

static void add_settings(struct layout *l, struct layout_variant *v, const json_t *matrix)
{
	const char *name;
	json_t *value;

	v->settings = arena_alloc(&l->arena, (json_object_size(matrix) + 1) * sizeof(*v->settings));
	json_object_foreach ((json_t *)matrix, name, value)
		if (json_is_string(value))
			v->settings[v->nsettings++] = (struct layout_setting){
				keep(l, name), keep(l, json_string_value(value))};
}

static void add_variants(struct layout *l, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		const char *name = keep(l, json_str(v, "name"));

		if (!name)
			continue;
		array_grow(l->variants, l->nvariants, l->variants_cap);
		l->variants[l->nvariants] = (struct layout_variant){
			.name = name,
			.what = keep(l, json_str(v, "what")),
			.base = keep(l, json_str(v, "base")),
		};
		add_settings(l, &l->variants[l->nvariants++], json_object_get(v, "matrix"));
	}
}

static const char *order_text(struct layout *l, const json_t *order)
{
	struct str s = {0};
	const char *kept;
	const json_t *o;
	size_t i;

	json_array_foreach (order, i, o)
		if (json_string_value(o))
			str_printf(&s, "%s%s", s.len ? " " : "", json_string_value(o));
	kept = keep(l, s.buf);
	str_free(&s);
	return kept;
}

static int read_manifest(struct layout *l, const char *capture, const char *path, struct error *err)
{
	json_t *root = json_file(path, err), *run;
	size_t i;

	if (!root)
		return -EBADMSG;
	if (json_u64(root, "schema_version") != SCHEMA) {
		json_decref(root);
		return error_set(err, EBADMSG,
				 "%s: schema_version is not %d; use the zcost that made it", path,
				 SCHEMA);
	}
	if (!json_is_array(json_object_get(root, "runs"))) {
		json_decref(root);
		return error_set(err, EBADMSG, "%s: damaged: it has no list of runs", path);
	}
	l->has_manifest = true;
	l->name = keep(l, json_str(root, "name"));
	l->created = keep(l, json_str(root, "created"));
	l->zcost_version = keep(l, json_str(root, "zcost_version"));
	l->estimator = keep(l, json_str(root, "estimator"));
	l->order = order_text(l, json_object_get(root, "order"));
	add_variants(l, json_object_get(root, "variants"));
	json_array_foreach (json_object_get(root, "runs"), i, run)
		add_run(l, capture, root, run, i);
	if (json_is_false(json_object_get(root, "complete")))
		note_add(&l->notes, capture_incomplete);
	json_decref(root);
	return file_sha256(path, l->manifest_sha256, err);
}

/* --- folders --- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* Calls `found` for each folder in `dir`, by name. */
static void each_folder(struct layout *l, const char *dir, struct layout_entry *e,
			void (*found)(struct layout *, const char *dir, const char *name,
				      struct layout_entry *))
{
	struct dirent **list;
	int n = scandir(dir, &list, no_dots, by_name), i;

	for (i = 0; i < n; i++) {
		const char *path = keepf(l, "%s/%s", dir, list[i]->d_name);

		if (path_is_dir(path))
			found(l, path, list[i]->d_name, e);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void found_side(struct layout *l, const char *dir, const char *name, struct layout_entry *e)
{
	if (!path_exists(keepf(l, "%s/run.json", dir)))
		return;
	e->side = keep(l, name);
	e->dir = dir;
	add(l, e);
}

static void found_run(struct layout *l, const char *dir, const char *name, struct layout_entry *e)
{
	const char *dash = strrchr(name, '-');

	e->pass = dash ? keepf(l, "%.*s", (int)(dash - name), name) : keep(l, name);
	e->repeat = dash ? atoi(dash + 1) : 1;
	each_folder(l, dir, e, found_side);
	e->position++;
}

static void found_variant(struct layout *l, const char *dir, const char *name,
			  struct layout_entry *e)
{
	e->variant = keep(l, name);
	each_folder(l, dir, e, found_run);
}

static int scan(struct layout *l, const char *capture, struct error *err)
{
	struct layout_entry e = {.status = "ok"};
	const char *plain = keepf(l, "%s/run.json", capture);

	if (path_exists(plain)) {
		e.dir = keep(l, capture);
		add(l, &e);
		return file_sha256(plain, l->run_sha256, err);
	}
	each_folder(l, keepf(l, "%s/runs", capture), &e, found_variant);
	if (!l->nentries)
		return error_set(
			err, ENOENT,
			"%s: no capture: it has no manifest.json, no runs/ with runs in it "
			"and no run.json; 'zcost capture -o %s' makes one",
			capture, capture);
	note_add(&l->notes, manifest_missing);
	return 0;
}

int layout_read(struct layout *l, const char *capture, struct error *err)
{
	const char *manifest;

	*l = (struct layout){0};
	if (!path_exists(capture))
		return error_set(err, ENOENT, "%s: no such capture", capture);
	if (!path_is_dir(capture))
		return error_set(err, ENOTDIR, "%s: neither a capture folder nor an archive of one",
				 capture);
	l->hosts_dir = keepf(l, "%s/hosts", capture);
	manifest = keepf(l, "%s/manifest.json", capture);
	if (path_exists(manifest))
		return read_manifest(l, capture, manifest, err);
	return scan(l, capture, err);
}

void layout_free(struct layout *l)
{
	free(l->variants);
	free(l->entries);
	notes_free(&l->notes);
	arena_free(&l->arena);
	*l = (struct layout){0};
}
