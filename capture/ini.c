// SPDX-License-Identifier: GPL-2.0-only
#include "capture/plan_read.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(err, EINVAL, "%s:%d: %s", at->path, at->line, text);
}

int ini_unknown_key(const struct ini_entry *e, const char *known, struct error *err)
{
	return ini_error(&e->at, err, "unknown key '%s' in [%s]; %sthere are: %s", e->key, e->kind,
			 did_you_mean(known, e->key), known);
}

bool ini_begins(const struct ini_entry *e, const char *kind)
{
	return !e->key && !strcmp(e->kind, kind);
}

const struct ini_entry *ini_get(const struct ini_entry *section, const char *key)
{
	while (section && (++section)->key)
		if (!strcmp(section->key, key))
			return section;
	return NULL;
}

const struct ini_entry *ini_find_var(const struct ini *ini, const char *name, size_t len)
{
	const struct ini_entry *e;

	for (e = ini->entry; e < ini->entry + ini->n; e++)
		if (e->key && !strcmp(e->kind, "vars") && !strncmp(e->key, name, len) &&
		    !e->key[len])
			return e;
	return NULL;
}

/* Adds an entry, unless the same section or key came before. */
static int ini_add(struct ini *ini, struct ini_entry e, struct error *err)
{
	size_t i;

	for (i = 0; i < ini->n; i++) {
		const struct ini_entry *was = &ini->entry[i];

		if (strcmp(was->kind, e.kind) != 0 || strcmp(was->name, e.name) != 0)
			continue;
		if (e.key && was->key && !strcmp(was->key, e.key))
			return ini_error(&e.at, err, "'%s' appears twice", e.key);
		if (!e.key && !was->key && !str_matches_any("vars matrix", e.kind))
			return ini_error(&e.at, err, "[%s%s%s] appears twice", e.kind,
					 *e.name ? " " : "", e.name);
	}
	array_add(ini->entry, ini->n, ini->cap, e);
	return 0;
}

static int ini_parse_section(struct ini *ini, struct ini_at at, char *line, struct error *err)
{
	char *end = strchr(line, ']'), *kind, *name;

	if (!end || end[1])
		return ini_error(&at, err, "a section is written [name]: '%s'", line);
	*end = '\0';
	kind = str_trim(line + 1);
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = '\0';
	return ini_add(ini, (struct ini_entry){.kind = kind, .name = str_trim(name), .at = at},
		       err);
}

static int ini_parse_key(struct ini *ini, struct ini_at at, char *line, struct error *err)
{
	const struct ini_entry *last = ini->n ? &ini->entry[ini->n - 1] : NULL;
	char *eq = strchr(line, '=');

	if (!eq || eq == line)
		return ini_error(&at, err, "neither '[section]' nor 'key = value': '%s'", line);
	if (!last)
		return ini_error(&at, err, "'%s' stands before the first [section]", line);
	*eq = '\0';
	return ini_add(ini,
		       (struct ini_entry){last->kind, last->name, str_trim(line), str_trim(eq + 1),
					  at, at.line},
		       err);
}

/* Moves the line behind the value, which ends before the line in the same text. */
static void ini_continue_value(struct ini_entry *e, const char *line, int n)
{
	char *end = (char *)e->value + strlen(e->value);

	*end = '\n';
	memmove(end + 1, line, strlen(line) + 1);
	e->last_line = n;
}

static int ini_parse_line(struct ini *ini, struct ini_at at, char *raw, struct error *err)
{
	struct ini_entry *last = ini->n ? &ini->entry[ini->n - 1] : NULL;
	bool indented = isspace((unsigned char)*raw);
	char *line = str_trim(raw);

	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (indented && last && last->key) {
		ini_continue_value(last, line, at.line);
		return 0;
	}
	return *line == '[' ? ini_parse_section(ini, at, line, err)
			    : ini_parse_key(ini, at, line, err);
}

int ini_read(struct ini *ini, const char *path, const char *text, struct error *err)
{
	char *rest, *line;
	struct ini_at at = {.path = path};
	int rc = 0;

	*ini = (struct ini){.text = xstrdup(text)};
	rest = ini->text;
	while (!rc && (line = str_token(&rest, '\n'))) {
		at.line++;
		rc = ini_parse_line(ini, at, line, err);
	}
	array_grow(ini->entry, ini->n, ini->cap);
	ini->entry[ini->n] = (struct ini_entry){.kind = "", .name = "", .at = at};
	return rc;
}

void ini_free(struct ini *ini)
{
	free(ini->text);
	free(ini->entry);
	*ini = (struct ini){0};
}
