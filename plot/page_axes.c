// SPDX-License-Identifier: GPL-2.0-only
/* Where bars stand along one axis, and how far values reach along the other. */
#include "plot/page_parts.h"

#include "plot/label.h"
#include "plot/rows.h"

#include <math.h>
#include <stdio.h>

static double highest(const struct figure *f)
{
	double max = 0;
	size_t row;
	int i;

	for (row = 0; row < f->data.rows; row++) {
		double from = row_real(&f->data, row, "from"), to;

		to = from + row_real(&f->data, row, "value"); /* NaN but for a step */
		max = fmax(max, fmax(from, to));
		for (i = table_column(&f->data, "value"); i <= table_column(&f->data, "hi"); i++) {
			const struct value *v = table_cell(&f->data, row, i);

			if (v->type == V_REAL && v->real > max)
				max = v->real;
		}
	}
	return max > 0 ? max : 1;
}

/* Room beyond the page_longest bar for its number. */
void page_place_limit(struct page *page, const struct figure *f)
{
	double length = f->lying ? page->right - page->left : page->bottom - page->top;
	double room = f->lying ? 5 * page->value_size : 1.9 * page->value_size;

	page->limit = highest(f) / (1 - room / length);
}

double page_tick_width(const struct figure *f)
{
	char text[32];

	snprintf(text, sizeof(text), "%.0f", highest(f));
	return label_width(text, PAGE_TICK_SIZE, false) + (highest(f) < 10 ? PAGE_TICK_SIZE : 0) +
	       14;
}

static double group_gap(const struct figure *f)
{
	return f->bars.n > 1 || f->lying ? 0.7 : 0.25;
}

double page_position(const struct figure *f, int group, int bar)
{
	return group * (f->bars.n + group_gap(f)) + bar;
}

double page_scale(const struct page *page, const struct figure *f)
{
	return (f->lying ? page->right - page->left : page->bottom - page->top) / page->limit;
}

/* Few bars do not become broad slabs: the axis grows around them instead. */
void page_place_positions(struct page *page, const struct figure *f)
{
	double length = f->lying ? page->bottom - page->top : page->right - page->left;
	double widest = f->lying ? 64 : 250, spare;

	page->first = -0.65;
	page->last = page_position(f, f->groups.n - 1, f->bars.n - 1) + 0.65;
	spare = length / widest - (page->last - page->first);
	if (spare > 0) {
		page->first -= f->lying ? 0 : spare / 2;
		page->last += f->lying ? spare : spare / 2;
	}
}

double page_position_px(const struct page *page, const struct figure *f, double at)
{
	double share = (at - page->first) / (page->last - page->first);

	return f->lying ? page->top + share * (page->bottom - page->top)
			: page->left + share * (page->right - page->left);
}

double page_slot_px(const struct page *page, const struct figure *f)
{
	return fabs(page_position_px(page, f, 1) - page_position_px(page, f, 0));
}
