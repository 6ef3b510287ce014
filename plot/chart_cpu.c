// SPDX-License-Identifier: GPL-2.0-only
/* CPU use of each side, stacked as the system accounts for it. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "plot/palette.h"

#include <math.h>

/*
 * The parts of busy time; idle and iowait are not busy. User time is that of all programs on these
 * CPUs, not only of the workload.
 */
static const struct {
	const char *column, *label, *colour;
} parts[] = {
	{"app_pct", "user", "user time"},   {"sys_pct", "system", "system"},
	{"soft_pct", "softirq", "softirq"}, {"irq_pct", "hardirq", "hardirq"},
	{"steal_pct", "stolen", "stolen"},
};

static bool cpu_column_is_known(const struct table *t, const char *column)
{
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (!isnan(table_real(t, row, column)))
			return true;
	return false;
}

static void cpu_put_bar(struct figure *f, const struct table *t, size_t row, int group, int bar)
{
	struct estimate whole = row_estimate(t, row, "busy_pct"), e;
	size_t i;
	int place = 0;

	for (i = 0; i < array_size(parts); i++) {
		if (!cpu_column_is_known(t, parts[i].column))
			continue;
		e = (struct estimate){table_real(t, row, parts[i].column), NAN, NAN, NAN, 0, 0};
		if (!isnan(e.value))
			figure_put(f, group, bar, place, e);
		place++;
	}
	if (!isnan(whole.value))
		figure_put(f, group, bar, FIGURE_WHOLE, whole);
}

/* Returns whether the parts add up to the whole. Medians of noisy runs do not. */
static bool cpu_parts_add_up(const struct figure *f)
{
	struct estimate e, whole;
	int g, b, p;

	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			double sum = 0;

			for (p = 0; p < f->parts.n && figure_get(f, g, b, p, &e); p++)
				sum += e.value;
			if (p == f->parts.n && figure_get(f, g, b, FIGURE_WHOLE, &whole) &&
			    fabs(sum - whole.value) > 0.005 * whole.value)
				return false;
		}
	}
	return true;
}

/* Draws the workload alone. Table roi has its CPU use with the interval, and the total. */
static int cpu_draw_workload(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	struct estimate e;
	int g, b, rc = drawing_table(d, 1, &t, err);
	long row;

	if (rc)
		return rc;
	f->title = figure_text(f, "CPU use of the workload");
	f->subtitle = figure_text(
		f,
		"CPU time of its processes, on any CPU; 100 %% = one CPU; lower is better at the same throughput");
	f->axis = "% of one CPU";
	drawing_sides(d, f, t);
	drawing_bars(d, f);
	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			row = row_find(t, 0, drawing_variant(d, b), f->groups.mark[g].name);
			if (row < 0)
				continue;
			e = row_estimate(t, (size_t)row, "cpu_pct");
			if (!isnan(e.value))
				figure_put(f, g, b, FIGURE_WHOLE, e);
		}
	}
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

static int cpu_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	int i, g, b, rc;
	long row;

	if (d->query.workload_only)
		return cpu_draw_workload(d, f, err);
	rc = drawing_table(d, 0, &t, err);
	if (rc)
		return rc;
	f->title = figure_text(f, "CPU use: user, system and softirq");
	f->subtitle = figure_text(
		f,
		"All CPUs of a side added up, with all programs on them; 100 %% = one CPU; lower is better at the same throughput");
	f->axis = "% of one CPU";
	drawing_sides(d, f, t);
	drawing_bars(d, f);
	for (i = 0; i < (int)array_size(parts); i++)
		if (cpu_column_is_known(t, parts[i].column))
			figure_part(f, parts[i].label, palette_part(parts[i].colour));
	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			row = row_find(t, 0, drawing_variant(d, b), f->groups.mark[g].name);
			if (row >= 0)
				cpu_put_bar(f, t, (size_t)row, g, b);
		}
	}
	drawing_foot(d, f, FROM_MEASURED);
	if (!cpu_parts_add_up(f))
		f->foot = figure_text(
			f, "Each part is a %s, so the parts do not add up to the whole · %s",
			d->facts.estimator ? d->facts.estimator : "median", f->foot);
	return 0;
}

const struct chart chart_cpu = {
	.name = "cpu",
	.what = "CPU use of both sides, stacked: user, system, softirq",
	.sources = {"cpu", "roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = cpu_draw,
};
