// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the top down: title, subtitle, captions, legend, unit, then from the bottom up: foot note,
 * groups, bars. What is left is the frame. Labels choose among a few shapes by their width; nothing
 * overlaps and nothing is cut without an ellipsis.
 */
#include "plot/curves.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "plot/label.h"
#include "plot/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fonts, pixels. */
#define PAGE_TITLE_SIZE	   31.0
#define PAGE_TITLE_SMALL   25.0
#define PAGE_SUBTITLE_SIZE 20.0
#define PAGE_LEGEND_SIZE   19.0
#define PAGE_GROUP_SIZE	   20.0
#define PAGE_FOOT_SIZE	   14.5

/* Widths, pixels. */
#define PAGE_LEGEND_MAX 330.0
#define PAGE_SYMBOL_MAX 430.0
#define PAGE_TURNED_MAX 230.0

enum { PAGE_LINES_MAX = 4 };

struct pen { /* what is still free, from top to bottom */
	double top, bottom;
	bool bars_named; /* each bar has its label; else the legend tells them apart */
	double bar_size;
	int bar_lines;	   /* 0: turned upright */
	double bar_turned; /* their length then, */
	int turned_lines;  /* on so many lines */
};

void page_put_text(struct page *page, struct page_text t)
{
	array_grow(page->texts, page->ntexts, page->texts_cap);
	page->texts[page->ntexts++] = t;
}

static void page_put_swatch(struct page *page, double x, double y, double size, uint32_t rgb)
{
	array_grow(page->swatches, page->nswatches, page->swatches_cap);
	page->swatches[page->nswatches++] =
		(struct page_swatch){x, y - size / 2, x + size, y + size / 2, rgb};
}

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

/* Returns the least width with the same number of lines, so that no line has a single word. */
static double text_balanced_width(const char *text, struct label_shape shape)
{
	const double full = shape.width, step = full / 60;

	while (shape.lines > 1 && shape.width > full / 2) {
		shape.width -= step;
		if (!label_wraps(text, &shape))
			return shape.width + step;
	}
	return shape.width;
}

/* Breaks between statements where that takes no more lines than between words. */
static int page_wrap_text(struct page *page, const char *text, struct label_shape shape,
			  char **lines)
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
		whole.width = text_balanced_width(text, whole);
	n = label_wrap(&page->arena, text, &whole, lines);
	for (i = 0; i < n; i++) {
		if (str_ends(lines[i], " ·"))
			lines[i][strlen(lines[i]) - strlen(" ·")] = 0;
		if (str_starts(lines[i], "· "))
			lines[i] += strlen("· ");
	}
	return n;
}

/* Places a text from *y downwards, over the whole width. */
static void page_put_lines(struct page *page, double *y, const char *text, struct page_text like,
			   int max)
{
	struct label_shape shape = {.size = like.size,
				    .width = page->width - 2 * PAGE_MARGIN,
				    .lines = max,
				    .bold = like.bold,
				    .breaks = " "};
	char *lines[PAGE_LINES_MAX];
	double height = like.size * 1.28;
	int i, n;

	if (!text)
		return;
	n = page_wrap_text(page, text, shape, lines);
	for (i = 0; i < n; i++) {
		like.x = PAGE_MARGIN;
		like.y = *y + height / 2;
		like.text = lines[i];
		page_put_text(page, like);
		*y += height;
	}
}

