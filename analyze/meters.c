// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/meters.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "power_csv";

static bool has_side(const struct layout *l, const char *side)
{
	size_t i;

	for (i = 0; i < l->nentries; i++)
		if (!strcmp(l->entries[i].side ? l->entries[i].side : "local", side))
			return true;
	return false;
}

static void list_sides(const struct layout *l, struct str *s)
{
	size_t i;

	for (i = 0; i < l->nentries; i++) {
		const char *side = l->entries[i].side ? l->entries[i].side : "local";

		if (!s->buf || !strstr(s->buf, side))
			str_printf(s, "%s%s", s->len ? " " : "", side);
	}
}

int meters_check(const struct analysis *a, const struct layout *l, struct error *err)
{
	struct str sides = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < a->nmeters && !rc; i++) {
		const struct meter *m = &a->meters[i];

		if (!m->side || !l->nentries || has_side(l, m->side))
			continue;
		list_sides(l, &sides);
		rc = error_set(err, EINVAL,
			       "--power-csv %s=%s: the capture has no side '%s', only: %s", m->side,
			       m->path, m->side, sides.buf);
		str_free(&sides);
	}
	return rc;
}

char *meters_remembered(const char *capture)
{
	struct store *old;
	const char *value;
	char *copy;

	if (store_open(&old, capture, NULL))
		return NULL;
	value = store_capture_value(old, key);
	copy = value ? xstrdup(value) : NULL;
	store_close(old);
	return copy;
}

int meters_remember(const struct analysis *a, struct store *s, struct error *err)
{
	struct str text = {0};
	size_t i;
	int rc;

	for (i = 0; i < a->nmeters; i++)
		str_printf(&text, "%s--power-csv %s%s%s", i ? " " : "",
			   a->meters[i].side ? a->meters[i].side : "", a->meters[i].side ? "=" : "",
			   a->meters[i].path);
	rc = text.len ? store_capture_put(s, key, text.buf, err) : 0;
	str_free(&text);
	return rc;
}
