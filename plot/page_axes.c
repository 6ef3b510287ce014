// SPDX-License-Identifier: GPL-2.0-only
/* Where bars stand along one axis, and how far values reach along the other. */
#include "plot/page.h"

#include "lib/alloc.h"
#include "plot/label.h"

#include <math.h>
#include <stdio.h>

struct extent {
	double bars, whiskers; /* the far ends of the highest */
};

static void extent_add_bar(struct extent *x, const struct figure *f, int group, int bar)
{
	double from = figure_from(f, group, bar), at = from;
	struct estimate e;
	int p;

	for (p = 0; p < f->parts.n; p++) {
		if (!figure_get(f, group, bar, p, &e))
			continue;
		at += e.value;
		x->bars = fmax(x->bars, at);
	}
	if (!figure_get(f, group, bar, FIGURE_WHOLE, &e))
		return;
	x->bars = fmax(x->bars, fmax(from, from + e.value));
	x->whiskers = fmax(x->whiskers, from + e.hi);
}

#define LONGEST 2.5 /* the longest whisker, in heights of the highest bar */

double page_reach(const struct figure *f, bool *cut)
{
	struct extent x = {0, 0};
	int g, b;

	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			extent_add_bar(&x, f, g, b);
	x.bars = fmax(x.bars, f->least);
	*cut = false;
	if (f->cut > 0 && x.bars > f->cut)
		return f->cut;
	*cut = x.bars > 0 && x.whiskers > LONGEST * x.bars;
	if (*cut)
		return LONGEST * x.bars;
	x.bars = fmax(x.bars, x.whiskers);
	return x.bars > 0 ? x.bars : 1;
}

double page_axis_step(double limit, double length, double apart)
{
	double most = fmin(8, fmax(1, floor(length / apart))), least = limit / most;
	double ten = pow(10, floor(log10(least)));
	static const double times[] = {1, 2, 5, 10};
	size_t i;

	for (i = 0; i < array_size(times) - 1 && times[i] * ten < least * (1 - 1e-9); i++)
		;
	return times[i] * ten;
}

enum { PANEL_GAP = 16 };

double page_panel_px(const struct page *page, const struct figure *f)
{
	return (page->right - page->left + PANEL_GAP) / f->groups.n - PANEL_GAP;
}

/* Places panels side by side. Their zeros are `pitch` apart. */
static void page_place_panels(struct page *page, const struct figure *f)
{
	double panel = page_panel_px(page, f), room = 3.6 * page->value_size + 10, scale;
	bool cut;

	page->reach = page_reach(f, &cut);
	scale = (panel - room) / page->reach;
	page->limit = (page->right - page->left) / scale;
	page->pitch = (panel + PANEL_GAP) / scale;
	page->tick = page_axis_step(panel / scale, panel, 48);
	if (page->tick > page->reach) /* one number beside the 0 */
		page->tick = page_axis_step(page->reach / 2.5, 1, 1);
}

/* Leaves room beyond the longest bar for its number. */
void page_place_limit(struct page *page, const struct figure *f)
{
	double length = f->lying ? page->right - page->left : page->bottom - page->top;
	double room = (f->lying ? 5 : 1.9) * page->value_size;
	bool cut;

	if (f->rows) {
		page_place_panels(page, f);
		return;
	}
	if (f->note_unit)
		room += label_width(f->note_unit, page->value_size, false) + 4 * page->value_size;
	page->reach = page_reach(f, &cut);
	page->limit = page->reach / (1 - room / length);
	page->tick = page_axis_step(page->limit, length, f->lying ? 95 : 34);
}

double page_tick_width(const struct figure *f)
{
	char text[32];
	bool cut;
	double reach = page_reach(f, &cut);

	snprintf(text, sizeof(text), "%.0f", reach);
	return label_width(text, PAGE_TICK_SIZE, false) + (reach < 10 ? PAGE_TICK_SIZE : 0) + 14;
}

static double axis_group_gap(const struct figure *f)
{
	return f->bars.n > 1 || f->lying ? 0.7 : 0.25;
}

double page_position(const struct figure *f, int group, int bar)
{
	return f->rows ? bar : group * (f->bars.n + axis_group_gap(f)) + bar;
}

double page_scale(const struct page *page, const struct figure *f)
{
	return (f->lying ? page->right - page->left : page->bottom - page->top) / page->limit;
}

/* A few bars do not become broad: the axis is longer instead. */
void page_place_positions(struct page *page, const struct figure *f)
{
	double length = f->lying ? page->bottom - page->top : page->right - page->left;
	double widest = f->rows ? 40 : f->lying ? 64 : 250, spare;

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
