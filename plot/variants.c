// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which variants a chart compares, their rows, and their names. Settings that all variants of a
 * chart share are named once below it; bars are named by the settings in which they differ.
 */
#include "plot/chart.h"

#include "analyze/scope/scope.h"
#include "plot/label.h"
#include "plot/palette.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct estimate estimate_times(struct estimate e, double k)
{
	e.value *= k;
	e.lo *= k;
	e.hi *= k;
	return e;
}

struct estimate row_estimate(const struct table *t, size_t row, const char *column)
{
	const struct interval i = table_interval(t, row, column);
	const double runs = table_real(t, row, "runs");
	struct estimate e = {.value = table_real(t, row, column), .lo = i.low, .hi = i.high};

	e.n = runs > 0 ? (size_t)runs : 0;
	if (isnan(i.half))
		return e;
	e.hi = e.value + i.half;
	e.lo = fmax(e.value - i.half, 0);
	return e;
}

struct estimate row_profiled(const struct table *t, size_t row, const char *column)
{
	struct estimate e = row_estimate(t, row, column);

	if (e.n && e.n < INTERVAL_RUNS)
		e.lo = e.hi = NAN;
	return e;
}

void figure_put_row(struct figure *f, int group, int bar, const struct table *t, long row,
		    const char *column, const char *note)
{
	struct estimate e = estimate_plain(NAN);

	if (row >= 0)
		e = row_estimate(t, (size_t)row, column);
	if (!isnan(e.value))
		figure_put_noted(f, group, bar, e, note ? table_text(t, (size_t)row, note) : "");
}

bool row_is(const struct table *t, size_t row, const char *column, const char *word)
{
	return !strcmp(table_text(t, row, column), word);
}

long row_with(const struct table *t, const char *variant, const char *side, const char *column,
	      const char *word)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && !row_is(t, (size_t)row, column, word))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row;
}

/* Returns the variant or the side of a row. */
static struct block row_block(const struct table *t, size_t row)
{
	if (t->structs)
		return *(const struct block *)((const char *)t->structs + row * t->struct_size);
	return (struct block){table_text(t, row, "variant"), table_text(t, row, "side")};
}

long row_find(const struct table *t, size_t from, const char *variant, const char *side)
{
	for (; from < t->rows; from++) {
		const struct block b = row_block(t, from);

		if ((!variant || !strcmp(b.variant, variant)) && (!side || !strcmp(b.side, side)))
			return (long)from;
	}
	return -1;
}

bool row_has_figure(const struct table *t, const char *variant, const char *side,
		    const char *column)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && isnan(table_real(t, (size_t)row, column)))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row >= 0;
}

const char *row_unit(const struct table *t, const char *column)
{
	int c = table_column(t, column);
	const char *unit = c < 0 ? NULL : t->columns[c].unit;

	unit = unit ? strchr(unit, '/') : NULL;
	return unit ? unit + 1 : "KiB";
}

int drawing_place(const struct drawing *d, const char *name)
{
	for (int i = 0; i < d->facts.nvariants; i++)
		if (!strcmp(d->facts.variants[i], name))
			return i;
	return -1;
}

static const char *variant_any(const struct drawing *d, int i)
{
	int left = i;

	if (!i)
		return d->base;
	if (d->nnews)
		return i <= d->nnews ? d->news[i - 1] : NULL;
	for (int k = 0; k < d->facts.nvariants; k++)
		if (strcmp(d->facts.variants[k], d->base) && !--left)
			return d->facts.variants[k];
	return NULL;
}

static int drawing_most(const struct drawing *d)
{
	return d->chart ? d->chart->most ? d->chart->most : CHART_ROWS : INT_MAX;
}

const char *drawing_variant(const struct drawing *d, int i)
{
	return i >= drawing_most(d) ? NULL : variant_any(d, i);
}

bool drawing_has(const struct drawing *d, const char *variant)
{
	const char *v;

	for (int i = 0; (v = drawing_variant(d, i)); i++)
		if (!strcmp(v, variant))
			return true;
	return false;
}

bool drawing_all_failed(const struct drawing *d, const char *variant)
{
	long row = row_find(&d->runs, 0, variant, NULL);

	if (row < 0)
		return false;
	for (; row >= 0; row = row_find(&d->runs, (size_t)row + 1, variant, NULL))
		if (row_is(&d->runs, (size_t)row, "status", "ok"))
			return false;
	return true;
}

/* Returns the setting after the next '+', or NULL. */
static const char *setting_next(const char *at, size_t *len)
{
	at = strchr(at, '+');
	if (at)
		*len = strcspn(++at, "+");
	return at;
}

