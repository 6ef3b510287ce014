// SPDX-License-Identifier: GPL-2.0-only
/* What a unit of work costs on each side, stacked by component. */
#include "plot/chart.h"

#include "analyze/costs/costs.h"
#include "lib/alloc.h"
#include "plot/palette.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int components_by_order(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	int d = palette_order(*x) - palette_order(*y);

	return d ? d : strcmp(*x, *y);
}

/* Nobody can tell more colours apart; the components beyond that are one part. */
enum { PARTS = 10 };
static const char rest[] = "the rest";

/* The components that zero copy changes have their colour even where they are small. */
static bool component_is_central(const char *name)
{
	return !strcmp(name, "data copy") || !strcmp(name, "page mapping") ||
	       !strcmp(name, "zero copy");
}

struct component {
	const char *name;
	double most;
};

static int components_by_cost(const void *a, const void *b)
{
	const struct component *x = a, *y = b;
	bool p = component_is_central(x->name), q = component_is_central(y->name);

	if (p != q)
		return p ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Returns whether the row belongs to a bar that is drawn. */
static bool component_is_drawn(const struct figure *f, const struct table *t, size_t row)
{
	int i;

	for (i = 0; i < f->bars.n; i++)
		if (!strcmp(f->bars.mark[i].name, table_text(t, row, "variant")))
			return table_real(t, row, "self_ns") > 0;
	return false;
}

static size_t components_gather(const struct figure *f, const struct table *t,
				struct component *all)
{
	size_t row, i, n = 0;

	for (row = 0; row < t->rows; row++) {
		const char *name = table_text(t, row, "component");

		if (!component_is_drawn(f, t, row))
			continue;
		for (i = 0; i < n && strcmp(all[i].name, name); i++)
			;
		if (i == n)
			all[n++] = (struct component){name, 0};
		all[i].most = fmax(all[i].most, table_real(t, row, "self_ns"));
	}
	return n;
}

/* Adds the components that cost most in any bar, in the palette's order, and the others as one. */
static void components_add_parts(struct figure *f, const struct table *t)
{
	struct component *all = xcalloc(t->rows + 1, sizeof(*all));
	size_t i, n = components_gather(f, t, all), kept = n > PARTS + 1 ? PARTS : n;
	const char *names[PARTS + 1];
	char *label;

	if (n)
		qsort(all, n, sizeof(*all), components_by_cost);
	for (i = 0; i < kept; i++)
		names[i] = all[i].name;
	if (kept)
		qsort(names, kept, sizeof(*names), components_by_order);
	for (i = 0; i < kept; i++)
		figure_part(f, names[i], palette_part(names[i]));
	if (kept < n) {
		label = xasprintf("%s (%zu)", rest, n - kept);
		i = (size_t)figure_part(f, rest, palette_part(rest));
		f->parts.mark[i].label = arena_strdup(&f->arena, label);
		free(label);
	}
	free(all);
}

static long components_find_row(const struct table *t, const char *variant, const char *side,
				const char *component)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && strcmp(table_text(t, (size_t)row, "component"), component))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row;
}

static bool figure_has_part(const struct figure *f, const char *label)
{
	int i;

	for (i = 0; i < f->parts.n; i++)
		if (!strcmp(f->parts.mark[i].name, label))
			return true;
	return false;
}

/* Returns the sum of the components that have no part; the interval of a sum is not known. */
static struct estimate components_rest(const struct figure *f, const struct table *t,
				       const char *variant, const char *side)
{
	struct estimate e = {.value = 0, .lo = NAN, .hi = NAN};
	long row;

	for (row = row_find(t, 0, variant, side); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, side))
		if (table_real(t, (size_t)row, "self_ns") > 0 &&
		    !figure_has_part(f, table_text(t, (size_t)row, "component")))
			e.value += table_real(t, (size_t)row, "self_ns");
	e.value = e.value > 0 ? e.value : NAN;
	return e;
}

/* Returns what the summary says that a unit of work costs on a side; NULL: nothing. */
static struct estimate components_measured(const struct table *summary, const char *unit,
					   const char *variant, const char *side)
{
	struct estimate e = {.value = NAN, .lo = NAN, .hi = NAN};
	char *column = xasprintf("ns_per_%s", unit), *p;
	long row = summary ? row_find(summary, 0, variant, side) : -1;

	for (p = column; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (row >= 0)
		e = row_estimate(summary, (size_t)row, column);
	free(column);
	return e;
}

/*
 * The components add up to what a unit of work costs in all. That sum has the interval of the
 * measured runs, unless a selection left some of it out.
 */
static void components_put_bar(struct figure *f, const struct table *t, const struct table *summary,
			       const char *unit, int group, int bar)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	struct estimate whole = {.lo = NAN, .hi = NAN}, e;
	int p;

	for (p = 0; p < f->parts.n; p++) {
		const char *name = f->parts.mark[p].name;
		long row = components_find_row(t, variant, side, name);

		if (!strcmp(name, rest))
			e = components_rest(f, t, variant, side);
		else if (row >= 0)
			e = row_profiled(t, (size_t)row, "self_ns");
		else
			continue;
		if (isnan(e.value))
			continue;
		figure_put(f, group, bar, p, e);
		whole.value += e.value;
	}
	e = components_measured(summary, unit, variant, side);
	if (fabs(e.value - whole.value) <= 1e-3 * whole.value) {
		whole.lo = e.lo;
		whole.hi = e.hi;
	}
	if (whole.value > 0)
		figure_put(f, group, bar, FIGURE_WHOLE, whole);
}

