// SPDX-License-Identifier: GPL-2.0-only
#include "capture/manifest.h"

#include "capture/plan_read.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

json_t *settings_text(const char *s)
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

static void settings_add_side(json_t *o, const struct side_plan *s, enum side side,
			      const char *command)
{
	char *prefix = xasprintf("%s.", side_names[side]);

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
	for (i = 0; i < SIDE_COUNT; i++)
		if (p->sides[i].used)
			settings_add_side(o, &sides[i], (enum side)i, v->command[i]);
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
