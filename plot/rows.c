// SPDX-License-Identifier: GPL-2.0-only
#include "plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct estimate row_estimate(const struct table *t, size_t row, const char *column)
{
	const struct interval i = table_interval(t, row, column);
	const double runs = table_real(t, row, "runs");
	struct estimate e = {.value = table_real(t, row, column), .lo = i.low, .hi = i.high};

	e.n = runs > 0 ? (size_t)runs : 0;
	if (isnan(i.half))
		return e;
	e.hi = e.value + i.half;
	e.lo = fmax(e.value - i.half, 0);
	return e;
}

long row_find(const struct table *t, size_t from, const char *variant, const char *side)
{
	for (; from < t->rows; from++)
		if ((!variant || !strcmp(table_text(t, from, "variant"), variant)) &&
		    (!side || !strcmp(table_text(t, from, "side"), side)))
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
