// SPDX-License-Identifier: GPL-2.0-only
#include "capture/vars.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *vars_get(const struct vars *v, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (strlen(v->var[i].name) == len && !memcmp(v->var[i].name, name, len))
			return v->var[i].value;
	return NULL;
}

void vars_set(struct vars *v, const char *name, const char *value)
{
	array_grow(v->var, v->n, v->cap);
	v->var[v->n++] = (struct var){.name = xstrdup(name), .value = xstrdup(value)};
}

static int unknown(const struct vars *v, const char *name, size_t len, struct error *err)
{
	struct str known = {0};
	size_t i;

	for (i = 0; i < v->n; i++)
		str_printf(&known, " ${%s}", v->var[i].name);
	error_set(err, EINVAL, "unknown variable ${%.*s}; known here:%s; [vars] adds more",
		  (int)len, name, known.buf ? known.buf : " none");
	str_free(&known);
	return -EINVAL;
}

/* `p` stands on "${"; returns behind the closing brace, NULL after an error. */
static const char *expand_one(const struct vars *v, const char *p, struct str *out,
			      struct error *err)
{
	const char *name = p + 2, *end = strchr(name, '}'), *value;

	if (!end) {
		error_set(err, EINVAL, "${ without }: '%s'", p);
		return NULL;
	}
	value = vars_get(v, name, (size_t)(end - name));
	if (!value) {
		unknown(v, name, (size_t)(end - name), err);
		return NULL;
	}
	str_puts(out, value);
	return end + 1;
}

int vars_expand(const struct vars *v, const char *text, char **out, struct error *err)
{
	struct str s = {0};
	const char *p = text;

	while (p && *p) {
		if (str_starts(p, "$${")) {
			str_puts(&s, "${");
			p += 3;
		} else if (str_starts(p, "${")) {
			p = expand_one(v, p, &s, err);
		} else {
			str_putc(&s, *p++);
		}
	}
	if (!p) {
		str_free(&s);
		return -EINVAL;
	}
	*out = str_take(&s);
	return 0;
}

void vars_free(struct vars *v)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		free(v->var[i].name);
		free(v->var[i].value);
	}
	free(v->var);
	*v = (struct vars){0};
}