static bool variant_has_setting(const char *name, const char *setting, size_t len)
{
	const char *at = name;
	size_t n;

	while ((at = setting_next(at, &n)))
		if (n == len && !memcmp(at, setting, len))
			return true;
	return false;
}

static bool setting_is_shared(const struct drawing *d, const char *setting, size_t len)
{
	const char *v;
	int i;

	for (i = 0; (v = drawing_variant(d, i)); i++)
		if (!variant_has_setting(v, setting, len))
			return false;
	return i > 1;
}

void drawing_add_shared(const struct drawing *d, struct str *out)
{
	const char *at = drawing_variant(d, 0), *before = " · all variants: ";
	size_t len;

	while ((at = setting_next(at, &len))) {
		if (!setting_is_shared(d, at, len))
			continue;
		str_printf(out, "%s%.*s", before, (int)len, at);
		before = ", ";
	}
}

void drawing_add_label(const struct drawing *d, const char *name, struct str *out)
{
	const char *at = name;
	size_t len;

	str_add(out, name, strcspn(name, "+"));
	while ((at = setting_next(at, &len)))
		if (!setting_is_shared(d, at, len))
			str_printf(out, "+%.*s", (int)len, at);
}

/* Returns whether two names are equal but for their settings: "mmap" and "mmap+mtu9000". */
static bool variant_has_stem_of(const char *a, const char *b)
{
	size_t len = strcspn(a, "+");

	return strcspn(b, "+") == len && !memcmp(a, b, len);
}

int drawing_base_of(const struct drawing *d, int i)
{
	const char *name = drawing_variant(d, i), *v;

	for (int k = 0; (v = drawing_variant(d, k)); k++)
		if (k != i && variant_has_stem_of(v, d->base) &&
		    !strcmp(v + strcspn(v, "+"), name + strcspn(name, "+")))
			return k;
	return 0;
}

int drawing_bases(const struct drawing *d)
{
	const char *v;
	int n = 0;

	for (int k = 0; (v = drawing_variant(d, k)); k++)
		n += variant_has_stem_of(v, d->base);
	return n;
}

const char *drawing_label(const struct drawing *d, struct figure *f, const char *variant)
{
	freed(str_free) struct str label = {0};

	drawing_add_label(d, variant, &label);
	return label_clean(&f->arena, label.buf);
}

const char *drawing_title(const struct drawing *d, struct figure *f, const char *variant)
{
	enum { SIZE = 35, WIDTH = 520 }; /* the title's bold font, pixels */

	return label_fit(&f->arena, drawing_label(d, f, variant), SIZE, WIDTH);
}

/* Returns the number of the plan's variants before that which settings made into `variant`. */
static int drawing_stem_place(const struct drawing *d, const char *variant)
{
	const char *const *all = d->facts.variants;
	int k, n = 0;

	for (int i = 0; i < d->facts.nvariants && !variant_has_stem_of(all[i], variant); i++) {
		for (k = 0; !variant_has_stem_of(all[i], all[k]); k++)
			;
		n += k == i;
	}
	return n;
}

/* Where each variant has a row, the colours are those of the plan's variants. */
uint32_t drawing_color(const struct drawing *d, const char *variant)
{
	int i = drawing_place(d, variant);

	if (drawing_variant(d, FIGURE_BARS) && strchr(variant, '+'))
		return palette_variant(drawing_stem_place(d, variant));
	return palette_variant(i >= 0 && d->facts.places ? d->facts.places[i] : i);
}

void drawing_caption_left_out(const struct drawing *d, struct figure *f)
{
	enum { PAIR = 2 };
	int most = drawing_most(d), left = 0;

	while (variant_any(d, most + left))
		left++;
	if (left && most == PAIR)
		figure_remark(f, "One pair of %d variants: %s and %s; --base and --new choose",
			      d->facts.nvariants, d->base, variant_any(d, 1));
	else if (left)
		figure_remark(f,
			      "Not in this chart: %d more variant%s (--new or --variant chooses)",
			      left, left == 1 ? "" : "s");
}

int claim_places(double v)
{
	return v >= 100 ? 0 : v >= 10 ? 1 : 2;
}

const char *claim_times(struct figure *f, double ratio)
{
	int places = ratio < 1.995 ? 2 : ratio < 9.95 ? 1 : 0;

	if (ratio < 1e-4)
		return "under 0.0001×";
	return ratio < 0.095 ? figure_text(f, "%.2g×", ratio)
			     : figure_text(f, "%.*f×", places, ratio);
}
