// SPDX-License-Identifier: GPL-2.0-only
#include "capture/settings.h"

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

static void put(json_t *o, const char *prefix, const char *key, const char *value)
{
	char *name;

	if (!*value)
		return;
	name = xasprintf("%s%s", prefix, key);
	json_object_set_new(o, name, settings_text(value));
	free(name);
}

static void put_seconds(json_t *o, const char *key, double s)
{
	char *text = xasprintf("%.9g", s);

	put(o, "", key, text);
	free(text);
}

static void put_side(json_t *o, const struct side_plan *s, enum side side, const char *command)
{
	char *prefix = xasprintf("%s.", side_names[side]);

	put(o, prefix, "command", command);
	put(o, prefix, "prefix", s->prefix);
	put(o, prefix, "cpus", s->cpus);
	put(o, prefix, "collect", s->collect);
	put(o, prefix, "units", s->units);
	put(o, prefix, "call_graph", s->call_graph);
	put(o, prefix, "power_csv", s->power_csv);
	put(o, prefix, "time_one_in", s->time_one_in);
	put(o, prefix, "events", s->events);
	put(o, prefix, "power_command", s->power_command);
	put(o, prefix, "host", s->host);
	free(prefix);
}

static void put_hooks(json_t *o, const struct set_value *s)
{
	char *prefix = xasprintf("%s.", s->name);

	put(o, "setting.", s->name, s->value);
	put(o, prefix, "save", s->hooks.save);
	put(o, prefix, "before", s->hooks.before);
	put(o, prefix, "after", s->hooks.after);
	free(prefix);
}

json_t *settings_of(const struct plan *p, const struct variant *v)
{
	const struct combination *c = plan_combination(p, v->combination);
	const struct side_plan *sides = plan_sides(p, v);
	json_t *o = json_object();
	size_t k;
	int i;

	put(o, "", "before", p->before);
	put(o, "", "after", p->after);
	put_seconds(o, "warmup", p->warmup_s);
	put_seconds(o, "duration", p->duration_s);
	for (i = 0; i < SIDE_COUNT; i++)
		if (p->sides[i].used)
			put_side(o, &sides[i], (enum side)i, v->command[i]);
	for (k = 0; k < c->n; k++)
		put_hooks(o, &c->set[k]);
	return o;
}

static const char *shown(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static int differs(const char *name, const char *key, const json_t *then, const json_t *now,
		   struct error *err)
{
	return error_set(err, EEXIST,
			 "variant '%s' was measured with %s = '%.200s', and now it is '%.200s'",
			 name, key, shown(then, key), shown(now, key));
}

int settings_same(const json_t *then, const json_t *now, const char *name, struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)now, key, value)
		if (strcmp(shown(then, key), json_string_value(value)))
			return differs(name, key, then, now, err);
	json_object_foreach ((json_t *)then, key, value)
		if (!json_object_get(now, key))
			return differs(name, key, then, now, err);
	return 0;
}
