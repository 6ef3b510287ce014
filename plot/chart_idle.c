// SPDX-License-Identifier: GPL-2.0-only
/* Where idle CPUs spent their time: the idle states of each side, stacked. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "plot/palette.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char stateless[] = "idle, in no state";

/* From the shallowest state on; colours of CPU time and components that no state means. */
static const uint32_t colours[] = {0x88ccee, 0x44aa99, 0x117733, 0x332288, 0xddcc77,
				   0xcc6677, 0x882255, 0xaa4499, 0x999933, 0x661100};

static bool idle_is_state(const struct table *t, size_t row)
{
	return !strcmp(table_text(t, row, "cpu"), "all") &&
	       !strcmp(table_text(t, row, "source"), "cpuidle");
}

static int idle_part(const struct figure *f, const char *state)
{
	int i;

	for (i = 0; i < f->parts.n; i++)
		if (!strcmp(f->parts.mark[i].name, state))
			return i;
	return -1;
}

static void idle_add_parts(struct figure *f, const struct table *t)
{
	size_t row;

	for (row = 0; row < t->rows; row++) {
		const char *state = table_text(t, row, "state");

		if (idle_is_state(t, row) && idle_part(f, state) < 0 &&
		    table_real(t, row, "time_pct") > 0)
			figure_part(f, state, colours[f->parts.n % (int)array_size(colours)]);
	}
	figure_part(f, stateless, 0xbbbbbb);
}

/* Returns the time in a state by /proc/stat, or NAN. */
static double idle_proc_pct(const struct table *t, const char *variant, const char *side,
			    const char *state)
{
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (!strcmp(table_text(t, row, "variant"), variant) &&
		    !strcmp(table_text(t, row, "side"), side) &&
		    !strcmp(table_text(t, row, "cpu"), "all") &&
		    !strcmp(table_text(t, row, "source"), "/proc/stat") &&
		    !strcmp(table_text(t, row, "state"), state))
			return table_real(t, row, "time_pct");
	return NAN;
}

static void idle_put_bar(struct figure *f, const struct table *t, int group, int bar)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	double rest = idle_proc_pct(t, variant, side, "idle") +
		      idle_proc_pct(t, variant, side, "iowait"),
	       known = 0;
	struct estimate e = {.lo = NAN, .hi = NAN};
	size_t row;
	int part;

	if (isnan(rest))
		return;
	for (part = 0; part < f->parts.n - 1; part++) {
		e.value = 0;
		for (row = 0; row < t->rows; row++)
			if (idle_is_state(t, row) &&
			    !strcmp(table_text(t, row, "variant"), variant) &&
			    !strcmp(table_text(t, row, "side"), side) &&
			    !strcmp(table_text(t, row, "state"), f->parts.mark[part].name))
				e.value = table_real(t, row, "time_pct");
		known += e.value;
		figure_put(f, group, bar, part, e);
	}
	e.value = fmax(0, rest - known);
	figure_put(f, group, bar, part, e);
	e.value = fmax(known, rest);
	figure_put(f, group, bar, FIGURE_WHOLE, e);
}

static int idle_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	int g, b, rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	figure_title(f, "Idle states: where the CPUs rested");
	figure_subtitle(
		f,
		"Time of a side's CPUs in each idle state, added up; 100 %% = one CPU that rests all the time");
	f->axis = "% of one CPU";
	drawing_sides(d, f, t);
	drawing_bars(d, f);
	idle_add_parts(f, t);
	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			idle_put_bar(f, t, g, b);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_idle = {
	.name = "idle",
	.what = "idle states of both sides' CPUs, stacked",
	.sources = {"idle"},
	.options = {CHART_OPTIONS CHART_RUNS "side"},
	.whole = WHOLE_IDLE,
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = idle_draw,
};
