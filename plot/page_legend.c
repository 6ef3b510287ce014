// SPDX-License-Identifier: GPL-2.0-only
/* What the colours mean. */
#include "plot/page_parts.h"

#include "plot/label.h"
#include "plot/palette.h"

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
void page_place_part_legend(struct page *page, const struct figure *f)
{
	double widest = 0, y, step = (page->bottom - page->top) / (f->parts.n + 1), w;
	int i;

	step = step > 31 ? 31 : step;
	for (i = 0; i < f->parts.n; i++) {
		w = label_width(f->parts.mark[i].label, PAGE_LEGEND_SIZE, false);
		widest = w > widest && part_used(f, i) ? w : widest;
	}
	widest = widest > PAGE_LEGEND_MAX ? PAGE_LEGEND_MAX : widest;
	page->right -= widest + 50;
	y = page->top + 14;
	for (i = f->parts.n - 1; i >= 0; i--) {
		if (!part_used(f, i))
			continue;
		page_put_swatch(page, page->right + 20, y, 18, f->parts.mark[i].rgb);
		page_put_text(page, (struct page_text){
					    .x = page->right + 46,
					    .y = y,
					    .size = PAGE_LEGEND_SIZE,
					    .rgb = INK,
					    .text = label_fit(&page->arena, f->parts.mark[i].label,
							      PAGE_LEGEND_SIZE, widest)});
		y += step;
	}
}

/* One or more rows below the captions. */
void page_place_bar_legend(struct page *page, const struct figure *f, struct pen *pen)
{
	double x = PAGE_MARGIN, y = pen->top + 22, unit = f->lying ? 140 : 0;
	int i;

	for (i = 0; i < f->bars.n; i++) {
		const char *label =
			label_fit(&page->arena, f->bars.mark[i].label, PAGE_LEGEND_SIZE, 420);
		double w = 26 + label_width(label, PAGE_LEGEND_SIZE, false);

		if (x > PAGE_MARGIN && x + w > PAGE_W - PAGE_MARGIN - unit) {
			x = PAGE_MARGIN;
			y += 28;
		}
		page_put_swatch(page, x, y, 18, f->bars.mark[i].rgb);
		page_put_text(page, (struct page_text){.x = x + 26,
						       .y = y,
						       .size = PAGE_LEGEND_SIZE,
						       .rgb = INK,
						       .text = label});
		x += w + 34;
	}
	pen->top = y + 14;
}
