// SPDX-License-Identifier: GPL-2.0-only
#include "capture/ini.h"

#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Calls the handler for a value only at the next key, section or end, when no line continues it. */
struct ini_parser {
	const struct ini_handler *h;
	void *ctx;
	struct ini_at at;
	struct ini_at key_at;
	const char *key;
	struct str value;
	bool in_section;
};

int ini_error(const struct ini_at *at, struct error *err, const char *fmt, ...)
{
	char text[768];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(err, EINVAL, "%s:%d: %s", at->path, at->line, text);
}

static int ini_flush_key(struct ini_parser *p, struct error *err)
{
	int rc;

	if (!p->key)
		return 0;
	rc = p->h->key(p->ctx, &p->key_at, p->key, p->value.buf, err);
	p->key = NULL;
	str_reset(&p->value);
	return rc;
}

static int ini_parse_section(struct ini_parser *p, char *line, struct error *err)
{
	char *end = strchr(line, ']'), *kind, *name;

	if (!end || end[1])
		return ini_error(&p->at, err, "a section is written [name]: '%s'", line);
	*end = '\0';
	kind = str_trim(line + 1);
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = '\0';
	p->in_section = true;
	return p->h->section(p->ctx, &p->at, kind, str_trim(name), err);
}

static int ini_parse_key(struct ini_parser *p, char *line, struct error *err)
{
	char *eq = strchr(line, '=');

	if (!eq || eq == line)
		return ini_error(&p->at, err, "neither '[section]' nor 'key = value': '%s'", line);
	if (!p->in_section)
		return ini_error(&p->at, err, "'%s' stands before the first [section]", line);
	*eq = '\0';
	p->key = str_trim(line);
	p->key_at = p->at;
	str_puts(&p->value, str_trim(eq + 1));
	return 0;
}

static int ini_parse_line(struct ini_parser *p, char *raw, struct error *err)
{
	bool indented = isspace((unsigned char)*raw);
	char *line = str_trim(raw);
	int rc;

	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (indented && p->key) {
		str_putc(&p->value, '\n');
		str_puts(&p->value, line);
		return 0;
	}
	rc = ini_flush_key(p, err);
	if (rc)
		return rc;
	return *line == '[' ? ini_parse_section(p, line, err) : ini_parse_key(p, line, err);
}

int ini_parse(const char *path, char *text, const struct ini_handler *h, void *ctx,
	      struct error *err)
{
	struct ini_parser p = {.h = h, .ctx = ctx, .at = {.path = path}};
	char *rest = text, *line;
	int rc = 0;

	while (!rc && (line = str_token(&rest, '\n'))) {
		p.at.line++;
		rc = ini_parse_line(&p, line, err);
	}
	if (!rc)
		rc = ini_flush_key(&p, err);
	str_free(&p.value);
	return rc;
}