/* Returns whether compare says that the total cost changes. */
static bool components_total_holds(struct drawing *d, const struct table *summary, const char *unit,
				   const char *side, int from, int b)
{
	char *metric = xasprintf("ns_per_%s", work_word(unit));
	double ratio = drawing_claim(
		d, b,
		&(struct drawn_change){
			"metrics", side, metric,
			components_measured(summary, unit, drawing_variant(d, from), side).value,
			components_measured(summary, unit, drawing_variant(d, b), side).value});

	free(metric);
	return ratio > 0;
}

/* Appends ", in all 65.0 → 33.0" to the claim about data copy. */
static void components_claim_total(struct figure *f, int g, int from, int b)
{
	struct estimate base, new;

	if (figure_get(f, g, from, FIGURE_WHOLE, &base) && figure_get(f, g, b, FIGURE_WHOLE, &new))
		f->title =
			figure_text(f, "%s, in all %.*f → %.*f", f->title, claim_places(base.value),
				    base.value, claim_places(new.value), new.value);
}

/* Claims the saving of one bar if it is better than the best one so far. */
static void components_claim_bar(struct drawing *d, struct figure *f, const struct table *summary,
				 const char *unit, int p, int g, int b, double *best)
{
	const struct figure_mark *side = &f->groups.mark[g];
	int from = drawing_base_of(d, b);
	bool several = drawing_bases(d) > 1;
	struct estimate base, new;
	double ratio;

	if (copied_state(&d->zerocopy, drawing_variant(d, b), side->name) != COPIED_NONE ||
	    !figure_get(f, g, from, p, &base) || !figure_get(f, g, b, p, &new))
		return;
	ratio = drawing_claim(d, b,
			      &(struct drawn_change){"components", side->name, "data copy",
						     base.value, new.value});
	if (ratio <= 0 || ratio >= *best)
		return;
	*best = ratio;
	f->title = figure_text(
		f, "%s%s%s, %s: data copy %.*f → %.*f ns per %s",
		drawing_title(d, f, drawing_variant(d, b)), several ? " against " : "",
		several ? drawing_title(d, f, drawing_variant(d, from)) : "", side->label,
		claim_places(base.value), base.value, claim_places(new.value), new.value, unit);
	if (summary && components_total_holds(d, summary, unit, side->name, from, b))
		components_claim_total(f, g, from, b);
}

/*
 * Claims the largest saving of data copy on a side that did not copy, where the saving holds, and
 * what all components of the side save where that holds, too.
 */
static void components_claim(struct drawing *d, struct figure *f, const struct table *summary,
			     const char *unit)
{
	double best = 1;
	int p, g, b;

	for (p = 0; p < f->parts.n && strcmp(f->parts.mark[p].name, "data copy"); p++)
		;
	for (g = 0; g < f->groups.n && p < f->parts.n; g++)
		for (b = 1; b < f->bars.n; b++)
			components_claim_bar(d, f, summary, unit, p, g, b, &best);
}

static int components_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t, *summary;
	struct error ignored = {0};
	const char *unit;
	int g, b, rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	drawing_table(d, 1, &summary, &ignored);
	unit = row_unit(t, "self_ns");
	f->title = figure_text(f, "What one %s costs, by component", unit);
	f->subtitle = figure_text(f, "CPU time of a side per %s moved; lower is better", unit);
	f->axis = figure_text(f, "ns per %s", unit);
	drawing_sides(d, f, t);
	drawing_bars(d, f);
	components_add_parts(f, t);
	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			components_put_bar(f, t, summary, unit, g, b);
	if (!f->ndata)
		rc = error_set(
			err, ENODATA,
			"no variant has a profile with a known cost per unit of work; capture with the passes measure and profile, and --units");
	components_claim(d, f, summary, unit);
	drawing_foot(d, f, FROM_PROFILED);
	return rc;
}

const struct chart chart_components = {
	.name = "components",
	.what = "ns per KiB of both sides, stacked by component",
	.sources = {"components", "summary"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side event components component-set"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = components_draw,
};
