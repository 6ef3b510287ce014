// SPDX-License-Identifier: GPL-2.0-only
#include "capture/manifest.h"

#include "capture/plan_read.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/names.h"
#include "lib/sha256.h"

#include <errno.h>
#include <time.h>

/* --- checksums --- */

static int sums_add(void *arg, const struct walked *e, struct error *err)
{
	json_t *files = arg;
	char hex[65];
	int rc;

	if (e->code)
		return error_sys(err, e->code, "%s: cannot read", e->path);
	if (!S_ISREG(e->st.st_mode))
		return 0;
	rc = sha256_file(e->path, hex, err);
	if (!rc && json_object_set_new(files, e->name, json_string(hex)))
		rc = error_set(err, EILSEQ, "%s: the name is not UTF-8", e->path);
	return rc;
}

json_t *manifest_sums(const char *dir, struct error *err)
{
	json_auto_t *files = json_object();

	return dir_walk(dir, sums_add, files, err) ? NULL : json_incref(files);
}

/* --- the manifest --- */

enum { SCHEMA = 1 };

static json_t *manifest_empty(void)
{
	char now[32];
	time_t t = time(NULL);

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
	return json_pack("{s:i, s:s, s:s, s:s, s:b, s:[], s:[], s:[], s:s, s:[], s:{}}",
			 "schema_version", SCHEMA, "zcost_version", zcost_version, "name", "",
			 "created", now, "complete", 0, "order", "variants", "sides", "estimator",
			 "", "runs", "hosts");
}

static int manifest_check_run(const json_t *run, const char *path, struct error *err)
{
	const char *bad =
		name_is_part(json_text(run, "variant")) ? NULL : json_text(run, "variant");
	const json_t *side;
	size_t i;

	json_array_foreach (json_object_get(run, "sides"), i, side)
		if (!json_is_string(side) || !name_is_part(json_string_value(side)))
			bad = json_is_string(side) ? json_string_value(side) : "";
	if (!bad)
		return 0;
	return error_set(err, EBADMSG,
			 "%s: damaged: '%.100s' cannot be a variant or a side; give another -o",
			 path, bad);
}

/* Checks the members that the code below needs. It copies all others unchanged. */
static int manifest_check(const json_t *root, const char *path, struct error *err)
{
	static const char *const lists[] = {"order", "variants", "sides", "runs"};
	json_int_t schema = json_integer_value(json_object_get(root, "schema_version"));
	const json_t *run;
	size_t i;
	int rc = 0;

	if (schema != SCHEMA)
		return error_set(
			err, EBADMSG,
			"%s: schema_version %d is not known to this zcost %s (it knows %d)", path,
			(int)schema, zcost_version, SCHEMA);
	for (i = 0; i < array_size(lists); i++)
		if (!json_is_array(json_object_get(root, lists[i])))
			return error_set(err, EBADMSG, "%s: damaged: no list '%s'", path, lists[i]);
	json_array_foreach (json_object_get(root, "runs"), i, run)
		rc = rc ?: manifest_check_run(run, path, err);
	return rc;
}

int manifest_open(struct manifest *m, const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", dir);
	json_error_t e;

	*m = (struct manifest){.dir = xstrdup(dir)};
	if (!path_exists(path)) {
		m->root = manifest_empty();
		return 0;
	}
	m->root = json_load_file(path, 0, &e);
	if (!m->root)
		return error_set(err, EBADMSG,
				 "%s:%d: damaged: %s; move the capture away, or give another -o",
				 path, e.line, e.text);
	return manifest_check(m->root, path, err);
}

void manifest_close(struct manifest *m)
{
	free(m->dir);
	json_decref(m->root);
	*m = (struct manifest){0};
}

int manifest_save(const struct manifest *m, struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", m->dir);

	json_object_set_new(m->root, "zcost_version", json_string(zcost_version));
	return json_write(path, m->root, JSON_INDENT(1), err);
}

/* Returns the index of a run, or the number of runs. */
static size_t manifest_find_run(const struct manifest *m, const char *name)
{
	json_t *o;
	size_t i;

	json_array_foreach (json_object_get(m->root, "runs"), i, o) {
		autofree char *have =
			xasprintf("%s/%s-%02d", json_text(o, "variant"), json_text(o, "pass"),
				  (int)json_integer_value(json_object_get(o, "repeat")));

		if (!strcmp(have, name))
			break;
	}
	return i;
}

bool manifest_has_run(const struct manifest *m, const char *run)
{
	return json_array_get(json_object_get(m->root, "runs"), manifest_find_run(m, run));
}

static bool manifest_run_ok(const struct manifest *m, const char *run)
{
	const json_t *runs = json_object_get(m->root, "runs");

	return !strcmp(json_text(json_array_get(runs, manifest_find_run(m, run)), "status"), "ok");
}

