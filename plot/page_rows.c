// SPDX-License-Identifier: GPL-2.0-only
/* The page of a figure of rows: names at the left, panels side by side with their names above. */
#include "plot/page.h"

#include "plot/label.h"
#include "plot/palette.h"

#include <math.h>

#define PAGE_PANEL_SIZE 16.0  /* the font of a panel's name */
#define PAGE_ROW_MAX	330.0 /* pixels of a row's name */
enum { PAGE_PANEL_LINES = 3 };

/* Names the rows at the left, in the largest font that has room. */
static void page_place_row_names(struct page *page, const struct figure *f, double size)
{
	int b;

	for (b = 0; b < f->bars.n; b++)
		page_put_text(
			page,
			(struct page_text){.x = page->left - 10,
					   .y = page_position_px(page, f, b),
					   .size = size,
					   .align = ALIGN_RIGHT,
					   .rgb = INK,
					   .text = label_fit(&page->arena, f->bars.mark[b].label,
							     size, page->left - 10 - PAGE_MARGIN)});
}

/* Names the panels above them. */
static void page_place_panel_names(struct page *page, const struct figure *f)
{
	double panel = page_panel_px(page, f);
	char *lines[PAGE_PANEL_LINES];
	int g, i, n;

	for (g = 0; g < f->groups.n; g++) {
		const char *label = f->groups.mark[g].label;

		n = label_wrap(&page->arena, label,
			       &(struct label_shape){PAGE_PANEL_SIZE, panel, PAGE_PANEL_LINES, true,
						     LABEL_BREAKS_NAMES, true},
			       lines);
		for (i = 0; i < n; i++)
			page_put_text(
				page,
				(struct page_text){
					.x = page->left + g * page->pitch * page_scale(page, f),
					.y = page->top - 8 - (n - i - 0.5) * PAGE_PANEL_SIZE * 1.2,
					.size = PAGE_PANEL_SIZE,
					.bold = true,
					.rgb = INK,
					.text = lines[i]});
	}
}

/* Returns the lines of the longest name of a panel. */
static int page_panel_lines(const struct page *page, const struct figure *f)
{
	struct label_shape shape = {
		PAGE_PANEL_SIZE, page_panel_px(page, f), 0, true, LABEL_BREAKS_NAMES, true};
	int g, n = 0;

	for (g = 0; g < f->groups.n; g++) {
		const char *label = f->groups.mark[g].label;

		for (shape.lines = n; shape.lines < PAGE_PANEL_LINES && *label; shape.lines++)
			if (label_wraps(label, &shape))
				break;
		n = shape.lines > n ? shape.lines : n;
	}
	return n;
}

void page_make_rows(struct page *page, const struct figure *f, double top, double bottom)
{
	double names = (bottom - top - 90) / f->bars.n * 0.85, unit;

	names = names > 17 ? 17 : names < 8.5 ? 8.5 : names;
	unit = f->axis ? label_width(f->axis, PAGE_TICK_SIZE, false) : 0;
	page->left = PAGE_MARGIN +
		     fmax(page_longest(&f->bars, names, PAGE_ROW_MAX), fmin(unit, PAGE_ROW_MAX)) +
		     10;
	page->right = page->width - PAGE_MARGIN;
	page->bottom = bottom - PAGE_TICK_SIZE * 1.5;
	page->top = top + 12;
	if (f->parts.n)
		page_place_part_legend(page, f, page->bottom);
	page->top += page_panel_lines(page, f) * PAGE_PANEL_SIZE * 1.2 + 8;
	page_place_positions(page, f);
	names = fmin(names, page_slot_px(page, f) * 0.95);
	page->value_size = fmin(15, names);
	page_place_limit(page, f);
	page_place_row_names(page, f, names);
	page_place_panel_names(page, f);
	if (f->axis)
		page_put_text(page, (struct page_text){.x = page->left - 14,
						       .y = page->bottom + PAGE_TICK_SIZE * 0.85,
						       .size = PAGE_TICK_SIZE,
						       .align = ALIGN_RIGHT,
						       .rgb = INK_SOFT,
						       .text = label_fit(&page->arena, f->axis,
									 PAGE_TICK_SIZE,
									 page->left - 14 - 4)});
}
