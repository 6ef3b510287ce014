// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what the base costs to what the other variant costs, component by component: floating bars,
 * the ends on the axis. What the test does not tell apart from chance is pale.
 */
#include "plot/chart_all.h"

#include "lib/alloc.h"
#include "plot/palette.h"
#include "plot/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8 };

static bool is_real(const char *verdict)
{
	return !strcmp(verdict, "better") || !strcmp(verdict, "worse") ||
	       !strcmp(verdict, "copied");
}

static void put_end(const struct drawing *d, struct figure *f, const char *variant, double total)
{
	struct estimate e = {.value = total, .lo = NAN, .hi = NAN};

	figure_put(f, 0, figure_bar(f, variant, drawing_color(d, variant)), FIGURE_WHOLE, e);
}

static void put_step(struct figure *f, const char *name, uint32_t rgb, double from, double to)
{
	struct estimate e = {.value = to - from, .lo = NAN, .hi = NAN};

	figure_put_step(f, 0, figure_bar(f, name, rgb), from, e);
}

/* Ends stand on the axis, steps on what came before; what the rows leave out is one step. */
static void put_bars(const struct drawing *d, struct figure *f, const struct table *t)
{
	double at = row_real(t, 0, "total_ns"), to, end = row_real(t, t->rows - 1, "total_ns");
	size_t row;

	put_end(d, f, d->base, at);
	for (row = 1; row + 1 < t->rows && *row_text(t, row, "step") != '('; row++) {
		const char *name = row_text(t, row, "step");
		uint32_t rgb = palette_part(name);

		to = row_real(t, row, "total_ns");
		put_step(f, name, is_real(row_text(t, row, "verdict")) ? rgb : palette_pale(rgb),
			 at, to);
		at = to;
	}
	if (row + 1 < t->rows)
		put_step(f, "others", palette_pale(palette_part("other")), at, end);
	put_end(d, f, drawing_variant(d, 1), end);
}

static void put_words(const struct drawing *d, struct figure *f, const struct table *t,
		      const struct outcome *of)
{
	double base = row_real(t, 0, "total_ns"), new = row_real(t, t->rows - 1, "total_ns");
	int places = base >= 100 ? 0 : base >= 10 ? 1 : 2;
	char *axis = xasprintf("ns per %s", of->unit);

	figure_title(f, "From %s to %s: %.*f → %.*f ns per %s on the %s", d->base,
		     drawing_variant(d, 1), places, base, places, new, of->unit, of->side);
	figure_subtitle(f,
			"CPU time per %s moved, step by step; pale: not told apart from chance, "
			"or not tested",
			of->unit);
	f->axis = arena_strdup(&f->arena, axis);
	f->group_word = "side";
	if (drawing_variant(d, 2))
		figure_caption(f, "Not in this chart: %s", drawing_variant(d, 2));
	free(axis);
}

static int draw(struct drawing *d, struct figure *f, const char *side, struct error *err)
{
	const char *const ends[2] = {d->base, drawing_variant(d, 1)};
	struct query q = d->query;
	struct outcome of = {0};
	struct table t = {0};
	int rc;

	if (!ends[1])
		return error_set(err, ENODATA, "there is no second variant to compare with");
	if (!d->source->compare)
		return error_set(err, ENODATA, "the figures come from no capture");
	q.side = side;
	q.limit = q.limit > 0 ? q.limit : STEPS;
	rc = d->source->compare(d->source, ends, &q, &t, &of, err);
	if (!rc) {
		figure_group(f, of.side);
		put_bars(d, f, &t);
		put_words(d, f, &t, &of);
		drawing_foot(d, f, FROM_TESTED);
		d->lossy |= t.lossy;
	}
	table_free(&t);
	return rc;
}

/* The receiver's, or of what else there is. */
int chart_waterfall(struct drawing *d, struct figure *f, struct error *err)
{
	return draw(d, f, NULL, err);
}

int chart_waterfall_sender(struct drawing *d, struct figure *f, struct error *err)
{
	return draw(d, f, "sender", err);
}