static void page_place_heading(struct page *page, const struct figure *f, struct pen *pen)
{
	struct label_shape two = {.size = PAGE_TITLE_SIZE,
				  .width = page->width - 2 * PAGE_MARGIN,
				  .lines = f->narrow ? 3 : 2,
				  .bold = true,
				  .breaks = " "};
	bool fits = !f->title || label_wraps(f->title, &two);
	const char *shown = f->subtitle ? f->subtitle : "";
	int lines = f->narrow ? PAGE_LINES_MAX : 2;

	page_put_lines(page, &pen->top, f->title,
		       (struct page_text){.size = fits ? PAGE_TITLE_SIZE : PAGE_TITLE_SMALL,
					  .bold = true,
					  .rgb = INK},
		       two.lines);
	if (f->remarks)
		shown = arena_printf(&page->arena, "%s · %s", shown, f->remarks);
	page_put_lines(page, &pen->top, shown,
		       (struct page_text){.size = PAGE_SUBTITLE_SIZE, .rgb = INK_SOFT}, lines);
	page_put_lines(page, &pen->top, f->doubt,
		       (struct page_text){.size = PAGE_TICK_SIZE, .rgb = INK_WARN},
		       f->narrow ? PAGE_LINES_MAX : 3);
}

/* The foot note begins with the meaning of cut bars, or of a cut whisker. */
static const char *page_foot_text(struct page *page, const struct figure *f)
{
	char *text;
	const char *kept;
	bool cut = f->curves && curves_are_cut(f);

	if (!f->curves)
		page_reach(f, &cut);
	if (f->cut > 0)
		text = xasprintf(
			"Longer bars and whiskers end at %g %%; the numbers are whole · %s", f->cut,
			f->foot);
	else if (cut)
		text = xasprintf("Arrow: the interval goes on beyond the chart · %s", f->foot);
	else
		return f->foot;
	kept = arena_strdup(&page->arena, text);
	free(text);
	return kept;
}

