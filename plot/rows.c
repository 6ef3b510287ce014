// SPDX-License-Identifier: GPL-2.0-only
#include "plot/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double row_real(const struct table *t, size_t row, const char *column)
{
	int c = table_column(t, column);
	const struct value *v = c < 0 ? NULL : table_cell(t, row, c);

	if (!v || v->type == V_NONE || v->type == V_STR)
		return NAN;
	return v->type == V_INT ? (double)v->integer : v->real;
}

const char *row_text(const struct table *t, size_t row, const char *column)
{
	int c = table_column(t, column);
	const struct value *v = c < 0 ? NULL : table_cell(t, row, c);

	return v && v->type == V_STR ? v->str : "";
}

static double bound(const struct table *t, size_t row, const char *value, const char *short_name,
		    const char *which)
{
	char name[96];

	snprintf(name, sizeof(name), "%s_%s", value, which);
	if (table_column(t, name) < 0)
		snprintf(name, sizeof(name), "%s_%s", short_name, which);
	return row_real(t, row, name);
}

static size_t row_runs(const struct table *t, size_t row)
{
	double n = row_real(t, row, "runs");

	return n > 0 ? (size_t)n : 0;
}

struct estimate row_estimate(const struct table *t, size_t row, const char *value,
			     const char *short_name)
{
	return (struct estimate){.value = row_real(t, row, value),
				 .lo = bound(t, row, value, short_name, "lo"),
				 .hi = bound(t, row, value, short_name, "hi"),
				 .n = row_runs(t, row)};
}

struct estimate row_estimate_ci(const struct table *t, size_t row, const char *value)
{
	struct estimate e = {.value = row_real(t, row, value), .n = row_runs(t, row)};
	double ci = bound(t, row, value, value, "ci");

	e.hi = e.value + ci;
	e.lo = e.value - ci;
	e.lo = e.lo < 0 ? 0 : e.lo;
	return e;
}

long row_find(const struct table *t, size_t from, const char *variant, const char *side)
{
	for (; from < t->rows; from++)
		if ((!variant || !strcmp(row_text(t, from, "variant"), variant)) &&
		    (!side || !strcmp(row_text(t, from, "side"), side)))
			return (long)from;
	return -1;
}

const char *row_unit(const struct table *t, const char *column)
{
	int c = table_column(t, column);
	const char *unit = c < 0 ? NULL : t->columns[c].unit;

	unit = unit ? strchr(unit, '/') : NULL;
	return unit ? unit + 1 : "KiB";
}