void manifest_runs_left(const struct manifest *m, const struct plan *p, const struct order *all,
			struct order *left)
{
	size_t i;

	*left = (struct order){.run = xcalloc(all->n + 1, sizeof(*left->run))};
	for (i = 0; i < all->n; i++) {
		autofree char *name = run_name(p, &all->run[i]);

		if (!manifest_run_ok(m, name))
			left->run[left->n++] = all->run[i];
	}
}

/* Removes a run, so that it is added again at the end: the manifest lists runs as they were made.
 */
static void manifest_forget_run(struct manifest *m, const char *name)
{
	json_t *order = json_object_get(m->root, "order"), *o;
	size_t i;

	json_array_remove(json_object_get(m->root, "runs"), manifest_find_run(m, name));
	json_array_foreach (order, i, o) {
		if (json_string_value(o) && !strcmp(json_string_value(o), name)) {
			json_array_remove(order, i);
			return;
		}
	}
}

void manifest_add_run(struct manifest *m, const struct plan *p, const struct run_id *id,
		      const char *why, const json_t *earlier, json_t *files)
{
	json_t *run, *sides = json_array();
	autofree char *name = run_name(p, id);

	for (int i = 0; i < p->nsides; i++)
		json_array_append_new(sides, json_string(p->sides[i].name));
	manifest_forget_run(m, name);
	run = json_pack("{s:s, s:s, s:i, s:s, s:o, s:o, s:o}", "variant",
			p->variants[id->variant].name, "pass", pass_names[id->pass], "repeat",
			(int)id->repeat, "status", *why ? "failed" : "ok", "why",
			json_any_text(why), "sides", sides, "files", files);
	if (json_array_size(earlier))
		json_object_set_new(run, "retried", json_deep_copy(earlier));
	json_array_append_new(json_object_get(m->root, "runs"), run);
	json_array_append_new(json_object_get(m->root, "order"), json_string(name));
}

/* Notes whether all planned runs of all variants are ok. */
static void manifest_set_complete(struct manifest *m)
{
	json_t *v, *n;
	const char *pass;
	bool ok = true;
	size_t i;

	json_array_foreach (json_object_get(m->root, "variants"), i, v)
		json_object_foreach (json_object_get(v, "planned"), pass, n)
			for (int k = 1; ok && k <= json_integer_value(n); k++) {
				autofree char *name =
					xasprintf("%s/%s-%02d", json_text(v, "name"), pass, k);

				ok = manifest_run_ok(m, name);
			}
	json_object_set_new(m->root, "complete", json_boolean(ok));
}

int manifest_finish(struct manifest *m, struct error *err)
{
	autofree char *hosts = xasprintf("%s/hosts", m->dir);
	json_t *sums = path_is_dir(hosts) ? manifest_sums(hosts, err) : json_object();

	if (!sums)
		return -EIO;
	json_object_set_new(m->root, "hosts", sums);
	manifest_set_complete(m);
	return manifest_save(m, err);
}

/* --- the settings of a variant --- */

/* Adds OWNER.KEY, or KEY without an owner, unless the value is empty. */
static void settings_add(json_t *o, const char *owner, const char *key, const char *value)
{
	autofree char *name = owner ? xasprintf("%s.%s", owner, key) : xstrdup(key);

	if (*value)
		json_object_set_new(o, name, json_any_text(value));
}

/* Adds the keys of one section that are recorded. */
static void settings_add_keys(json_t *o, const char *owner, enum plan_section section,
			      const void *base)
{
	for (const struct plan_key *k = plan_keys; k->name; k++) {
		autofree char *value = NULL;

		if (k->section != section || !(k->flags & KEY_RECORDED))
			continue;
		value = plan_key_text(k, base);
		settings_add(o, owner, k->name, value);
	}
}

json_t *settings_of(const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	const struct side_plan *s = plan_sides(p, v);
	json_t *o = json_object();

	settings_add_keys(o, NULL, SECTION_PLAN, p);
	for (int i = 0; i < p->nsides; i++) {
		settings_add(o, s[i].name, "command", v->command[i]);
		settings_add_keys(o, s[i].name, SECTION_SIDE, &s[i]);
	}
	for (size_t k = 0; k < c->n; k++) {
		settings_add(o, "setting", c->set[k].name, c->set[k].value);
		settings_add_keys(o, c->set[k].name, SECTION_HOOKS, &c->set[k].hooks);
	}
	return o;
}

