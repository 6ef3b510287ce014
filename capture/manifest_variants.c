// SPDX-License-Identifier: GPL-2.0-only
/* The variants of a manifest, and the settings that they were measured under. */
#include "capture/manifest.h"

#include "capture/plan_read.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns a JSON string. jansson takes UTF-8 only: other text is read as Latin-1. */
static json_t *settings_text(const char *s)
{
	json_t *j = json_string(s);
	char *latin, *to;

	if (j)
		return j;
	latin = to = xmalloc(2 * strlen(s) + 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*to = '\0';
	j = json_string(latin);
	free(latin);
	return j;
}

static void settings_add(json_t *o, const char *prefix, const char *key, const char *value)
{
	char *name = xasprintf("%s%s", prefix, key);

	if (*value)
		json_object_set_new(o, name, settings_text(value));
	free(name);
}

/* Adds the keys of one section that are recorded. */
static void settings_add_keys(json_t *o, const char *prefix, enum plan_section section,
			      const void *base)
{
	const struct plan_key *k;

	for (k = plan_keys; k->name; k++) {
		char *value;

		if (k->section != section || !(k->flags & KEY_RECORDED))
			continue;
		value = plan_key_text(k, base);
		settings_add(o, prefix, k->name, value);
		free(value);
	}
}

static void settings_add_side(json_t *o, const struct side_plan *s, const char *command)
{
	char *prefix = xasprintf("%s.", s->name);

	settings_add(o, prefix, "command", command);
	settings_add_keys(o, prefix, SECTION_SIDE, s);
	free(prefix);
}

static void settings_add_setting(json_t *o, const struct set_value *s)
{
	char *prefix = xasprintf("%s.", s->name);

	settings_add(o, "setting.", s->name, s->value);
	settings_add_keys(o, prefix, SECTION_HOOKS, &s->hooks);
	free(prefix);
}

json_t *settings_of(const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	const struct side_plan *sides = plan_sides(p, v);
	json_t *o = json_object();
	size_t k;
	int i;

	settings_add_keys(o, "", SECTION_PLAN, p);
	for (i = 0; i < p->nsides; i++)
		settings_add_side(o, &sides[i], v->command[i]);
	for (k = 0; k < c->n; k++)
		settings_add_setting(o, &c->set[k]);
	return o;
}

static int settings_differ(const char *name, const char *key, const json_t *then, const json_t *now,
			   struct error *err)
{
	return error_set(err, EEXIST,
			 "variant '%s' was measured with %s = '%.200s', and now it is '%.200s'",
			 name, key, json_text(then, key), json_text(now, key));
}

int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)now, key, value)
		if (strcmp(json_text(then, key), json_string_value(value)))
			return settings_differ(name, key, then, now, err);
	json_object_foreach ((json_t *)then, key, value)
		if (!json_object_get(now, key))
			return settings_differ(name, key, then, now, err);
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
	int i;

	for (i = 0; i < PASS_COUNT; i++) {
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
	json_t *matrix = json_object();
	size_t i;

	for (i = 0; i < c->n; i++)
		json_object_set_new(matrix, c->set[i].name, settings_text(c->set[i].value));
	if (c->n) {
		json_object_set_new(variant, "base", json_string(v->base));
		json_object_set(variant, "matrix", matrix);
	}
	json_decref(matrix);
}

/* Adds the variables of [vars]. Those of an earlier capture's variant are not known. */
static void variant_put_vars(json_t *variant, const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	const struct plan *from = c->plan ? c->plan : p;
	json_t *vars = json_object();
	size_t i;

	for (i = 0; i < from->nvars; i++)
		json_object_set_new(vars, from->vars[i].name, settings_text(from->vars[i].value));
	if (from->nvars && !v->earlier)
		json_object_set(variant, "vars", vars);
	json_decref(vars);
}

static int manifest_adopt_variant(struct manifest *m, const struct plan *p, const struct variant *v,
				  struct error *err)
{
	json_t *list = json_object_get(m->root, "variants"), *o = list_find(list, "name", v->name);
	json_t *now = settings_of(p, v);
	int rc = 0;

	if (!o) {
		o = json_pack("{s:s, s:{}, s:o}", "name", v->name, "planned", "settings", now);
		json_array_append_new(list, o);
	} else {
		rc = settings_same(json_object_get(o, "settings"), now, v->name, err);
		json_decref(now);
	}
	if (rc)
		return rc;
	json_object_set_new(o, "what", settings_text(v->what));
	variant_put_matrix(o, p, v);
	variant_put_vars(o, p, v);
	variant_raise_planned(o, p);
	return 0;
}

static int manifest_check_known(const struct manifest *m, const struct plan *p, struct error *err)
{
	const json_t *o;
	size_t i, k;

	json_array_foreach (json_object_get(m->root, "variants"), i, o) {
		for (k = 0; k < p->nvariants; k++)
			if (!strcmp(p->variants[k].name, json_text(o, "name")))
				break;
		if (k == p->nvariants)
			return error_set(err, EEXIST,
					 "it has a variant '%s' that the plan does not have",
					 json_text(o, "name"));
	}
	return 0;
}

static bool manifest_has_runs(const struct manifest *m, const char *variant)
{
	return list_find(json_object_get(m->root, "runs"), "variant", variant);
}

/* Removes variants without runs. A plan that was refused before its first run left them. */
static void manifest_forget_unused(struct manifest *m)
{
	json_t *list = json_object_get(m->root, "variants");
	size_t i = json_array_size(list);

	while (i--)
		if (!manifest_has_runs(m, json_text(json_array_get(list, i), "name")))
			json_array_remove(list, i);
	if (json_array_size(json_object_get(m->root, "runs")))
		return;
	json_array_clear(json_object_get(m->root, "order"));
	json_array_clear(json_object_get(m->root, "sides"));
}

/* Puts the variants in the order of the plan, which is the order in charts. */
static void manifest_sort_variants(struct manifest *m, const struct plan *p)
{
	json_t *old = json_object_get(m->root, "variants"), *sorted = json_array(), *o;
	size_t i;

	json_array_foreach (old, i, o) {
		size_t k;

		for (k = 0; k < p->nvariants && strcmp(p->variants[k].name, json_text(o, "name"));
		     k++)
			;
		if (k == p->nvariants)
			json_array_append(sorted, o);
	}
	for (i = 0; i < p->nvariants; i++)
		json_array_append(sorted, list_find(old, "name", p->variants[i].name));
	json_object_set_new(m->root, "variants", sorted);
}

int manifest_adopt(struct manifest *m, const struct plan *p, bool whole, struct error *err)
{
	struct error e = {0};
	size_t i;
	int rc, side;

	manifest_forget_unused(m);
	rc = whole ? manifest_check_known(m, p, &e) : 0;
	for (i = 0; i < p->nvariants && !rc; i++)
		rc = manifest_adopt_variant(m, p, &p->variants[i], &e);
	if (rc)
		return error_set(
			err, -rc,
			"%s holds another experiment: %s; give another -o, or remove the folder",
			m->dir, e.text);
	if (whole)
		manifest_sort_variants(m, p);
	for (side = 0; side < p->nsides; side++)
		list_add_word(json_object_get(m->root, "sides"), p->sides[side].name);
	if (whole || !*json_text(m->root, "name"))
		json_object_set_new(m->root, "name", json_string(p->name));
	json_object_set_new(m->root, "estimator", json_string(p->estimator));
	return 0;
}
