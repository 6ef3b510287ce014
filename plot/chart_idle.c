// SPDX-License-Identifier: GPL-2.0-only
/* Where idle CPUs spent their time: the idle states of each side, stacked. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "plot/palette.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char stateless[] = "idle outside the states";

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

/* Returns the time of a side's CPUs in a state, by /proc/stat or cpuidle. */
static struct estimate idle_time(const struct table *t, const char *variant, const char *side,
				 const char *source, const char *state)
{
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (!strcmp(table_text(t, row, "variant"), variant) &&
		    !strcmp(table_text(t, row, "side"), side) &&
		    !strcmp(table_text(t, row, "cpu"), "all") &&
		    !strcmp(table_text(t, row, "source"), source) &&
		    !strcmp(table_text(t, row, "state"), state))
			return row_estimate(t, row, "time_pct");
	return (struct estimate){NAN, NAN, NAN, NAN, 0, 0};
}

/* Returns a - b, or 0 where they differ by the rounding of sums alone. */
static double idle_difference(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(a) ? 0 : a - b;
}

/*
 * Returns the time that was idle or iowait. Time that is not busy has the interval of busy time the
 * other way round.
 */
static struct estimate idle_rest(const struct table *t, const char *variant, const char *side)
{
	struct estimate busy = idle_time(t, variant, side, "/proc/stat", "busy");
	struct estimate rest = idle_time(t, variant, side, "/proc/stat", "idle");

	rest.value += idle_time(t, variant, side, "/proc/stat", "iowait").value;
	rest.lo = rest.value + idle_difference(busy.value, busy.hi);
	rest.hi = rest.value + idle_difference(busy.value, busy.lo);
	rest.lo = rest.lo < 0 ? 0 : rest.lo;
	return rest;
}

static void idle_put_bar(struct figure *f, const struct table *t, int group, int bar)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	struct estimate rest = idle_rest(t, variant, side), most = {0}, e;
	double known = 0;
	int part;

	if (isnan(rest.value))
		return;
	for (part = 0; part < f->parts.n - 1; part++) {
		e = idle_time(t, variant, side, "cpuidle", f->parts.mark[part].name);
		e.value = isnan(e.value) ? 0 : e.value; /* never in this state */
		most = e.value > most.value ? e : most;
		known += e.value;
		e.lo = e.hi = NAN; /* the whole bar has the whisker */
		figure_put(f, group, bar, part, e);
	}
	e = (struct estimate){.value = fmax(0, rest.value - known), .lo = NAN, .hi = NAN};
	figure_put(f, group, bar, part, e);
	if (known > rest.value) { /* cpuidle counts a little more than /proc/stat */
		rest = most;
		rest.value = known;
		if (known > most.value)
			rest.lo = rest.hi = NAN;
	}
	figure_put(f, group, bar, FIGURE_WHOLE, rest);
}

static int idle_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	int g, b, rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	f->title = figure_text(f, "How long the CPUs were idle, and in which idle state");
	f->subtitle = figure_text(
		f,
		"100 %% = one CPU idle all the time; the CPUs of a side added up; deeper states save more power");
	f->axis = "% of one CPU";
	f->least = 100; /* a fraction of a percent would fill the chart with its noise */
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
	.flags = CHART_OF_SIDES | CHART_SUFFERS,
	.draw = idle_draw,
};
