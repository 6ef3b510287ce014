// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures over the values of one setting: a line for each variant of the plan. Without other
 * settings there is a panel for each figure; else one for each combination of the others, with the
 * cost alone. A dashed line marks where a variant begins or ceases to be better than the first.
 */
#include "plot/chart.h"

#include "analyze/figures/figures.h"
#include "analyze/scope/work.h"
#include "plot/palette.h"

#include <errno.h>

// clang-format off
#define UNIT_GAUGE(id, unit, units) {"ns_per_" unit, "CPU time, ns per " unit},
/* What is drawn, in this order. The first with rows is that of a chart of several settings. */
static const struct sweep_gauge {
	const char *metric, *label;
} gauges[] = {
	{"ns_per_kib", "CPU time, ns per KiB"},
	WORK_UNITS(UNIT_GAUGE)
	{"throughput_gbps", "throughput, Gbit/s"},
	{"roi_c", "T²/C"},
	{"roi_p", "T²/P"},
};
// clang-format on

enum { PANELS = 4 };

struct sweep_panel {
	const struct sweep_gauge *gauge;
	const char *under, *side;
	bool modelled; /* its power is */
};

/* The rows that are drawn: of one setting. */
struct sweep_rows {
	const struct sweep_row *rows, *end;
	const struct crossover_row *crossovers;
	size_t ncrossovers;
	const char *setting;
	bool numbers;
	struct sweep_panel panels[CURVES_PANELS];
	int npanels, left_out;
};

static bool sweep_has_panel(const struct sweep_rows *r, const char *metric, const char *under)
{
	return array_find(p, r->panels, r->npanels,
			  !strcmp(p->gauge->metric, metric) && !strcmp(p->under, under));
}

/* Adds a panel for each combination of the other settings. */
static void sweep_add_panels(struct sweep_rows *r, const struct sweep_gauge *g, int most)
{
	for (const struct sweep_row *row = r->rows; row < r->end; row++) {
		if (strcmp(row->setting, r->setting) || strcmp(row->metric, g->metric) ||
		    sweep_has_panel(r, g->metric, row->under))
			continue;
		if (r->npanels < most)
			r->panels[r->npanels++] =
				(struct sweep_panel){g, row->under, row->side, row->modelled};
		else
			r->left_out++;
	}
}

/* Chooses the setting: the first with numbers, else the first. --setting leaves one. */
static void sweep_choose(struct sweep_rows *r)
{
	for (const struct sweep_row *row = r->rows; row < r->end; row++) {
		bool number = !isnan(row->number);

		if (r->setting && (r->numbers || !number))
			continue;
		r->setting = row->setting;
		r->numbers = number;
	}
	for (size_t i = 0; i < array_size(gauges) && r->setting; i++) {
		sweep_add_panels(r, &gauges[i], r->npanels ? PANELS : CURVES_PANELS);
		if (r->npanels && *r->panels[r->npanels - 1].under)
			return;
	}
}

/* Returns the place of a value on the axis, or NaN. */
static double sweep_x(const struct figure *f, const char *value)
{
	for (int i = 0; i < f->curves->nticks; i++)
		if (!strcmp(f->curves->ticks[i].label, value))
			return f->curves->ticks[i].at;
	return NAN;
}

/* Adds the variants of the plan as lines, and the setting's values as ticks. */
static void sweep_put_axes(const struct sweep_rows *r, struct figure *f)
{
	for (const struct sweep_row *row = r->rows; row < r->end; row++) {
		if (strcmp(row->setting, r->setting))
			continue;
		if (figure_find_mark(&f->bars, row->variant) < 0)
			figure_bar(f, row->variant, palette_variant(f->bars.n));
		if (isnan(sweep_x(f, row->value)))
			figure_tick(f, r->numbers ? row->number : f->curves->nticks, row->value);
	}
	if (f->bars.n > FIGURE_BARS) {
		figure_remark(f, "Not in this chart: %d more variants (--variant chooses)",
			      f->bars.n - FIGURE_BARS);
		f->bars.n = FIGURE_BARS;
	}
	for (int i = 0; i < f->curves->nticks; i++)
		f->curves->log_x |= r->numbers && f->curves->ticks[0].at > 0 &&
				    f->curves->ticks[i].at >= 8 * f->curves->ticks[0].at;
}

/* On a linear axis the small ones of such values, and their differences, could not be seen. */
#define LOG_FROM 3

static void sweep_choose_axis(struct figure *f, int panel)
{
	double least = INFINITY, most = 0, v;

	for (int i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];

		for (size_t k = 0; k < c->n && (c->panel == panel); k++) {
			v = c->points[k].y.value;
			least = fmin(least, v);
			most = fmax(most, v);
		}
	}
	if (least > 0 && most >= LOG_FROM * least)
		f->curves->log_y |= 1u << panel;
}

static void sweep_put_curve(const struct sweep_rows *r, struct figure *f,
			    const struct sweep_panel *p, int panel, int line)
{
	int curve = figure_curve(f, panel, line, p->gauge->metric, false);

	for (const struct sweep_row *row = r->rows; row < r->end; row++)
		if (!strcmp(row->setting, r->setting) && !strcmp(row->metric, p->gauge->metric) &&
		    !strcmp(row->under, p->under) && !strcmp(row->side, p->side) &&
		    !strcmp(row->variant, f->bars.mark[line].name))
			figure_point(f, curve, sweep_x(f, row->value), row->estimate);
}

