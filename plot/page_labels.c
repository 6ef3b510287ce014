// SPDX-License-Identifier: GPL-2.0-only
/* The names of bars and groups, in the largest shape that fits. */
#include "plot/page_parts.h"

#include "lib/alloc.h"
#include "plot/label.h"
#include "plot/palette.h"

#include <string.h>

/* Names under settings, "mmap+mtu9000+gro-off", break between these. */
static const char *breaks_of(const char *name)
{
	return strchr(name, '+') ? "+" : LABEL_BREAKS_NAMES;
}

static bool bars_fit(const struct figure *f, double size, double slot, int lines)
{
	int i;

	for (i = 0; i < f->bars.n; i++) {
		const char *label = f->bars.mark[i].label;
		struct label_shape shape = {size, slot - 8, lines, false, breaks_of(label), true};

		if (!label_wraps(label, &shape))
			return false;
	}
	return true;
}

/* Turned upright, on as many lines as the slot has room for, no longer than they need. */
static void turn_bar_labels(struct pen *pen, const struct figure *f, double slot)
{
	double widest = page_longest(&f->bars, pen->bar_size, 1e6), least, w;

	pen->turned_lines = (int)(slot / (pen->bar_size * 1.25));
	pen->turned_lines = pen->turned_lines > 3   ? 3
			    : pen->turned_lines < 1 ? 1
						    : pen->turned_lines;
	least = widest / pen->turned_lines;
	for (w = least; w < widest && w < PAGE_TURNED_MAX; w += 4)
		if (bars_fit(f, pen->bar_size, w + 8, pen->turned_lines))
			break;
	pen->bar_turned = w > widest ? widest : w > PAGE_TURNED_MAX ? PAGE_TURNED_MAX : w;
}

/* On one line, on two, smaller, or turned upright; plain bars of many groups get a legend first. */
void page_choose_bar_labels(struct pen *pen, const struct figure *f, double slot)
{
	static const struct {
		double size;
		int lines;
	} shapes[] = {{19, 1}, {19, 2}, {17, 1}, {17, 2}, {15, 2}, {15, 3}};
	size_t i;

	pen->bars_named = true;
	for (i = 0; i < array_size(shapes); i++) {
		if (!bars_fit(f, shapes[i].size, slot, shapes[i].lines))
			continue;
		pen->bar_size = shapes[i].size;
		pen->bar_lines = shapes[i].lines;
		return;
	}
	pen->bars_named = f->parts.n || f->groups.n == 1;
	pen->bar_size = slot < 19 ? slot * 0.8 : slot > 90 ? 15 : 16;
	pen->bar_lines = slot > 90 ? 3 : 0;
	turn_bar_labels(pen, f, slot);
}

static void place_turned_label(struct page *page, const struct pen *pen, double x,
			       const char *label)
{
	double step = pen->bar_size * 1.2;
	char *lines[PAGE_LINES_MAX];
	int i, n;

	n = label_wrap(&page->arena, label,
		       &(struct label_shape){pen->bar_size, pen->bar_turned, pen->turned_lines,
					     false, breaks_of(label), true},
		       lines);
	for (i = 0; i < n; i++)
		page_put_text(page, (struct page_text){.x = x + (i - (n - 1) / 2.0) * step,
						       .y = page->bottom + 10,
						       .size = pen->bar_size,
						       .align = ALIGN_RIGHT,
						       .turn = 90,
						       .rgb = INK,
						       .text = lines[i]});
}

static void place_bar_label(struct page *page, const struct figure *f, const struct pen *pen,
			    double x, const char *label)
{
	double slot = page_slot_px(page, f) - 8, y = page->bottom + 8 + pen->bar_size * 0.65;
	char *lines[PAGE_LINES_MAX];
	int i, n;

	if (!pen->bar_lines) {
		place_turned_label(page, pen, x, label);
		return;
	}
	n = label_wrap(&page->arena, label,
		       &(struct label_shape){pen->bar_size, slot, pen->bar_lines, false,
					     breaks_of(label), true},
		       lines);
	for (i = 0; i < n; i++)
		page_put_text(page, (struct page_text){.x = x,
						       .y = y + i * pen->bar_size * 1.2,
						       .size = pen->bar_size,
						       .align = ALIGN_CENTER,
						       .rgb = INK,
						       .text = lines[i]});
}

double page_bar_label_height(const struct pen *pen)
{
	if (!pen->bars_named)
		return 6;
	return pen->bar_lines ? 8 + pen->bar_lines * pen->bar_size * 1.25 : 16 + pen->bar_turned;
}

void page_place_upright_labels(struct page *page, const struct figure *f, const struct pen *pen)
{
	double y = page->bottom + page_bar_label_height(pen) + PAGE_GROUP_SIZE * 0.65, span;
	int g, b;

	for (g = 0; g < f->groups.n; g++) {
		double x0 = page_position_px(page, f, page_position(f, g, 0));
		double x1 = page_position_px(page, f, page_position(f, g, f->bars.n - 1));

		for (b = 0; b < f->bars.n && pen->bars_named; b++)
			place_bar_label(page, f, pen,
					page_position_px(page, f, page_position(f, g, b)),
					f->bars.mark[b].label);
		span = x1 - x0 + page_slot_px(page, f) * 1.2;
		page_put_text(page, (struct page_text){
					    .x = (x0 + x1) / 2,
					    .y = y,
					    .size = PAGE_GROUP_SIZE,
					    .align = ALIGN_CENTER,
					    .bold = true,
					    .rgb = INK,
					    .text = label_fit(&page->arena, f->groups.mark[g].label,
							      PAGE_GROUP_SIZE * 1.13, span)});
	}
}

void page_place_lying_labels(struct page *page, const struct figure *f, double width)
{
	double mid = (f->bars.n - 1) / 2.0;
	int g;

	for (g = 0; g < f->groups.n; g++)
		page_put_text(page,
			      (struct page_text){
				      .x = page->left - 12,
				      .y = page_position_px(page, f, page_position(f, g, 0) + mid),
				      .size = 18,
				      .align = ALIGN_RIGHT,
				      .rgb = INK,
				      .text = label_fit(&page->arena, f->groups.mark[g].label, 18,
							width)});
}

/* A bar that is not there says so at the axis. */
void page_place_absent(struct page *page, const struct figure *f)
{
	int g, b, p;

	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			double at = page_position_px(page, f, page_position(f, g, b));
			struct estimate e;
			bool there = figure_get(f, g, b, FIGURE_WHOLE, &e);

			for (p = 0; p < f->parts.n && !there; p++)
				there = figure_get(f, g, b, p, &e);
			if (there)
				continue;
			page_put_text(page,
				      (struct page_text){
					      .x = f->lying ? page->left + 6 : at,
					      .y = f->lying ? at : page->bottom - 14,
					      .size = f->lying ? page->value_size * 0.9 : 17,
					      .align = f->lying ? ALIGN_LEFT : ALIGN_CENTER,
					      .rgb = INK_SOFT,
					      .text = label_fit(&page->arena, f->absent, 17, 300)});
		}
	}
}
