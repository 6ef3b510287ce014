// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/layout.h"

#include "lib/names.h"
#include "lib/json.h"
#include "analyze/model/rows.h"
#include "lib/file.h"
#include "lib/sha256.h"
#include "lib/str.h"
#include "lib/words.h"

#include <errno.h>
#include <unistd.h>

enum { SCHEMA = 1 };

static const char *layout_keep(struct layout *l, const char *s)
{
	return s && *s ? arena_strdup(&l->arena, s) : NULL;
}

/* --- manifest.json --- */

/* Returns the run's place in the order of the manifest, or `otherwise`. */
static int layout_find_position(const json_t *order, const char *name, int otherwise)
{
	const json_t *o;
	size_t i;

	json_array_foreach (order, i, o)
		if (json_string_value(o) && !strcmp(json_string_value(o), name))
			return (int)i;
	return otherwise;
}

/* Returns a key of the plan for a side of a variant, or NULL. */
static const char *layout_side_setting(struct layout *l, const json_t *root, const char *variant,
				       const char *side, const char *key)
{
	const char *name = arena_printf(&l->arena, "%s.%s", side, key);
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(root, "variants"), i, v)
		if (json_str(v, "name") && !strcmp(json_str(v, "name"), variant))
			return layout_keep(l, json_str(json_object_get(v, "settings"), name));
	return NULL;
}

static void layout_note_bad_run(struct layout *l, size_t index, const char *what)
{
	autofree char *text = xasprintf("run %zu %s and is left out", index, what);

	note_add(&l->notes, file_damaged, "manifest.json", text);
}

static void layout_add_run(struct layout *l, const char *capture, const json_t *root,
			   const json_t *run, size_t index)
{
	const json_t *sides = json_object_get(run, "sides"), *side;
	struct layout_entry e = {
		.variant = layout_keep(l, json_str(run, "variant")),
		.pass = layout_keep(l, json_str(run, "pass")),
		.repeat = (int)json_u64(run, "repeat"),
		.status = layout_keep(l, json_str(run, "status")),
		.why = layout_keep(l, json_str(run, "why")),
	};
	const char *name;
	size_t i;

	if (!e.variant || !e.pass || !name_is_part(e.variant) || !name_is_part(e.pass)) {
		layout_note_bad_run(l, index,
				    e.variant && e.pass ? "has a name that is not one of a folder"
							: "has no variant or pass");
		return;
	}
	name = arena_printf(&l->arena, "%s/%s-%02d", e.variant, e.pass, e.repeat);
	e.position = layout_find_position(json_object_get(root, "order"), name, (int)index);
	json_array_foreach (sides, i, side) {
		e.side = layout_keep(l, json_string_value(side));
		if (!e.side)
			continue;
		if (!name_is_part(e.side)) {
			layout_note_bad_run(l, index, "has a side that is not a folder's name");
			continue;
		}
		e.dir = arena_printf(&l->arena, "%s/runs/%s/%s", capture, name, e.side);
		e.work = layout_side_setting(l, root, e.variant, e.side, "work");
		e.role = layout_side_setting(l, root, e.variant, e.side, "role");
		array_add(l->entries, l->nentries, l->entries_cap, e);
	}
}

/* Returns the members of an object that are strings. */
static struct layout_setting *layout_read_settings(struct layout *l, const json_t *object,
						   size_t *n)
{
	struct layout_setting *list =
		arena_alloc(&l->arena, (json_object_size(object) + 1) * sizeof(*list));
	const char *name;
	json_t *value;

	*n = 0;
	json_object_foreach ((json_t *)object, name, value)
		if (json_is_string(value))
			list[(*n)++] = (struct layout_setting){
				layout_keep(l, name), layout_keep(l, json_string_value(value))};
	return list;
}