int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err)
{
	json_auto_t *all = json_copy((json_t *)then);
	const char *key;
	json_t *value;

	json_object_update(all, (json_t *)now);
	json_object_foreach (all, key, value)
		if (strcmp(json_text(then, key), json_text(now, key)) != 0)
			return error_set(
				err, EEXIST,
				"variant '%s' was measured with %s = '%.200s', and now it is '%.200s'",
				name, key, json_text(then, key), json_text(now, key));
	return 0;
}

/* --- the variants --- */

/* Finds the object in a list that has `value` under `key`. */
static json_t *list_find(const json_t *list, const char *key, const char *value)
{
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (!strcmp(json_text(o, key), value))
			return o;
	return NULL;
}

static void list_add_word(json_t *list, const char *word)
{
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (!strcmp(json_string_value(o) ? json_string_value(o) : "", word))
			return;
	json_array_append_new(list, json_string(word));
}

/* Raises the planned numbers of runs. A plan with more repeats or passes is still the same plan. */
static void variant_raise_planned(json_t *variant, const struct plan *p)
{
	json_t *planned = json_object_get(variant, "planned");

	for (int i = 0; i < PASS_COUNT; i++) {
		json_int_t had = json_integer_value(json_object_get(planned, pass_names[i]));
		json_int_t now = p->passes & 1u << i ? plan_repeats(p, (enum pass)i) : 0;

		if (now > had)
			json_object_set_new(planned, pass_names[i], json_integer(now));
	}
}

/* Adds the name in the plan and the settings of a variant, where the plan has a matrix. */
static void variant_put_matrix(json_t *variant, const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	json_auto_t *matrix = json_object();

	for (size_t i = 0; i < c->n; i++)
		json_object_set_new(matrix, c->set[i].name, json_any_text(c->set[i].value));
	if (c->n) {
		json_object_set_new(variant, "base", json_string(v->base));
		json_object_set(variant, "matrix", matrix);
	}
}

/* Adds the variables of [vars]. Those of an earlier capture's variant are not known. */
static void variant_put_vars(json_t *variant, const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	const struct plan *from = c->plan ? c->plan : p;

	if (from->vars && !v->earlier)
		json_object_set(variant, "vars", from->vars);
}

static bool manifest_has_runs_of(const struct manifest *m, const char *variant)
{
	return list_find(json_object_get(m->root, "runs"), "variant", variant) != NULL;
}

/* Adds a variant of the plan to `list`, unless it is there. */
static int manifest_adopt_variant(struct manifest *m, const struct plan *p, const struct variant *v,
				  json_t *list, struct error *err)
{
	json_t *had = list_find(json_object_get(m->root, "variants"), "name", v->name);
	json_auto_t *now = settings_of(p, v), *o = NULL;
	int rc = 0;

	if (had && manifest_has_runs_of(m, v->name)) {
		rc = settings_same(json_object_get(had, "settings"), now, v->name, err);
		o = json_incref(had);
	} else {
		o = json_pack("{s:s, s:{}, s:O}", "name", v->name, "planned", "settings", now);
	}
	json_object_set_new(o, "what", json_any_text(v->what));
	variant_put_matrix(o, p, v);
	variant_put_vars(o, p, v);
	variant_raise_planned(o, p);
	if (!list_find(list, "name", v->name))
		json_array_append(list, o);
	return rc;
}

/*
 * Lists the variants that stay beside those of the plan. One without runs does not stay: a plan
 * that was refused before its first run left it. With `whole`, the plan has all variants, and the
 * list begins with its first one.
 */
static int manifest_keep_variants(const struct manifest *m, const struct plan *p, bool whole,
				  json_t *list, struct error *err)
{
	json_t *o;
	size_t i;

	json_array_foreach (json_object_get(m->root, "variants"), i, o) {
		const char *name = json_text(o, "name");

		if (!manifest_has_runs_of(m, name) || (whole && plan_find_variant(p, name)))
			continue;
		if (whole)
			return error_set(err, EEXIST,
					 "it has a variant '%s' that the plan does not have", name);
		json_array_append(list, o);
	}
	return 0;
}

int manifest_adopt(struct manifest *m, const struct plan *p, bool whole, struct error *err)
{
	json_auto_t *list = json_array();
	struct error e = {0};
	int rc = manifest_keep_variants(m, p, whole, list, &e);

	for (size_t i = 0; i < p->nvariants && !rc; i++)
		rc = manifest_adopt_variant(m, p, &p->variants[i], list, &e);
	if (rc)
		return error_set(
			err, -rc,
			"%s holds another experiment: %s; give another -o, or remove the folder",
			m->dir, e.text);
	json_object_set(m->root, "variants", list);
	if (!json_array_size(json_object_get(m->root, "runs"))) {
		json_array_clear(json_object_get(m->root, "order"));
		json_array_clear(json_object_get(m->root, "sides"));
	}
	for (int side = 0; side < p->nsides; side++)
		list_add_word(json_object_get(m->root, "sides"), p->sides[side].name);
	if (whole || !*json_text(m->root, "estimator")) {
		json_object_set_new(m->root, "name", json_string(p->name));
		json_object_set_new(m->root, "estimator", json_string(p->estimator));
		json_object_set_new(m->root, "seed", json_any_text(p->seed));
	}
	manifest_set_complete(m);
	return 0;
}