/* Returns the crossover of the panel for the line, or NULL. */
static const struct crossover_row *sweep_crossover(const struct sweep_rows *r,
						   const struct sweep_panel *p, const char *variant)
{
	for (size_t i = 0; i < r->ncrossovers; i++) {
		const struct crossover_row *c = &r->crossovers[i];

		if (!strcmp(c->setting, r->setting) && !strcmp(c->metric, p->gauge->metric) &&
		    !strcmp(c->under, p->under) && !strcmp(c->new, variant))
			return c;
	}
	return NULL;
}

static void sweep_put_mark(const struct sweep_rows *r, struct figure *f,
			   const struct sweep_panel *p, int panel, int line)
{
	const struct crossover_row *c = sweep_crossover(r, p, f->bars.mark[line].name);

	if (c && !isnan(c->at.value))
		figure_mark(f, panel, c->at.value, c->at.lo, c->at.hi, c->at_words);
}

static void sweep_put_panels(const struct sweep_rows *r, struct figure *f)
{
	for (int i = 0; i < r->npanels; i++) {
		const struct sweep_panel *p = &r->panels[i];

		figure_group(f, *p->under ? p->under
					  : figure_text(f, "%s: %s%s", p->side, p->gauge->label,
							p->modelled ? ", power modelled" : ""));
		for (int line = 0; line < f->bars.n; line++) {
			sweep_put_curve(r, f, p, i, line);
			sweep_put_mark(r, f, p, i, line);
		}
		sweep_choose_axis(f, i);
	}
}

/* Returns whether the line copied under every value at which it is drawn. */
static bool sweep_line_copied(const struct drawing *d, const char *variant)
{
	autofree char *prefix = xasprintf("%s+", variant);
	bool copied = true;
	const char *v;

	for (int i = 0; (v = drawing_variant(d, i)); i++)
		if (str_starts(v, prefix) &&
		    copied_state(&d->zerocopy, v, drawing_copied_side(d)) != COPIED_ALL &&
		    copied_state(&d->zerocopy, v, drawing_copied_side(d)) != COPIED_UNKNOWN)
			copied = false;
	return copied;
}

/* Claims the first crossover of the first panel, of a cost, whose interval ends at both sides. */
static void sweep_claim(const struct drawing *d, const struct sweep_rows *r, struct figure *f)
{
	const struct sweep_panel *p = &r->panels[0];

	for (int line = 0; line < f->bars.n && !*p->under; line++) {
		const char *name = f->bars.mark[line].name;
		const struct crossover_row *c = sweep_crossover(r, p, name);

		if (!c || !str_starts(c->metric, "ns_per_") || sweep_line_copied(d, name))
			continue;
		if (!strcmp(c->kind, crossover_words[CROSSOVER_BEGINS]) && !isnan(c->at.hi))
			f->title = figure_text(
				f, "%s costs less CPU time than %s from %s = %s on (95 %%: %s)",
				name, c->base, r->setting, c->at_words, c->range_words);
		else if (!strcmp(c->kind, crossover_words[CROSSOVER_ALWAYS]))
			f->title = figure_text(
				f, "%s costs less CPU time than %s at every %s%s", name, c->base,
				c->values < f->curves->nticks ? "compared " : "", r->setting);
		else
			continue;
		return;
	}
}

static void sweep_put_words(const struct drawing *d, const struct sweep_rows *r, struct figure *f)
{
	const struct sweep_panel *p = &r->panels[0];

	f->title = figure_text(f, "%s over %s", *p->under ? p->gauge->label : "Cost and throughput",
			       r->setting);
	f->subtitle = figure_text(
		f, "%s%s: %s of the runs%s",
		!strcmp(p->side, "total") ? "All sides together" : p->side,
		*p->under ? ", a panel for each combination of the other settings" : "",
		drawing_estimator(d),
		f->curves->nmarks
			? "; dashed: the lines cross; grey: the 95 % interval of the crossing"
			: "");
	f->group_word = "panel";
	if (r->left_out)
		figure_remark(
			f, "No room for %d more combination%s of settings; --variant chooses some",
			r->left_out, r->left_out == 1 ? "" : "s");
}

static int sweep_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	const struct table *crossovers = t->detail;
	struct sweep_rows r = {.rows = table_structs(t, struct sweep_row)};

	r.end = r.rows + t->rows;
	if (crossovers) {
		r.crossovers = table_structs(crossovers, struct crossover_row);
		r.ncrossovers = crossovers->rows;
	}

	f->remarks =
		NULL; /* on variants with settings, which no line has; warnings of copying stay */
	sweep_choose(&r);
	if (!r.npanels)
		return error_set(err, ENODATA,
				 "no variant has a cost or a throughput over a setting");
	figure_curves(f, arena_strdup(&f->arena, r.setting), "metric");
	sweep_put_axes(&r, f);
	sweep_put_panels(&r, f);
	sweep_put_words(d, &r, f);
	sweep_claim(d, &r, f);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_sweep = {
	.name = "sweep",
	.what = "figures over the values of a setting, and where zero copy begins to pay",
	.sources = {"sweep"},
	.options = {CHART_OPTIONS CHART_RUNS
		    "workload-only side setting power-model power-kind roi-n roi-m"},
	.most = 1000,
	.draw = sweep_draw,
};
