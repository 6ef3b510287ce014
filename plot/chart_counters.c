// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the counters count per unit of work, of each variant in percent of the base: cycles,
 * instructions, misses, context switches, system calls, joules.
 */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "plot/label.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long counters_row(const struct table *t, const char *variant, const char *side,
			 const char *score)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && strcmp(table_text(t, (size_t)row, "score"), score))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row;
}

static void counters_put_bar(struct figure *f, const struct table *t, int group, int bar,
			     const struct estimate *base, const char *side, const char *score)
{
	long row = counters_row(t, f->bars.mark[bar].name, side, score);
	struct estimate e;
	char absolute[32];

	if (row < 0)
		return;
	e = row_estimate(t, (size_t)row, "value");
	snprintf(absolute, sizeof(absolute), "%.10g", e.value);
	e = estimate_times(e, 100 / base->value);
	if (!isnan(e.value))
		figure_put_noted(f, group, bar, e, absolute);
}

/* Labels a group "receiver: context switches, 1/MiB" for the score context_switches_per_mib. */
static void counters_label(struct figure *f, int group, const char *side, const char *score,
			   const char *unit)
{
	const char *per = strstr(score, "_per_");
	int len = per ? (int)(per - score) : (int)strlen(score);
	char *label = str_starts(score, "ns_per_") ? xasprintf("%s: CPU time, %s", side, unit)
		      : str_starts(score, "j_per_")
			      ? xasprintf("%s: energy, %s", side, unit)
			      : xasprintf("%s: %.*s, %s", side, len, score, unit);
	char *c;

	for (c = label + strlen(side); (c = strchr(c, '_'));)
		*c = ' ';
	f->groups.mark[group].label = label_clean(&f->arena, label);
	free(label);
}

/*
 * Adds a group for each score of a side that the base has; a total only where --side asks for it.
 * Returns the number of those without room.
 */
static int counters_put_groups(const struct drawing *d, struct figure *f, const struct table *t)
{
	size_t row, most = drawing_most_groups(d, f);
	int group, bar, left_out = 0;

	for (row = 0; row < t->rows; row++) {
		const char *side = table_text(t, row, "side"), *score = table_text(t, row, "score");
		struct estimate base = row_estimate(t, row, "value");
		char *label;

		if (strcmp(table_text(t, row, "variant"), f->bars.mark[0].name) ||
		    !(base.value > 0) || (!strcmp(side, "total") && !d->side))
			continue;
		if ((size_t)f->groups.n == most) {
			left_out++;
			continue;
		}
		label = xasprintf("%s: %s", side, score);
		group = figure_group(f, label);
		free(label);
		counters_label(f, group, side, score, table_text(t, row, "unit"));
		for (bar = 0; bar < f->bars.n; bar++)
			counters_put_bar(f, t, group, bar, &base, side, score);
	}
	return left_out;
}

enum { COUNTERS_CUT = 300, COUNTERS_LONG = 500 }; /* percent of the base */

/* Cuts long bars, beside which no other bar could be read. */
static void counters_cut_bars(struct figure *f)
{
	struct estimate e;
	int g, b;

	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			if (figure_get(f, g, b, FIGURE_WHOLE, &e) && e.value > COUNTERS_LONG)
				f->cut = COUNTERS_CUT;
}

static int counters_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	int left_out, rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	drawing_bars(d, f);
	left_out = counters_put_groups(d, f, t);
	if (!f->groups.n)
		return error_set(err, ENODATA,
				 "%s has no score above 0; 'zcost report scores' says why",
				 d->base);
	f->title = figure_text(f, "Counters per unit of work, in percent of %s",
			       drawing_title(d, f, f->bars.mark[0].name));
	f->subtitle = figure_text(
		f, "%s the variant's own interval, in percent of the base's %s",
		figure_has_many(f) ? "Whiskers:" : "Beside each bar the figure itself; whiskers:",
		d->facts.estimator ? d->facts.estimator : "median");
	f->axis = "% of the base";
	f->group_word = "counter";
	f->note_word = "score";
	f->note_unit = "";
	f->lying = true;
	counters_cut_bars(f);
	if (left_out)
		figure_remark(f, "No room for %d more; --limit and --side choose", left_out);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_counters = {
	.name = "counters",
	.what = "cycles, instructions, misses, switches and calls per unit of work, against the base",
	.sources = {"scores"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side limit power-model power-kind"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES | CHART_SUFFERS,
	.draw = counters_draw,
};
