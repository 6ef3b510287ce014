// SPDX-License-Identifier: GPL-2.0-only
/* What one KiB costs on each side, stacked by component. */
#include "plot/chart_all.h"

#include "plot/palette.h"
#include "plot/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_order(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	int d = palette_order(*x) - palette_order(*y);

	return d ? d : strcmp(*x, *y);
}

static bool has_part(const struct figure *f, const char *label)
{
	int i;

	for (i = 0; i < f->parts.n; i++)
		if (!strcmp(f->parts.mark[i].name, label))
			return true;
	return false;
}

/* Every component that has a cost anywhere, in the palette's order. */
static void add_parts(struct figure *f, const struct table *t)
{
	const char **names = calloc(t->rows + 1, sizeof(*names));
	size_t row, n = 0;

	for (row = 0; names && row < t->rows; row++)
		if (row_real(t, row, "self_ns") > 0)
			names[n++] = row_text(t, row, "component");
	if (n)
		qsort(names, n, sizeof(*names), by_order);
	for (row = 0; row < n; row++)
		if (!has_part(f, names[row]))
			figure_part(f, names[row], palette_part(names[row]));
	free(names);
}

static long find_component(const struct table *t, const char *variant, const char *side,
			   const char *component)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && strcmp(row_text(t, (size_t)row, "component"), component))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row;
}

/* The components add up to what a KiB costs in all. */
static void put_bar(struct figure *f, const struct table *t, int group, int bar)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	struct estimate whole = {.lo = NAN, .hi = NAN}, e;
	int p;

	for (p = 0; p < f->parts.n; p++) {
		long row = find_component(t, variant, side, f->parts.mark[p].name);

		if (row < 0)
			continue;
		e = row_estimate_ci(t, (size_t)row, "self_ns");
		if (isnan(e.value))
			continue;
		figure_put(f, group, bar, p, e);
		whole.value += e.value;
	}
	if (whole.value > 0)
		figure_put(f, group, bar, FIGURE_WHOLE, whole);
}

/* Three digits that count, without an exponent. */
static int places(double v)
{
	return v >= 100 ? 0 : v >= 10 ? 1 : 2;
}

/* Did the copy go away? The finding that zero copy is about, if it is one; beside it stands what
 * all components together did. */
static void put_claim(struct drawing *d, struct figure *f)
{
	struct estimate base, new, all_base, all_new;
	const struct figure_mark *side = f->groups.mark;
	double best = 1, ratio;
	int p, b;

	for (p = 0; p < f->parts.n && strcmp(f->parts.mark[p].name, "data copy"); p++)
		;
	if (p == f->parts.n || !f->groups.n || !figure_get(f, 0, 0, p, &base))
		return;
	for (b = 1; b < f->bars.n; b++) {
		if (!figure_get(f, 0, b, p, &new))
			continue;
		ratio = claim(d, drawing_variant(d, b), base, new, FROM_PROFILED, -1);
		if (ratio <= 0 || ratio >= best)
			continue;
		figure_get(f, 0, 0, FIGURE_WHOLE, &all_base);
		figure_get(f, 0, b, FIGURE_WHOLE, &all_new);
		best = ratio;
		figure_title(f, "%s, %s: data copy %.*f → %.*f ns per KiB, in all %.*f → %.*f",
			     drawing_variant(d, b), side->label, places(base.value), base.value,
			     places(new.value), new.value, places(all_base.value), all_base.value,
			     places(all_new.value), all_new.value);
	}
}

int chart_components(struct drawing *d, struct figure *f, struct error *err)
{
	struct table t = {0};
	int g, b, rc = drawing_table(d, "components", &t, err);

	if (rc)
		goto out;
	figure_title(f, "What one KiB costs, by component");
	figure_subtitle(f, "CPU time of a side per KiB moved; lower is better");
	f->axis = "ns per KiB";
	drawing_sides(f, &t);
	drawing_bars(d, f);
	add_parts(f, &t);
	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			put_bar(f, &t, g, b);
	if (!f->data.rows)
		rc = error_set(
			err, ENODATA,
			"no variant has a profile with a known cost per KiB; capture with the "
			"passes measure and profile");
	put_claim(d, f);
	drawing_foot(d, f, FROM_PROFILED);
out:
	table_free(&t);
	return rc;
}