static void page_place_foot(struct page *page, const struct figure *f, struct pen *pen)
{
	char *lines[PAGE_LINES_MAX];
	int n, i;

	if (!f->foot)
		return;
	n = page_wrap_text(page, page_foot_text(page, f),
			   (struct label_shape){.size = PAGE_FOOT_SIZE,
						.width = page->width - 2 * PAGE_MARGIN,
						.lines = f->narrow ? PAGE_LINES_MAX : 3,
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

/* A name with settings, "mmap+mtu9000+gro-off", breaks between the settings. */
static const char *label_breaks(const char *name)
{
	return strchr(name, '+') ? "+" : LABEL_BREAKS_NAMES;
}

static bool bar_labels_fit(const struct figure *f, double size, double slot, int lines)
{
	int i;

	for (i = 0; i < f->bars.n; i++) {
		const char *label = f->bars.mark[i].label;
		struct label_shape shape = {size, slot - 8, lines, false, label_breaks(label),
					    true};

		if (!label_wraps(label, &shape))
			return false;
	}
	return true;
}

/* Turns labels upright, on as many lines as the slot has room for, and no longer than they need. */
static void page_turn_bar_labels(struct pen *pen, const struct figure *f, double slot)
{
	double widest = page_longest(&f->bars, pen->bar_size, 1e6), least, w;

	pen->turned_lines = (int)(slot / (pen->bar_size * 1.25));
	pen->turned_lines = pen->turned_lines > 3   ? 3
			    : pen->turned_lines < 1 ? 1
						    : pen->turned_lines;
	least = widest / pen->turned_lines;
	for (w = least; w < widest && w < PAGE_TURNED_MAX; w += 4)
		if (bar_labels_fit(f, pen->bar_size, w + 8, pen->turned_lines))
			break;
	pen->bar_turned = w > widest ? widest : w > PAGE_TURNED_MAX ? PAGE_TURNED_MAX : w;
}

/* Chooses one line, two lines, smaller or upright labels; plain bars of many groups get a legend.
 */
static void page_choose_bar_labels(struct pen *pen, const struct figure *f, double slot)
{
	static const struct {
		double size;
		int lines;
	} shapes[] = {{19, 1}, {19, 2}, {17, 1}, {17, 2}, {15, 2}, {15, 3}};
	size_t i;

	pen->bars_named = true;
	for (i = 0; i < array_size(shapes); i++) {
		if (!bar_labels_fit(f, shapes[i].size, slot, shapes[i].lines))
			continue;
		pen->bar_size = shapes[i].size;
		pen->bar_lines = shapes[i].lines;
		return;
	}
	pen->bars_named = f->parts.n || f->groups.n == 1;
	pen->bar_size = slot < 19 ? slot * 0.8 : slot > 90 ? 15 : 16;
	pen->bar_lines = slot > 90 ? 3 : 0;
	page_turn_bar_labels(pen, f, slot);
}

static void page_place_turned_label(struct page *page, const struct pen *pen, double x,
				    const char *label)
{
	double step = pen->bar_size * 1.2;
	char *lines[PAGE_LINES_MAX];
	int i, n;

	n = label_wrap(&page->arena, label,
		       &(struct label_shape){pen->bar_size, pen->bar_turned, pen->turned_lines,
					     false, label_breaks(label), true},
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

static void page_place_bar_label(struct page *page, const struct figure *f, const struct pen *pen,
				 double x, const char *label)
{
	double slot = page_slot_px(page, f) - 8, y = page->bottom + 8 + pen->bar_size * 0.65;
	char *lines[PAGE_LINES_MAX];
	int i, n;

	if (!pen->bar_lines) {
		page_place_turned_label(page, pen, x, label);
		return;
	}
	n = label_wrap(&page->arena, label,
		       &(struct label_shape){pen->bar_size, slot, pen->bar_lines, false,
					     label_breaks(label), true},
		       lines);
	for (i = 0; i < n; i++)
		page_put_text(page, (struct page_text){.x = x,
						       .y = y + i * pen->bar_size * 1.2,
						       .size = pen->bar_size,
						       .align = ALIGN_CENTER,
						       .rgb = INK,
						       .text = lines[i]});
}

static double page_bar_label_height(const struct pen *pen)
{
	if (!pen->bars_named)
		return 6;
	return pen->bar_lines ? 8 + pen->bar_lines * pen->bar_size * 1.25 : 16 + pen->bar_turned;
}

static void page_place_upright_labels(struct page *page, const struct figure *f,
				      const struct pen *pen)
{
	double y = page->bottom + page_bar_label_height(pen) + PAGE_GROUP_SIZE * 0.65, span;
	int g, b;

	for (g = 0; g < f->groups.n; g++) {
		double x0 = page_position_px(page, f, page_position(f, g, 0));
		double x1 = page_position_px(page, f, page_position(f, g, f->bars.n - 1));

		for (b = 0; b < f->bars.n && pen->bars_named; b++)
			page_place_bar_label(page, f, pen,
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

static void page_place_lying_labels(struct page *page, const struct figure *f, double width)
{
	double mid = (f->bars.n - 1) / 2.0, size = 18;
	char *lines[PAGE_LINES_MAX];
	int g, i, n;

	for (g = 0; g < f->groups.n; g++) {
		n = label_wrap(&page->arena, f->groups.mark[g].label,
			       &(struct label_shape){size, width, f->narrow ? 3 : 1, false,
						     LABEL_BREAKS_NAMES, true},
			       lines);
		for (i = 0; i < n; i++)
			page_put_text(page,
				      (struct page_text){
					      .x = page->left - 12,
					      .y = page_position_px(page, f,
								    page_position(f, g, 0) + mid) +
						   (i - (n - 1) / 2.0) * size * 1.15,
					      .size = size,
					      .align = ALIGN_RIGHT,
					      .rgb = INK,
					      .text = lines[i]});
	}
}

/* Says at the axis that a bar is missing. */
static void page_place_absent(struct page *page, const struct figure *f)
{
	int g, b, p;

	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			double at = page_position_px(page, f, page_position(f, g, b));
			const char *note = figure_note(f, g, b);
			struct estimate e;
			bool there = figure_get(f, g, b, FIGURE_WHOLE, &e);

			for (p = 0; p < f->parts.n && !there; p++)
				there = figure_get(f, g, b, p, &e);
			if (there)
				continue;
			page_put_text(
				page,
				(struct page_text){
					.x = f->lying
						     ? page->left + 6 +
							       g * page->pitch * page_scale(page, f)
						     : at,
					.y = f->lying ? at : page->bottom - 14,
					.size = f->lying ? page->value_size * 0.9 : 17,
					.align = f->lying ? ALIGN_LEFT : ALIGN_CENTER,
					.rgb = INK_SOFT,
					.text = label_fit(&page->arena, *note ? note : f->absent,
							  17, 300)});
		}
	}
}

/* Returns whether the part is thick enough to be seen in any bar. */
static bool part_is_seen(const struct figure *f, int part, double least)
{
	struct estimate e;
	int g, b;

	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			if (figure_get(f, g, b, part, &e) && e.value >= least)
				return true;
	return false;
}

void page_place_part_legend(struct page *page, const struct figure *f, double bottom)
{
	enum { THINNEST = 250 }; /* the axis has room for this many of the thinnest parts */
	double widest = 0, y, step, size = PAGE_LEGEND_SIZE, w, least;
	bool *seen = xcalloc((size_t)f->parts.n + 1, sizeof(*seen)), cut;
	int i, used = 0;

	least = page_reach(f, &cut) / THINNEST;
	for (i = 0; i < f->parts.n; i++)
		used += seen[i] = part_is_seen(f, i, least);
	step = used ? fmin(31, (bottom - page->top) / used) : 31;
	size = fmin(size, step * 0.8);
	for (i = 0; i < f->parts.n; i++) {
		w = label_width(f->parts.mark[i].label, size, false);
		widest = w > widest && seen[i] ? w : widest;
	}
	widest = fmin(widest, PAGE_LEGEND_MAX * page->width / PAGE_W);
	page->right -= widest + 50;
	y = page->top + 14;
	for (i = f->parts.n - 1; i >= 0; i--) {
		if (!seen[i])
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
	free(seen);
}

/* Returns whether a figure of curves has none of the bar: its legend leaves it out. */
static bool bar_has_no_curve(const struct figure *f, int bar)
{
	int i;

	for (i = 0; f->curves && i < f->curves->n; i++)
		if (f->curves->curves[i].line == bar && f->curves->curves[i].n)
			return false;
	return f->curves;
}

/* Places the legend of bars in columns below the captions. */
static void page_place_bar_legend(struct page *page, const struct figure *f, struct pen *pen)
{
	double width = page_longest(&f->bars, PAGE_LEGEND_SIZE, 420), unit = f->lying ? 140 : 0;
	int columns = (int)((page->width - 2 * PAGE_MARGIN - unit + 34) / (width + 60)), i, n = 0;
	double y = pen->top + 22;

	columns = columns < 1 ? 1 : columns;
	for (i = 0; i < f->bars.n; i++) {
		double x = PAGE_MARGIN + n % columns * (width + 60);

		if (bar_has_no_curve(f, i))
			continue;
		y += n && n % columns == 0 ? 28 : 0;
		n++;
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

/* --- upright and lying --- */

static void page_place_unit(struct page *page, const struct figure *f, struct pen *pen)
{
	struct page_text unit = {.size = PAGE_TICK_SIZE, .rgb = INK_SOFT, .text = f->axis};

	if (!f->axis)
		return;
	unit.x = f->lying ? page->width - PAGE_MARGIN : PAGE_MARGIN;
	unit.y = f->lying ? pen->top - 14 : pen->top + 18;
	unit.align = f->lying ? ALIGN_RIGHT : ALIGN_LEFT;
	page_put_text(page, unit);
	pen->top += f->lying ? 10 : 42;
}

static void page_make_upright(struct page *page, const struct figure *f, struct pen *pen)
{
	bool named_groups = f->groups.n > 1 || *f->groups.mark[0].label;

	page->left = PAGE_MARGIN + page_tick_width(f);
	page->right = page->width - PAGE_MARGIN;
	page->top = pen->top + 38;
	page->bottom = pen->bottom - 60;
	if (f->parts.n)
		page_place_part_legend(page, f, pen->bottom);
	page_place_positions(page, f);
	page_choose_bar_labels(pen, f, page_slot_px(page, f));
	if (!pen->bars_named)
		page_place_bar_legend(page, f, pen);
	page_place_unit(page, f, pen);
	page->top = pen->top;
	page->bottom = pen->bottom - page_bar_label_height(pen) -
		       (named_groups ? PAGE_GROUP_SIZE * 1.3 : 0);
	page->value_size = fmin(19, page_slot_px(page, f) * 0.31);
	page->part_size = page_slot_px(page, f) < 70 ? 0 : 16;
	page_place_limit(page, f);
	page_place_upright_labels(page, f, pen);
}

static void page_make_lying(struct page *page, const struct figure *f, struct pen *pen)
{
	double widest = page_longest(&f->groups, 18, PAGE_SYMBOL_MAX * page->width / PAGE_W), bar;
	page->left = PAGE_MARGIN + widest + 12;
	page->right = page->width - PAGE_MARGIN;
	page_place_bar_legend(page, f, pen);
	page_place_unit(page, f, pen);
	page->top = pen->top;
	page->bottom = pen->bottom - PAGE_TICK_SIZE * 1.5;
	page_place_positions(page, f);
	bar = page_slot_px(page, f);
	page->value_size = bar < 18 ? bar * 0.95 : 17;
	page_place_limit(page, f);
	page_place_lying_labels(page, f, widest);
}

/* Leaves a frame for the panels between the legend and the name of the axis of x. */
static void page_make_curves(struct page *page, const struct figure *f, struct pen *pen)
{
	if (f->bars.n > 1 && !f->curves->multiples)
		page_place_bar_legend(page, f, pen);
	page->left = PAGE_MARGIN;
	page->right = page->width - PAGE_MARGIN;
	page->top = pen->top;
	page->bottom = pen->bottom - PAGE_TICK_SIZE * 1.5;
	page_put_text(page, (struct page_text){.x = page->width - PAGE_MARGIN,
					       .y = pen->bottom - PAGE_TICK_SIZE * 0.6,
					       .size = PAGE_TICK_SIZE,
					       .align = ALIGN_RIGHT,
					       .rgb = INK_SOFT,
					       .text = f->curves->axis});
}

void page_make_texts(struct page *page, const struct figure *f, double height)
{
	struct pen pen = {.top = 22, .bottom = height - 14};

	*page = (struct page){.width = f->narrow ? PAGE_NARROW_W : PAGE_W, .height = height};
	page_place_heading(page, f, &pen);
	page_place_foot(page, f, &pen);
	page->left = PAGE_MARGIN;
	page->right = page->width - PAGE_MARGIN;
	page->top = pen.top;
	page->bottom = pen.bottom;
}

static double page_height(const struct figure *f)
{
	enum { TEXTS = 560, PANEL = 130 };

	if (!f->narrow)
		return PAGE_H;
	return f->curves ? fmax(PAGE_NARROW_H, TEXTS + PANEL * curves_rows(f)) : PAGE_NARROW_H;
}

void page_make(struct page *page, const struct figure *f)
{
	struct pen pen;

	page_make_texts(page, f, page_height(f));
	pen = (struct pen){.top = page->top, .bottom = page->bottom};
	if (f->curves) {
		page_make_curves(page, f, &pen);
		return;
	}
	if (f->rows)
		page_make_rows(page, f, pen.top, pen.bottom);
	else if (f->lying)
		page_make_lying(page, f, &pen);
	else
		page_make_upright(page, f, &pen);
	page_place_absent(page, f);
}

void page_free(struct page *page)
{
	free(page->texts);
	free(page->swatches);
	arena_free(&page->arena);
	*page = (struct page){0};
}