static void layout_add_variants(struct layout *l, const json_t *list)
{
	struct layout_variant *to;
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		const char *name = layout_keep(l, json_str(v, "name"));

		if (!name)
			continue;
		array_add(l->variants, l->nvariants, l->variants_cap,
			  (struct layout_variant){
				  .name = name,
				  .what = layout_keep(l, json_str(v, "what")),
				  .base = layout_keep(l, json_str(v, "base")),
			  });
		to = &l->variants[l->nvariants - 1];
		to->settings =
			layout_read_settings(l, json_object_get(v, "matrix"), &to->nsettings);
		to->keys = layout_read_settings(l, json_object_get(v, "settings"), &to->nkeys);
		to->vars = layout_read_settings(l, json_object_get(v, "vars"), &to->nvars);
	}
}

static const char *layout_order_text(struct layout *l, const json_t *order)
{
	freed(str_free) struct str s = {0};
	const json_t *o;
	size_t i;

	json_array_foreach (order, i, o)
		if (json_string_value(o))
			str_printf(&s, "%s%s", s.len ? " " : "", json_string_value(o));
	return layout_keep(l, s.buf);
}

static int layout_check_manifest(const json_t *root, const char *capture, const char *path,
				 struct error *err)
{
	if (json_u64(root, "schema_version") != SCHEMA)
		return error_set(err, EBADMSG,
				 "%s: schema_version is not %d; use the zcost that made it", path,
				 SCHEMA);
	if (json_is_true(json_object_get(root, "anonymous")))
		return error_set(err, EOPNOTSUPP,
				 "%s: 'zcost pack --anonymous' left out the raw files: reports, "
				 "comparisons, charts and exports read its store",
				 capture);
	return json_is_array(json_object_get(root, "runs"))
		       ? 0
		       : error_set(err, EBADMSG, "%s: damaged: it has no list of runs", path);
}

static int layout_read_manifest(struct layout *l, const char *capture, const char *path,
				struct error *err)
{
	json_t *root = json_file(path, err), *run;
	int rc = root ? layout_check_manifest(root, capture, path, err) : -EBADMSG;
	size_t i;

	if (!rc) {
		l->has_manifest = true;
		l->name = layout_keep(l, json_str(root, "name"));
		l->created = layout_keep(l, json_str(root, "created"));
		l->zcost_version = layout_keep(l, json_str(root, "zcost_version"));
		l->estimator = layout_keep(l, json_str(root, "estimator"));
		l->order = layout_order_text(l, json_object_get(root, "order"));
		layout_add_variants(l, json_object_get(root, "variants"));
		json_array_foreach (json_object_get(root, "runs"), i, run)
			layout_add_run(l, capture, root, run, i);
		if (json_is_false(json_object_get(root, "complete")))
			note_add(&l->notes, capture_incomplete);
	}
	json_decref(root);
	return rc ? rc : sha256_file(path, l->manifest_sha256, err);
}

int layout_read(struct layout *l, const char *capture, struct error *err)
{
	autofree char *word = shell_word(capture);
	const char *manifest, *plain;

	*l = (struct layout){0};
	if (access(capture, path_is_dir(capture) ? X_OK : F_OK) && errno == EACCES)
		return error_sys(err, EACCES, "%s: cannot open", capture);
	if (!path_exists(capture))
		return error_set(err, ENOENT, NO_SUCH_CAPTURE, capture);
	if (!path_is_dir(capture))
		return error_set(
			err, ENOTDIR,
			"%s: not the folder of a capture; 'zcost unpack' makes one of an archive",
			capture);
	l->hosts_dir = arena_printf(&l->arena, "%s/hosts", capture);
	manifest = arena_printf(&l->arena, "%s/manifest.json", capture);
	plain = arena_printf(&l->arena, "%s/run.json", capture);
	if (path_exists(manifest))
		return layout_read_manifest(l, capture, manifest, err);
	if (!path_exists(plain))
		return error_set(
			err, ENOENT,
			"%s: no capture: it has no manifest.json and no run.json; 'zcost capture -o %s' makes one",
			capture, word);
	array_add(l->entries, l->nentries, l->entries_cap,
		  (struct layout_entry){.status = "ok", .dir = layout_keep(l, capture)});
	return sha256_file(plain, l->run_sha256, err);
}

void layout_free(struct layout *l)
{
	free(l->variants);
	free(l->entries);
	notes_free(&l->notes);
	arena_free(&l->arena);
	*l = (struct layout){0};
}
