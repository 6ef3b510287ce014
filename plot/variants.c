// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which variants a chart compares, their rows, and their names. Settings that all variants of a
 * chart share are named once below it; bars are named by the settings in which they differ.
 */
#include "plot/chart.h"

#include "analyze/scope/runs.h"
#include "plot/label.h"
#include "plot/palette.h"

struct estimate estimate_half(struct half_estimate h)
{
	double lo = isnan(h.half) ? NAN : fmax(h.value - h.half, 0);

	return (struct estimate){.value = h.value, .lo = lo, .hi = h.value + h.half};
}

struct estimate estimate_of_runs(struct estimate e, int64_t runs)
{
	e.n = runs > 0 ? (size_t)runs : 0;
	return e;
}

const struct block *row_block(const struct table *t, size_t row)
{
	return (const void *)((const char *)t->structs + row * t->struct_size);
}

long row_find(const struct table *t, size_t from, const char *variant, const char *side)
{
	for (; from < t->rows; from++) {
		const struct block *b = row_block(t, from);

		if ((!variant || !strcmp(b->variant, variant)) && (!side || !strcmp(b->side, side)))
			return (long)from;
	}
	return -1;
}

struct estimate row_figure(const struct table *t, const char *variant, const char *side,
			   enum figure_id id)
{
	long at = row_find(t, 0, variant, side);
	const struct figure_row *row;

	if (at < 0)
		return estimate_plain(NAN);
	row = &table_structs(t, struct figure_row)[at];
	return estimate_of_runs(row->of[id], row->runs);
}

int drawing_place(const struct drawing *d, const char *name)
{
	return str_index(d->facts.variants, (size_t)d->facts.nvariants, name);
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
	const struct runs_row *rows = table_structs(&d->runs, struct runs_row);
	bool any = false;

	for (const struct runs_row *r = rows; r < rows + d->runs.rows; r++)
		if (!strcmp(r->block.variant, variant)) {
			if (!strcmp(r->status, "ok"))
				return false;
			any = true;
		}
	return any;
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
