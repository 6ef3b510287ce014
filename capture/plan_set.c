// SPDX-License-Identifier: GPL-2.0-only
/*
 * zcost capture --set NAME=VALUE writes the value into the text of the plan before the text is
 * read. So plan.ini of the capture is the plan as used, and [value] sections still replace the
 * value.
 */
#include "capture/ini.h"
#include "capture/plan.h"
#include "capture/plan_read.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct set_scan {
	const char *name;
	size_t len;
	bool in_vars;
	int line; /* of the variable in the plan, 0: not found */
	char *was;
	struct str known;
};

static int set_on_section(void *ctx, const struct ini_at *at, const char *kind, const char *name,
			  struct error *err)
{
	struct set_scan *s = ctx;

	(void)at;
	(void)err;
	s->in_vars = !strcmp(kind, "vars") && !*name;
	return 0;
}

static int set_on_key(void *ctx, const struct ini_at *at, const char *key, const char *value,
		      struct error *err)
{
	struct set_scan *s = ctx;

	(void)err;
	if (!s->in_vars)
		return 0;
	str_printf(&s->known, " %s", key);
	if (!s->line && strlen(key) == s->len && !memcmp(key, s->name, s->len)) {
		s->line = at->line;
		s->was = xstrdup(value);
	}
	return 0;
}

/* Says whether a line of the plan is blank or a comment. Such lines do not end a value. */
static bool line_is_skipped(const char *line)
{
	line += strspn(line, " \t\r");
	return !*line || *line == '#' || *line == ';';
}

/* Replaces line `at`, and empties the lines that continue it. All lines keep their numbers. */
static char *text_replace_line(const char *text, int at, const char *with)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	struct str s = {0};
	bool inside = false;
	int n = 0;

	while ((line = str_token(&rest, '\n'))) {
		bool skipped = line_is_skipped(line);

		n++;
		inside = n == at || (inside && (skipped || isspace((unsigned char)*line)));
		str_puts(&s, n == at ? with : inside && !skipped ? "" : line);
		str_puts(&s, rest ? "\n" : "");
	}
	free(copy);
	return str_take(&s);
}

/* Returns how to change a key of [plan], or NULL where the name is none. */
static const char *set_find_way(const struct set_scan *s)
{
	static const char *const options[][2] = {{"repeats", "use --repeat N"},
						 {"passes", "use --pass LIST"},
						 {"warmup", "use --warmup S"},
						 {"duration", "use --duration S"},
						 {"grace", "use --grace S"}};
	char *name = xstrndup(s->name, s->len);
	const char *way = plan_key_find(SECTION_PLAN, name) ? "edit the plan" : NULL;
	size_t i;

	for (i = 0; i < array_size(options); i++)
		if (!strcmp(name, options[i][0]))
			way = options[i][1];
	free(name);
	return way;
}

static int set_unknown(const struct set_scan *s, const char *path, struct error *err)
{
	const char *way = set_find_way(s);

	if (way)
		return error_set(err, EINVAL, "--set %.*s: %.*s is a key of [plan]: %s",
				 (int)s->len, s->name, (int)s->len, s->name, way);
	return error_set(err, EINVAL, "--set %.*s: %s has no such variable; [vars] has:%s",
			 (int)s->len, s->name, path, s->known.buf ? s->known.buf : " none");
}

int plan_set_variable(struct plan *p, const char *path, char **text, const char *set,
		      struct error *err)
{
	static const struct ini_handler handler = {.section = set_on_section, .key = set_on_key};
	struct set_scan s = {.name = set, .len = strcspn(set, "=")};
	const char *value = set + s.len + 1;
	char *copy, *with;
	int rc;

	if (!s.len || !set[s.len] || strpbrk(set, "\r\n"))
		return error_set(err, EINVAL, "--set '%s' is not NAME=VALUE on one line", set);
	copy = xstrdup(*text);
	rc = ini_parse(path, copy, &handler, &s, err);
	if (!rc && !s.line)
		rc = set_unknown(&s, path, err);
	if (!rc) {
		with = xasprintf("%.*s = %s", (int)s.len, s.name, value);
		free(copy);
		copy = *text;
		*text = text_replace_line(copy, s.line, with);
		free(with);
		with = xasprintf("%sset %.*s = %s (%s in the plan)\n", p->sets, (int)s.len, s.name,
				 value, s.was);
		free(p->sets);
		p->sets = with;
	}
	str_free(&s.known);
	free(s.was);
	free(copy);
	return rc;
}
