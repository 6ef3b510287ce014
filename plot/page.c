// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the top down: title, subtitle, captions, legend, unit, then from the bottom up: foot note,
 * groups, bars. What is left is the frame. Labels choose among a few shapes by their width; nothing
 * overlaps and nothing is cut without an ellipsis.
 */
#include "plot/page_parts.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "plot/palette.h"
#include "plot/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_put_text(struct page *page, struct page_text t)
{
	array_grow(page->texts, page->ntexts, page->texts_cap);
	page->texts[page->ntexts++] = t;
}

void page_put_swatch(struct page *page, double x, double y, double size, uint32_t rgb)
{
	array_grow(page->swatches, page->nswatches, page->swatches_cap);
	page->swatches[page->nswatches++] =
		(struct page_swatch){x, y - size / 2, x + size, y + size / 2, rgb};
}

/* The width of the longest label, but not more than `max`. */
double page_longest(const struct figure_marks *m, double size, double max)
{
	double widest = 0, w;
	int i;

	for (i = 0; i < m->n; i++) {
		w = label_width(m->mark[i].label, size, false);
		widest = w > widest ? w : widest;
	}
	return widest > max ? max : widest;
}

/* The least width in which the text has no more lines: none of them is left with a single word. */
static double balanced(const char *text, struct label_shape shape)
{
	const double full = shape.width, step = full / 60;

	while (shape.lines > 1 && shape.width > full / 2) {
		shape.width -= step;
		if (!label_wraps(text, &shape))
			return shape.width + step;
	}
	return shape.width;
}

/* Between statements where that takes no more lines than between words. */
static int wrap_text(struct page *page, const char *text, struct label_shape shape, char **lines)
{
	struct label_shape whole = shape;
	int i, n = label_wrap(&page->arena, text, &shape, lines);

	whole.breaks = strstr(text, " · ") ? "·" : ",:;";
	whole.lines = n;
	if (n < 2)
		return n;
	if (!label_wraps(text, &whole))
		whole.breaks = shape.breaks;
	if (label_wraps(text, &whole))
		whole.width = balanced(text, whole);
	n = label_wrap(&page->arena, text, &whole, lines);
	for (i = 0; i < n; i++)
		if (str_ends(lines[i], " ·"))
			lines[i][strlen(lines[i]) - strlen(" ·")] = 0;
	return n;
}

/* A text of one kind from *y downwards, over the whole width. */
static void put_lines(struct page *page, double *y, const char *text, struct page_text like,
		      int max)
{
	struct label_shape shape = {.size = like.size,
				    .width = PAGE_W - 2 * PAGE_MARGIN,
				    .lines = max,
				    .bold = like.bold,
				    .breaks = " "};
	char *lines[PAGE_LINES_MAX];
	double height = like.size * 1.28;
	int i, n;

	if (!text)
		return;
	n = wrap_text(page, text, shape, lines);
	for (i = 0; i < n; i++) {
		like.x = PAGE_MARGIN;
		like.y = *y + height / 2;
		like.text = lines[i];
		page_put_text(page, like);
		*y += height;
	}
}

static void place_heading(struct page *page, const struct figure *f, struct pen *pen)
{
	int i;

	put_lines(page, &pen->top, f->title,
		  (struct page_text){.size = PAGE_TITLE_SIZE, .bold = true, .rgb = INK}, 2);
	put_lines(page, &pen->top, f->subtitle,
		  (struct page_text){.size = PAGE_SUBTITLE_SIZE, .rgb = INK_SOFT}, 2);
	/* the first, on zero copy, matters most */
	for (i = 0; i < f->ncaptions; i++)
		put_lines(page, &pen->top, f->captions[i],
			  (struct page_text){.size = i ? PAGE_TICK_SIZE : PAGE_SUBTITLE_SIZE,
					     .rgb = INK_WARN},
			  i ? 2 : 3);
}

/* What a cut whisker means stands first. */
static const char *foot_of(struct page *page, const struct figure *f)
{
	char *text;
	const char *kept;
	bool cut;

	page_reach(f, &cut);
	if (!cut)
		return f->foot;
	text = xasprintf("Arrow: the interval goes on beyond the chart · %s", f->foot);
	kept = arena_strdup(&page->arena, text);
	free(text);
	return kept;
}

