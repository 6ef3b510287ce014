// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the cost of the base to the cost of the other variant, component by component. The two ends
 * stand on the axis. Each step floats and has the interval of its test. A step that chance may
 * explain is pale.
 */
#include "plot/chart.h"

#include "plot/palette.h"

#include <errno.h>

enum { STEPS = 8 };

static bool verdict_is_real(const char *verdict)
{
	return !strcmp(verdict, "better") || !strcmp(verdict, "worse") ||
	       !strcmp(verdict, "copied");
}

static bool waterfall_is_step(const struct table *t, size_t row)
{
	return row > 0 && row + 1 < t->rows && *table_structs(t, struct costs_row)[row].key != '(';
}

/* Each step begins where the step before ended. The components without a row are one step. */
static void waterfall_put_bars(const struct drawing *d, struct figure *f, const struct table *t,
			       const struct outcome *of)
{
	const struct costs_row *rows = table_structs(t, struct costs_row);
	double at = rows[0].total_ns, to, end = rows[t->rows - 1].total_ns;
	struct estimate e = {0};
	bool few = of->runs[0] < INTERVAL_RUNS || of->runs[1] < INTERVAL_RUNS;
	double half;
	size_t row;

	figure_put(f, 0, drawing_bar(d, f, d->base), FIGURE_WHOLE, estimate_plain(at));
	for (row = 1; waterfall_is_step(t, row); row++) {
		const char *name = rows[row].key;
		uint32_t rgb = palette_part(name);

		to = rows[row].total_ns;
		half = few ? NAN : rows[row].delta_ns.half;
		e = (struct estimate){.value = to - at, .lo = to - at - half, .hi = to - at + half};
		if (!verdict_is_real(rows[row].verdict))
			rgb = palette_pale(rgb);
		figure_put_step(f, 0, figure_bar(f, name, rgb), at, e);
		at = to;
	}
	if (row + 1 < t->rows)
		figure_put_step(f, 0, figure_bar(f, "others", palette_pale(palette_part("other"))),
				at, estimate_plain(end - at));
	figure_put(f, 0, drawing_bar(d, f, drawing_variant(d, 1)), FIGURE_WHOLE,
		   estimate_plain(end));
}

/* Returns whether there are enough runs for a test of any step. */
static bool waterfall_put_words(const struct drawing *d, struct figure *f, const struct table *t,
				const struct outcome *of)
{
	const struct costs_row *rows = table_structs(t, struct costs_row);
	double base = rows[0].total_ns, new = rows[t->rows - 1].total_ns;
	int places = claim_places(base);
	int steps = 0, real = 0, tested = 0;

	for (size_t row = 1; waterfall_is_step(t, row); row++) {
		steps++;
		real += verdict_is_real(rows[row].verdict);
		tested += *rows[row].verdict &&
			  strcmp(rows[row].verdict, verdict_name(VERDICT_FEW)) != 0;
	}
	f->title = figure_text(f, "From %s to %s: %.*f → %.*f ns per %s on the %s",
			       drawing_title(d, f, d->base),
			       drawing_title(d, f, drawing_variant(d, 1)), places, base, places,
			       new, of->unit, of->side);
	f->subtitle = figure_text(f, "CPU time per %s: what each component saves (−) or adds (+)%s",
				  of->unit, real < steps ? "; pale: neither better nor worse" : "");
	if (steps && !tested)
		figure_doubt(
			f, "No step is distinguishable from chance: too few runs, n = %zu and %zu",
			of->runs[0], of->runs[1]);
	f->axis = figure_text(f, "ns per %s", of->unit);
	f->group_word = "side";
	return tested;
}

/* Draws a comparison. The notes are those of the chart's table. */
static int waterfall_draw(struct drawing *d, struct figure *f, const struct table *components,
			  struct error *err)
{
	const char *const ends[2] = {d->base, drawing_variant(d, 1)};
	struct query q = d->query;
	struct outcome of = {0};
	freed(table_free) struct table t = {0};
	int rc;

	(void)components;
	if (!ends[1])
		return error_set(err, ENODATA, "there is no second variant to compare with");
	if (!d->source->compare)
		return error_set(err, ENODATA, "the figures come from no capture");
	q.side = drawing_only_side(d);
	q.limit = q.limit > 0 ? q.limit : STEPS;
	rc = d->source->compare(d->source, "waterfall", ends, &q, &t, &of, err);
	if (!rc) {
		figure_group(f, of.side);
		waterfall_put_bars(d, f, &t, &of);
		drawing_foot(d, f,
			     waterfall_put_words(d, f, &t, &of) ? FROM_TESTED : FROM_UNTESTED);
		d->lossy |= t.lossy;
	}
	return rc;
}

const struct chart chart_waterfall = {
	.name = "waterfall",
	.what = "the receiver's cost from base to new, component by component",
	.sources = {"components"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side limit"},
	.most = 2,
	.flags = CHART_OF_RECEIVER | CHART_COSTS,
	.draw = waterfall_draw,
};

const struct chart chart_waterfall_sender = {
	.name = "waterfall_sender",
	.what = "the sender's",
	.sources = {"components"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "limit"},
	.side = "sender",
	.most = 2,
	.flags = CHART_COSTS,
	.draw = waterfall_draw,
};
