// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the top down: title, subtitle, captions, legend, unit, then from the bottom up: foot note,
 * groups, bars. What is left is the frame. Labels choose among a few shapes by their width; nothing
 * overlaps and nothing is cut without an ellipsis.
 */
#include "plot/figure.h"

#include "plot/label.h"
#include "plot/palette.h"

/* Fonts, pixels. */
#define PAGE_TITLE_SIZE	   31.0
#define PAGE_TITLE_SMALL   25.0
#define PAGE_SUBTITLE_SIZE 20.0
#define PAGE_LEGEND_SIZE   19.0
#define PAGE_GROUP_SIZE	   20.0
#define PAGE_FOOT_SIZE	   14.5
#define PAGE_PANEL_SIZE	   16.0 /* the name of a panel of rows */

/* Widths, pixels. */
#define PAGE_LEGEND_MAX 330.0
#define PAGE_SYMBOL_MAX 430.0
#define PAGE_TURNED_MAX 230.0
#define PAGE_ROW_MAX	330.0

enum { PAGE_LINES_MAX = 4, PAGE_PANEL_LINES = 3 };

/* --- axes: where bars stand along one, and how far values reach along the other --- */

struct extent {
	double bars, whiskers; /* the far ends of the highest */
};

static void extent_add_bar(struct extent *x, const struct figure *f, int group, int bar)
{
	double from = figure_from(f, group, bar), at = from;
	struct estimate e;

	for (int p = 0; p < f->parts.n; p++) {
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

	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
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

static double page_panel_px(const struct page *page, const struct figure *f)
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
static void page_place_limit(struct page *page, const struct figure *f)
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

static double page_tick_width(const struct figure *f)
{
	char text[32];
	bool cut;
	double reach = page_reach(f, &cut);

	snprintf(text, sizeof(text), "%.0f", reach);
	return label_width(text, PAGE_TICK_SIZE, false) + (reach < 10 ? PAGE_TICK_SIZE : 0) + 14;
}

double page_position(const struct figure *f, int group, int bar)
{
	double gap = f->bars.n > 1 || f->lying ? 0.7 : 0.25;

	return f->rows ? bar : group * (f->bars.n + gap) + bar;
}

double page_scale(const struct page *page, const struct figure *f)
{
	return (f->lying ? page->right - page->left : page->bottom - page->top) / page->limit;
}

/* A few bars do not become broad: the axis is longer instead. */
static void page_place_positions(struct page *page, const struct figure *f)
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

static double page_position_px(const struct page *page, const struct figure *f, double at)
{
	double share = (at - page->first) / (page->last - page->first);

	return f->lying ? page->top + share * (page->bottom - page->top)
			: page->left + share * (page->right - page->left);
}

double page_slot_px(const struct page *page, const struct figure *f)
{
	return fabs(page_position_px(page, f, 1) - page_position_px(page, f, 0));
}

/* --- texts --- */

struct pen { /* what is still free, from top to bottom */
	double top, bottom;
	bool bars_named; /* each bar has its label; else the legend tells them apart */
	double bar_size;
	int bar_lines;	   /* 0: turned upright */
	double bar_turned; /* their length then, */
	int turned_lines;  /* on so many lines */
};

static void page_put(struct page *page, struct page_text like, double x, double y, const char *text)
{
	like.x = x;
	like.y = y;
	like.text = text;
	array_add(page->texts, page->ntexts, page->texts_cap, like);
}

/* Places a line of the legend: a swatch and the label. */
static void page_put_entry(struct page *page, double x, double y, double swatch, double size,
			   const struct figure_mark *m, double width)
{
	array_add(page->swatches, page->nswatches, page->swatches_cap,
		  (struct page_swatch){x, y - swatch / 2, x + swatch, y + swatch / 2, m->rgb});
	page_put(page, (struct page_text){.size = size, .rgb = INK}, x + 26, y,
		 label_fit(&page->arena, m->label, size, width));
}

/* A name with settings, "mmap+mtu9000+gro-off", breaks between the settings. */
static const char *label_breaks(const char *name)
{
	return strchr(name, '+') ? "+" : LABEL_BREAKS_NAMES;
}

/*
 * Places the lines of a name, `step` apart: across the text if it is turned. `anchor`: 0 places the
 * first line at the position of `like`, 0.5 the middle, 1 the last line.
 */
static void page_put_name(struct page *page, struct page_text like, const char *name, double width,
			  int lines, double step, double anchor)
{
	struct label_shape shape = {like.size, width, lines, like.bold, label_breaks(name), true};
	char *line[PAGE_LINES_MAX];
	int n = label_wrap(&page->arena, name, &shape, line);

	for (int i = 0; i < n; i++) {
		double shift = (i - anchor * (n - 1)) * step;

		page_put(page, like, like.x + (like.turn ? shift : 0),
			 like.y + (like.turn ? 0 : shift), line[i]);
	}
}

/* Returns the width of the longest label, but not more than `max`. */
static double page_longest(const struct figure_marks *m, double size, double max)
{
	double widest = 0;

	for (int i = 0; i < m->n; i++)
		widest = fmax(widest, label_width(m->mark[i].label, size, false));
	return fmin(widest, max);
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
	int n = label_wrap(&page->arena, text, &shape, lines);

	whole.breaks = strstr(text, " · ") ? "·" : ",:;";
	whole.lines = n;
	if (n < 2)
		return n;
	if (!label_wraps(text, &whole))
		whole.breaks = shape.breaks;
	if (label_wraps(text, &whole))
		whole.width = text_balanced_width(text, whole);
	n = label_wrap(&page->arena, text, &whole, lines);
	for (int i = 0; i < n; i++) {
		if (str_ends(lines[i], " ·"))
			lines[i][strlen(lines[i]) - strlen(" ·")] = 0;
		if (str_starts(lines[i], "· "))
			lines[i] += strlen("· ");
	}
	return n;
}

/* Places a text over the whole width, from *top downwards, or above *bottom. */
static void page_put_prose(struct page *page, struct page_text like, const char *text, int max,
			   double *top, double *bottom)
{
	struct label_shape shape = {.size = like.size,
				    .width = page->width - 2 * PAGE_MARGIN,
				    .lines = max,
				    .bold = like.bold,
				    .breaks = " "};
	double height = like.size * (top ? 1.28 : 1.3), y;
	char *lines[PAGE_LINES_MAX];
	int n;

	if (!text)
		return;
	n = page_wrap_text(page, text, shape, lines);
	y = top ? *top : *bottom - n * height;
	for (int i = 0; i < n; i++)
		page_put(page, like, PAGE_MARGIN, y + (i + 0.5) * height, lines[i]);
	if (top)
		*top = y + n * height;
	else
		*bottom = y - 12;
}

static void page_place_heading(struct page *page, const struct figure *f, double *top)
{
	struct label_shape two = {.size = PAGE_TITLE_SIZE,
				  .width = page->width - 2 * PAGE_MARGIN,
				  .lines = 2,
				  .bold = true,
				  .breaks = " "};
	bool fits = !f->title || label_wraps(f->title, &two);
	const char *shown = f->subtitle ? f->subtitle : "";

	page_put_prose(page,
		       (struct page_text){.size = fits ? PAGE_TITLE_SIZE : PAGE_TITLE_SMALL,
					  .bold = true,
					  .rgb = INK},
		       f->title, two.lines, top, NULL);
	if (f->remarks)
		shown = arena_printf(&page->arena, "%s · %s", shown, f->remarks);
	page_put_prose(page, (struct page_text){.size = PAGE_SUBTITLE_SIZE, .rgb = INK_SOFT}, shown,
		       2, top, NULL);
	page_put_prose(page, (struct page_text){.size = PAGE_TICK_SIZE, .rgb = INK_WARN}, f->doubt,
		       3, top, NULL);
}

/* The foot note begins with the meaning of cut bars, or of a cut whisker. */
static const char *page_foot_text(struct page *page, const struct figure *f)
{
	bool cut = f->curves && curves_are_cut(f);

	if (!f->curves)
		page_reach(f, &cut);
	if (f->foot && f->cut > 0)
		return arena_printf(
			&page->arena,
			"Longer bars and whiskers end at %g %%; the numbers are whole · %s", f->cut,
			f->foot);
	if (f->foot && cut)
		return arena_printf(&page->arena, "%s: the interval goes on beyond the chart · %s",
				    f->curves ? "A band at the edge" : "Arrow", f->foot);
	return f->foot;
}

static bool bar_labels_fit(const struct figure *f, double size, double slot, int lines)
{
	for (int i = 0; i < f->bars.n; i++) {
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

	pen->bars_named = true;
	for (size_t i = 0; i < array_size(shapes); i++) {
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

static void page_place_bar_label(struct page *page, const struct figure *f, const struct pen *pen,
				 double x, const char *label)
{
	double size = pen->bar_size;
	struct page_text like = {.size = size, .align = ALIGN_CENTER, .rgb = INK, .x = x};

	if (pen->bar_lines) {
		like.y = page->bottom + 8 + size * 0.65;
		page_put_name(page, like, label, page_slot_px(page, f) - 8, pen->bar_lines,
			      size * 1.2, 0);
	} else {
		like.y = page->bottom + 10;
		like.align = ALIGN_RIGHT;
		like.turn = 90;
		page_put_name(page, like, label, pen->bar_turned, pen->turned_lines, size * 1.2,
			      0.5);
	}
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
	static const struct page_text like = {
		.size = PAGE_GROUP_SIZE, .align = ALIGN_CENTER, .bold = true, .rgb = INK};
	double y = page->bottom + page_bar_label_height(pen) + PAGE_GROUP_SIZE * 0.65;

	for (int g = 0; g < f->groups.n; g++) {
		double x0 = page_position_px(page, f, page_position(f, g, 0));
		double x1 = page_position_px(page, f, page_position(f, g, f->bars.n - 1));

		for (int b = 0; b < f->bars.n && pen->bars_named; b++)
			page_place_bar_label(page, f, pen,
					     page_position_px(page, f, page_position(f, g, b)),
					     f->bars.mark[b].label);
		page_put(page, like, (x0 + x1) / 2, y,
			 label_fit(&page->arena, f->groups.mark[g].label, PAGE_GROUP_SIZE * 1.13,
				   x1 - x0 + page_slot_px(page, f) * 1.2));
	}
}

static void page_place_lying_labels(struct page *page, const struct figure *f, double width)
{
	struct page_text like = {
		.x = page->left - 12, .size = 18, .align = ALIGN_RIGHT, .rgb = INK};

	for (int g = 0; g < f->groups.n; g++) {
		like.y = page_position_px(page, f, page_position(f, g, 0) + (f->bars.n - 1) / 2.0);
		page_put_name(page, like, f->groups.mark[g].label, width, 1, like.size * 1.15, 0.5);
	}
}

/* Says at the axis that a bar is missing. */
static void page_place_absent(struct page *page, const struct figure *f)
{
	struct page_text like = {.size = f->lying ? page->value_size * 0.9 : 17,
				 .align = f->lying ? ALIGN_LEFT : ALIGN_CENTER,
				 .rgb = INK_SOFT};
	struct estimate e;

	for (int g = 0; g < f->groups.n; g++) {
		for (int b = 0; b < f->bars.n; b++) {
			double at = page_position_px(page, f, page_position(f, g, b));
			double zero = page->left + 6 + g * page->pitch * page_scale(page, f);
			const char *note = figure_note(f, g, b);
			bool there = figure_get(f, g, b, FIGURE_WHOLE, &e);

			for (int p = 0; p < f->parts.n && !there; p++)
				there = figure_get(f, g, b, p, &e);
			if (!there)
				page_put(
					page, like, f->lying ? zero : at,
					f->lying ? at : page->bottom - 14,
					label_fit(&page->arena, *note ? note : f->absent, 17, 300));
		}
	}
}

/* Places the legend of parts at the right, in the order of the stack, without those too thin to be
 * seen in any bar. */
static void page_place_part_legend(struct page *page, const struct figure *f, double bottom)
{
	enum { THINNEST = 250 }; /* the axis has room for this many of the thinnest parts */
	bool *seen = xcalloc((size_t)f->parts.n + 1, sizeof(*seen)), cut;
	double widest = 0, y, step, size, least = page_reach(f, &cut) / THINNEST;
	int used = 0;

	for (int i = 0; i < f->parts.n; i++)
		used += seen[i] = figure_part_exceeds(f, i, least);
	step = used ? fmin(31, (bottom - page->top) / used) : 31;
	size = fmin(PAGE_LEGEND_SIZE, step * 0.8);
	for (int i = 0; i < f->parts.n; i++)
		if (seen[i])
			widest = fmax(widest, label_width(f->parts.mark[i].label, size, false));
	widest = fmin(widest, PAGE_LEGEND_MAX);
	page->right -= widest + 50;
	y = page->top + 14;
	for (int i = f->parts.n - 1; i >= 0; i--) {
		if (!seen[i])
			continue;
		page_put_entry(page, page->right + 20, y, size * 0.95, size, &f->parts.mark[i],
			       widest);
		y += step;
	}
	free(seen);
}

/* Returns whether a figure of curves has none of the bar: its legend leaves it out. */
static bool bar_has_no_curve(const struct figure *f, int bar)
{
	for (int i = 0; f->curves && i < f->curves->n; i++)
		if (f->curves->curves[i].line == bar && f->curves->curves[i].n)
			return false;
	return f->curves;
}

/* Places the legend of bars in columns below the captions. */
static void page_place_bar_legend(struct page *page, const struct figure *f, struct pen *pen)
{
	double width = page_longest(&f->bars, PAGE_LEGEND_SIZE, 420), unit = f->lying ? 140 : 0;
	int columns = (int)((page->width - 2 * PAGE_MARGIN - unit + 34) / (width + 60)), n = 0;
	double y = pen->top + 22;

	columns = columns < 1 ? 1 : columns;
	for (int i = 0; i < f->bars.n; i++) {
		if (bar_has_no_curve(f, i))
			continue;
		y += n && n % columns == 0 ? 28 : 0;
		page_put_entry(page, PAGE_MARGIN + n++ % columns * (width + 60), y, 18,
			       PAGE_LEGEND_SIZE, &f->bars.mark[i], width);
	}
	pen->top = y + 14;
}

static const struct page_text page_unit = {
	.size = PAGE_TICK_SIZE, .align = ALIGN_RIGHT, .rgb = INK_SOFT};

static void page_place_unit(struct page *page, const struct figure *f, struct pen *pen)
{
	struct page_text like = page_unit;

	if (!f->axis)
		return;
	like.align = f->lying ? ALIGN_RIGHT : ALIGN_LEFT;
	page_put(page, like, f->lying ? page->width - PAGE_MARGIN : PAGE_MARGIN,
		 pen->top + (f->lying ? -14 : 18), f->axis);
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
	double widest = page_longest(&f->groups, 18, PAGE_SYMBOL_MAX), bar;

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

/* --- rows: names at the left, panels side by side with their names above --- */

/* Returns the lines of the longest name of a panel. */
static int page_panel_lines(struct page *page, const struct figure *f)
{
	struct label_shape shape = {PAGE_PANEL_SIZE,	page_panel_px(page, f),
				    PAGE_PANEL_LINES,	true,
				    LABEL_BREAKS_NAMES, true};
	char *line[PAGE_PANEL_LINES];
	int n = 0, lines;

	for (int g = 0; g < f->groups.n; g++) {
		lines = label_wrap(&page->arena, f->groups.mark[g].label, &shape, line);
		n = lines > n ? lines : n;
	}
	return n;
}

/* Names the rows, in the largest font that has room, and the panels. */
static void page_place_row_names(struct page *page, const struct figure *f, double size)
{
	struct page_text row = {.size = size, .align = ALIGN_RIGHT, .rgb = INK};
	struct page_text panel = {.size = PAGE_PANEL_SIZE, .bold = true, .rgb = INK};
	double step = PAGE_PANEL_SIZE * 1.2;

	for (int b = 0; b < f->bars.n; b++)
		page_put(page, row, page->left - 10, page_position_px(page, f, b),
			 label_fit(&page->arena, f->bars.mark[b].label, size,
				   page->left - 10 - PAGE_MARGIN));
	panel.y = page->top - 8 - step / 2;
	for (int g = 0; g < f->groups.n; g++) {
		panel.x = page->left + g * page->pitch * page_scale(page, f);
		page_put_name(page, panel, f->groups.mark[g].label, page_panel_px(page, f),
			      PAGE_PANEL_LINES, step, 1);
	}
}

/* Makes a row for each bar and a panel for each group. The unit stands left of the ticks. */
static void page_make_rows(struct page *page, const struct figure *f, const struct pen *pen)
{
	double names = (pen->bottom - pen->top - 90) / f->bars.n * 0.85, unit;

	names = fmin(17, fmax(8.5, names));
	unit = f->axis ? label_width(f->axis, PAGE_TICK_SIZE, false) : 0;
	page->left = PAGE_MARGIN + 10 +
		     fmax(page_longest(&f->bars, names, PAGE_ROW_MAX), fmin(unit, PAGE_ROW_MAX));
	page->right = page->width - PAGE_MARGIN;
	page->bottom = pen->bottom - PAGE_TICK_SIZE * 1.5;
	page->top = pen->top + 12;
	if (f->parts.n)
		page_place_part_legend(page, f, page->bottom);
	page->top += page_panel_lines(page, f) * PAGE_PANEL_SIZE * 1.2 + 8;
	page_place_positions(page, f);
	names = fmin(names, page_slot_px(page, f) * 0.95);
	page->value_size = fmin(15, names);
	page_place_limit(page, f);
	page_place_row_names(page, f, names);
	if (f->axis)
		page_put(page, page_unit, page->left - 14, page->bottom + PAGE_TICK_SIZE * 0.85,
			 label_fit(&page->arena, f->axis, PAGE_TICK_SIZE, page->left - 14 - 4));
}

/* Leaves a frame for the panels between the legend and the name of the axis of x. */
static void page_make_curves(struct page *page, const struct figure *f, struct pen *pen)
{
	if (f->bars.n > 1)
		page_place_bar_legend(page, f, pen);
	page->top = pen->top;
	page->bottom = pen->bottom - PAGE_TICK_SIZE * 1.5;
	page_put(page, page_unit, page->width - PAGE_MARGIN, pen->bottom - PAGE_TICK_SIZE * 0.6,
		 f->curves->axis);
}

void page_make_texts(struct page *page, const struct figure *f, double height)
{
	*page = (struct page){.width = PAGE_W,
			      .height = height,
			      .left = PAGE_MARGIN,
			      .top = 22,
			      .bottom = height - 14};
	page->right = page->width - PAGE_MARGIN;
	page_place_heading(page, f, &page->top);
	page_put_prose(page, (struct page_text){.size = PAGE_FOOT_SIZE, .rgb = INK_SOFT},
		       page_foot_text(page, f), 3, NULL, &page->bottom);
}

void page_make(struct page *page, const struct figure *f)
{
	struct pen pen;

	page_make_texts(page, f, PAGE_H);
	pen = (struct pen){.top = page->top, .bottom = page->bottom};
	if (f->curves)
		page_make_curves(page, f, &pen);
	else if (f->rows)
		page_make_rows(page, f, &pen);
	else if (f->lying)
		page_make_lying(page, f, &pen);
	else
		page_make_upright(page, f, &pen);
	if (!f->curves)
		page_place_absent(page, f);
}

void page_free(struct page *page)
{
	free(page->texts);
	free(page->swatches);
	arena_free(&page->arena);
	*page = (struct page){0};
}
