// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/work.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *unit, *word, *rate;
} units[] = {
	{"KiB", "kib", "rate_kib"},
	{"packet", "packet", "rate_packets"},
	{"message", "message", "rate_messages"},
};

static bool has_rate(struct store *s, const struct run *runs, int n, const char *rate)
{
	int i;

	for (i = 0; i < n; i++)
		if (!isnan(figure_metric(s, &runs[i], rate)))
			return true;
	return false;
}

const char *work_unit(struct store *s, const struct run *runs, int n)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (has_rate(s, runs, n, units[i].rate))
			return units[i].unit;
	return NULL;
}

bool work_is_in(struct store *s, const struct run *runs, int n, const char *unit)
{
	const char *own = work_unit(s, runs, n);

	return own && !strcmp(own, unit);
}

const char *work_word(const char *unit)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].unit, unit))
			return units[i].word;
	return !strcmp(unit, "syscall") ? "syscall" : "unit"; /* that one on demand alone */
}

char *work_units(struct store *s, const struct run *runs, int n)
{
	struct str out = {0};
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (has_rate(s, runs, n, units[i].rate))
			str_printf(&out, "%s%s", out.len ? ", " : "", units[i].unit);
	return out.buf ? str_take(&out) : xstrdup("");
}