/* --- the variants of an earlier capture --- */

/*
 * zcost capture --against: the variants of an earlier capture become variants of the plan, so that
 * their runs take turns with those of the plan. Their commands are those of the earlier manifest,
 * in which no variable but ${seconds} is left. The sides, the hooks and the times are the plan's.
 */

static const char prefix[] = "old-";

/* Fills the commands of the earlier variant, "" for a side without one. */
static void against_fill(const struct plan *p, struct variant *v, const char *name,
			 const json_t *old)
{
	const json_t *settings = json_object_get(old, "settings");

	*v = (struct variant){.name = xasprintf("%s%s", prefix, name),
			      .base = xasprintf("%s%s", prefix, name),
			      .what = xasprintf("%s (earlier)", json_text(old, "what")),
			      .command = xcalloc((size_t)p->nsides + 1, sizeof(*v->command)),
			      .earlier = true};
	for (int i = 0; i < p->nsides; i++) {
		autofree char *key = xasprintf("%s.command", p->sides[i].name);

		v->command[i] = xstrdup(json_text(settings, key));
	}
}

static bool against_is_same(const struct variant *a, const struct variant *b)
{
	for (int i = 0; a->command[i]; i++)
		if (strcmp(a->command[i], b->command[i]) != 0)
			return false;
	return true;
}

/* Refuses other settings of the sides: a capture measures all variants under the same. */
static int against_check_settings(const struct plan *p, const struct variant *v, const json_t *old,
				  struct error *err)
{
	static const char *const of_plan[] = {"before", "after", "warmup", "duration"};
	json_auto_t *now = settings_of(p, v), *then = json_copy(json_object_get(old, "settings"));
	int rc;

	for (size_t i = 0; i < array_size(of_plan); i++) {
		json_object_del(now, of_plan[i]);
		json_object_del(then, of_plan[i]);
	}
	rc = settings_same(then, now, json_text(old, "name"), err);
	return rc ? -EINVAL : 0;
}

/* Adds one earlier variant. Leaves out one with the commands of the plan's variant of its name. */
static int against_add(struct plan *p, const json_t *old, struct str *same, struct error *err)
{
	const char *name = json_text(old, "name");
	const struct variant *now = plan_find_variant(p, name);
	struct variant v;
	int rc;

	against_fill(p, &v, name, old);
	if (now && against_is_same(&v, now)) {
		str_printf(same, "%s%s", same->len ? ", " : "", name);
		plan_free_variant(&v);
		return 0;
	}
	rc = plan_check_name(v.name, err);
	if (!rc && plan_find_variant(p, v.name))
		rc = error_set(err, EINVAL, "the plan has a variant '%s', too", v.name);
	rc = rc ?: against_check_settings(p, &v, old, err);
	if (rc) {
		plan_free_variant(&v);
		return rc;
	}
	array_add(p->variants, p->nvariants, p->variants_cap, v);
	return 0;
}

static int against_add_all(struct plan *p, const json_t *variants, struct error *err)
{
	size_t before = p->nvariants, i;
	freed(str_free) struct str same = {0};
	json_t *old;
	int rc = 0;

	if (p->ncombinations)
		rc = error_set(err, EINVAL, "the plan has settings; measure one value of each");
	json_array_foreach (variants, i, old)
		rc = rc ?: against_add(p, old, &same, err);
	if (!rc && p->nvariants == before)
		rc = error_set(
			err, EINVAL,
			"%s: the same commands in the plan; keep the earlier programs under another path",
			same.len ? same.buf : "no variant");
	else if (!rc && same.len)
		print_note("%s: the same commands in the plan, so not measured twice", same.buf);
	return rc;
}

int plan_add_capture(struct plan *p, const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", dir);
	freed(manifest_close) struct manifest m = {0};
	struct error e = {0};
	int rc;

	if (!path_exists(path))
		rc = error_set(&e, EINVAL, "there is no %s; an archive needs 'zcost unpack'", path);
	else
		rc = manifest_open(&m, dir, &e);
	rc = rc ?: against_add_all(p, json_object_get(m.root, "variants"), &e);
	if (rc)
		rc = error_set(err, -rc, "--against %s: %s", dir, e.text);
	return rc;
}
