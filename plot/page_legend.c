// SPDX-License-Identifier: GPL-2.0-only
/* What the colours mean. */
#include "plot/page_parts.h"

#include "plot/label.h"
#include "plot/palette.h"

#include <math.h>

static bool part_used(const struct figure *f, int part)
{
	struct estimate e;
	int g, b;

	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			if (figure_get(f, g, b, part, &e) && e.value > 0)
				return true;
	return false;
}

/* At the right, from the top of the stack down, so that it reads as the bars do. */
void page_place_part_legend(struct page *page, const struct figure *f, double bottom)
{
	double widest = 0, y, step, size = PAGE_LEGEND_SIZE, w;
	int i, used = 0;

	for (i = 0; i < f->parts.n; i++)
		used += part_used(f, i);
	step = used ? fmin(31, (bottom - page->top) / used) : 31;
	size = fmin(size, step * 0.8);
	for (i = 0; i < f->parts.n; i++) {
		w = label_width(f->parts.mark[i].label, size, false);
		widest = w > widest && part_used(f, i) ? w : widest;
	}
	widest = widest > PAGE_LEGEND_MAX ? PAGE_LEGEND_MAX : widest;
	page->right -= widest + 50;
	y = page->top + 14;
	for (i = f->parts.n - 1; i >= 0; i--) {
		if (!part_used(f, i))
			continue;
		page_put_swatch(page, page->right + 20, y, size * 0.95, f->parts.mark[i].rgb);
		page_put_text(page, (struct page_text){.x = page->right + 46,
						       .y = y,
						       .size = size,
						       .rgb = INK,
						       .text = label_fit(&page->arena,
									 f->parts.mark[i].label,
									 size, widest)});
		y += step;
	}
}

/* In columns below the captions, row by row. */
void page_place_bar_legend(struct page *page, const struct figure *f, struct pen *pen)
{
	double width = page_longest(&f->bars, PAGE_LEGEND_SIZE, 420), unit = f->lying ? 140 : 0;
	int columns = (int)((PAGE_W - 2 * PAGE_MARGIN - unit + 34) / (width + 60)), i;
	double y = pen->top + 22;

	columns = columns < 1 ? 1 : columns;
	for (i = 0; i < f->bars.n; i++) {
		double x = PAGE_MARGIN + i % columns * (width + 60);

		y += i && i % columns == 0 ? 28 : 0;
		page_put_swatch(page, x, y, 18, f->bars.mark[i].rgb);
		page_put_text(page, (struct page_text){.x = x + 26,
						       .y = y,
						       .size = PAGE_LEGEND_SIZE,
						       .rgb = INK,
						       .text = label_fit(&page->arena,
									 f->bars.mark[i].label,
									 PAGE_LEGEND_SIZE, width)});
	}
	pen->top = y + 14;
}