static void place_foot(struct page *page, const struct figure *f, struct pen *pen)
{
	char *lines[PAGE_LINES_MAX];
	int n, i;

	if (!f->foot)
		return;
	n = wrap_text(page, foot_of(page, f),
		      (struct label_shape){.size = PAGE_FOOT_SIZE,
					   .width = PAGE_W - 2 * PAGE_MARGIN,
					   .lines = 3,
					   .breaks = " "},
		      lines);
	for (i = n - 1; i >= 0; i--) {
		pen->bottom -= PAGE_FOOT_SIZE * 1.3;
		page_put_text(page, (struct page_text){.x = PAGE_MARGIN,
						       .y = pen->bottom + PAGE_FOOT_SIZE * 0.65,
						       .size = PAGE_FOOT_SIZE,
						       .rgb = INK_SOFT,
						       .text = lines[i]});
	}
	pen->bottom -= 12;
}

/* --- the two kinds --- */

static void place_unit(struct page *page, const struct figure *f, struct pen *pen)
{
	struct page_text unit = {.size = PAGE_TICK_SIZE, .rgb = INK_SOFT, .text = f->axis};

	if (!f->axis)
		return;
	unit.x = f->lying ? PAGE_W - PAGE_MARGIN : PAGE_MARGIN;
	unit.y = f->lying ? pen->top - 14 : pen->top + 18;
	unit.align = f->lying ? ALIGN_RIGHT : ALIGN_LEFT;
	page_put_text(page, unit);
	pen->top += f->lying ? 10 : 42;
}

static void make_upright(struct page *page, const struct figure *f, struct pen *pen)
{
	bool named_groups = f->groups.n > 1 || *f->groups.mark[0].label;

	page->left = PAGE_MARGIN + page_tick_width(f);
	page->right = PAGE_W - PAGE_MARGIN;
	page->top = pen->top + 38;
	page->bottom = pen->bottom - 60;
	if (f->parts.n)
		page_place_part_legend(page, f, pen->bottom);
	page_place_positions(page, f);
	page_choose_bar_labels(pen, f, page_slot_px(page, f));
	if (!pen->bars_named)
		page_place_bar_legend(page, f, pen);
	place_unit(page, f, pen);
	page->top = pen->top;
	page->bottom = pen->bottom - page_bar_label_height(pen) -
		       (named_groups ? PAGE_GROUP_SIZE * 1.3 : 0);
	page->value_size = fmin(19, page_slot_px(page, f) * 0.31);
	page->part_size = page_slot_px(page, f) < 70 ? 0 : 16;
	page_place_limit(page, f);
	page_place_upright_labels(page, f, pen);
}

static void make_lying(struct page *page, const struct figure *f, struct pen *pen)
{
	double widest = page_longest(&f->groups, 18, PAGE_SYMBOL_MAX), bar;
	page->left = PAGE_MARGIN + widest + 12;
	page->right = PAGE_W - PAGE_MARGIN;
	page_place_bar_legend(page, f, pen);
	place_unit(page, f, pen);
	page->top = pen->top;
	page->bottom = pen->bottom - PAGE_TICK_SIZE * 1.5;
	page_place_positions(page, f);
	bar = page_slot_px(page, f);
	page->value_size = bar < 18 ? bar * 0.95 : 17;
	page_place_limit(page, f);
	page_place_lying_labels(page, f, widest);
}

void page_make(struct page *page, const struct figure *f)
{
	struct pen pen = {.top = 22, .bottom = PAGE_H - 14};

	*page = (struct page){0};
	place_heading(page, f, &pen);
	place_foot(page, f, &pen);
	if (f->lying)
		make_lying(page, f, &pen);
	else
		make_upright(page, f, &pen);
	page_place_absent(page, f);
}

void page_free(struct page *page)
{
	free(page->texts);
	free(page->swatches);
	arena_free(&page->arena);
	*page = (struct page){0};
}
