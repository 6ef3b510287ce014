// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char key[] = "power_csv";

static bool layout_has_side(const struct layout *l, const char *side)
{
	size_t i;

	for (i = 0; i < l->nentries; i++)
		if (!strcmp(l->entries[i].side ? l->entries[i].side : "local", side))
			return true;
	return false;
}

static void layout_list_sides(const struct layout *l, struct str *s)
{
	size_t i;

	for (i = 0; i < l->nentries; i++) {
		const char *side = l->entries[i].side ? l->entries[i].side : "local";

		if (!s->buf || !strstr(s->buf, side))
			str_printf(s, "%s%s", s->len ? " " : "", side);
	}
}

/* Returns whether a run has a log that the collector copied. */
static bool layout_has_log(const struct layout *l)
{
	bool found = false;
	size_t i;

	for (i = 0; i < l->nentries && !found; i++) {
		char *path = xasprintf("%s/power.csv", l->entries[i].dir);

		found = path_exists(path);
		free(path);
	}
	return found;
}

/* Refuses the side that an option names, such as --power-csv SIDE=FILE, if no run has it. */
static int layout_require_side(const struct layout *l, const char *option, const char *side,
			       const char *value, struct error *err)
{
	struct str sides = {0};
	int rc;

	if (!l->nentries || layout_has_side(l, side))
		return 0;
	layout_list_sides(l, &sides);
	rc = error_set(err, EINVAL, "%s %s=%s: the capture has no side '%s', only: %s", option,
		       side, value, side, sides.buf);
	str_free(&sides);
	return rc;
}

static int meter_check(const struct meter *m, const struct layout *l, struct error *err)
{
	if (!m->path && !layout_has_log(l))
		return error_set(
			err, EINVAL,
			"the capture has no log of a meter; give --power-csv FILE before --offset and --power-kind");
	return m->side ? layout_require_side(l, "--power-csv", m->side, m->path, err) : 0;
}

/* Checks the sides of the lines SIDE=ADAPTER. */
static int units_check_sides(const char *units, const struct layout *l, struct error *err)
{
	char *copy = xstrdup(units), *rest = copy, *line;
	int rc = 0;

	while (!rc && (line = str_token(&rest, '\n'))) {
		const char *side = str_token(&line, '=');

		if (*side)
			rc = layout_require_side(l, "--units", side, line, err);
	}
	free(copy);
	return rc;
}

int meters_check(const struct analysis *a, const struct layout *l, struct error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < a->nmeters && !rc; i++)
		rc = meter_check(&a->meters[i], l, err);
	return rc || !a->units ? rc : units_check_sides(a->units, l, err);
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
	if (store_close(old, 0, NULL)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}
