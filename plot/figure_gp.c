// SPDX-License-Identifier: GPL-2.0-only
/*
 * A figure on disk: NAME.tsv holds what is drawn, NAME.gp how. The script is plain gnuplot, made to
 * be edited: `gnuplot NAME.gp` in its folder draws the pictures again.
 *
 * Names reach the script only in the strings of label_quote(), outside of any block, and the .tsv
 * only behind the numbers that gnuplot reads.
 */
#include "plot/figure.h"

#include "lib/command.h"
#include "lib/file.h"
#include "plot/palette.h"
#include "plot/label.h"

void gp_add_text(struct str *s, const struct page *page, const struct page_text *t,
		 const char *name)
{
	static const char *const aligns[] = {"left", "center", "right"};

	str_puts(s, "set label ");
	if (name)
		str_puts(s, name);
	else if (t->bold)
		label_quote_enhanced(s, t->text);
	else
		label_quote(s, t->text);
	str_printf(s, " at screen %.4f,%.4f %s", t->x / page->width, 1 - t->y / page->height,
		   aligns[t->align]);
	if (t->turn)
		str_printf(s, " rotate by %d", t->turn);
	str_printf(s, " %s font 'sans-serif%s,%g' textcolor rgb '#%06x'\n",
		   t->bold ? "enhanced" : "noenhanced", t->bold ? ":Bold" : "", t->size, t->rgb);
}

void gp_add_texts(struct str *s, const struct page *page, bool by_name)
{
	char name[32];

	for (int i = 0; i < page->ntexts; i++) {
		snprintf(name, sizeof(name), "text%d", i);
		if (*page->texts[i].text || by_name)
			gp_add_text(s, page, &page->texts[i], by_name ? name : NULL);
	}
	for (int i = 0; i < page->nswatches; i++) {
		const struct page_swatch *w = &page->swatches[i];

		str_printf(
			s,
			"set object rectangle from screen %.4f,%.4f to screen %.4f,%.4f fillstyle solid noborder fillcolor rgb '#%06x'\n",
			w->x0 / page->width, 1 - w->y1 / page->height, w->x1 / page->width,
			1 - w->y0 / page->height, w->rgb);
	}
}

void gp_add_tick(struct str *s, int n, double value, double at)
{
	static const struct {
		double from, unit;
		const char *word;
	} words[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}, {0, 1, ""}};
	size_t i = 0;

	while (fabs(value) < words[i].from)
		i++;
	str_printf(s, "%s'%.4g%s' %.10g", n ? ", " : "(", value / words[i].unit, words[i].word, at);
}

/* Labels the multiples of the step from 0, in each panel. */
static void gp_add_ticks(struct str *s, const struct figure *f, const struct page *page)
{
	int panels = f->rows ? f->groups.n : 1, n = 0;
	double end = f->rows ? page->reach : page->limit;

	for (int g = 0; g < panels; g++)
		for (int k = 0; k * page->tick <= end * (1 + 1e-9); k++)
			gp_add_tick(s, n++, k * page->tick, g * page->pitch + k * page->tick);
	str_puts(s, ")");
}

/* Draws the axis of each panel of rows but the first, where the frame has one. */
static void gp_add_panel_axes(struct str *s, const struct figure *f, const struct page *page)
{
	for (int g = 1; g < f->groups.n && f->rows; g++)
		str_printf(
			s,
			"set arrow from %.10g, graph 0 to %.10g, graph 1 nohead front linewidth 1.5 linecolor rgb '#%06x'\n",
			g * page->pitch, g * page->pitch, INK);
}

static void gp_add_axes(struct str *s, const struct figure *f, const struct page *page)
{
	const char *value = f->lying ? "x" : "y", *bars = f->lying ? "y" : "x";

	str_printf(s,
		   "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
		   "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		   page->left / page->width, page->right / page->width,
		   1 - page->top / page->height, 1 - page->bottom / page->height);
	str_printf(s, "set %srange [0:%.10g]\n", value, page->limit);
	if (f->lying) /* from the top down */
		str_printf(s, "set yrange [%.10g:%.10g]\n", page->last, page->first);
	else
		str_printf(s, "set xrange [%.10g:%.10g]\n", page->first, page->last);
	str_printf(s,
		   "unset key\nunset %stics\n"
		   "set border %d linecolor rgb '#%06x' linewidth 1.5\n"
		   "set %stics nomirror scale 0 ",
		   bars, f->lying ? 2 : 1, INK, value);
	gp_add_ticks(s, f, page);
	str_printf(s,
		   " font 'sans-serif,17' textcolor rgb '#%06x'\n"
		   "set grid %stics back linetype 1 linewidth 1 linecolor rgb '#%06x'\n",
		   INK_SOFT, value, INK_GRID);
	gp_add_panel_axes(s, f, page);
}

/* Returns the least part with a number, in units of value. */
static double gp_least_part(const struct page *page, const struct figure *f)
{
	return page->part_size * 1.35 / page_scale(page, f);
}

/* Returns the condition for the rows of whole bars, which carry the numbers and whiskers. */
static const char *gp_whole_rows(const struct figure *f)
{
	return f->parts.n ? "$1 == 0" : "$1 > 0";
}

/* Returns the least whisker, in units of value: the heads of a shorter one would be a blot. */
static double gp_least_whisker(const struct page *page, const struct figure *f)
{
	return 3 / page_scale(page, f);
}

static bool bar_is_drawn(const struct figure *f, int bar)
{
	return array_find(x, f->data, f->ndata, x->bar == bar && !isnan(x->e.value));
}

static void gp_add_boxes(struct str *s, const struct figure *f)
{
	const struct figure_marks *m = f->parts.n ? &f->parts : &f->bars;
	bool steps = figure_has_steps(f); /* pale ones need an outline */
	int n = 0;

	for (int i = 0; i < m->n; i++) {
		if (f->parts.n ? !figure_part_exceeds(f, i, -1) : !bar_is_drawn(f, i))
			continue;
		str_printf(
			s,
			"%s data skip 1 using ($1 == %d ? %s with boxxyerror fillstyle solid 1 border rgb '#%06x' fillcolor rgb '#%06x'",
			n++ ? ", \\\n\t\t" : "\tplot", i + 1,
			f->lying ? "shown($5) : NaN):(($2+$3)/2):4:(shown($5)):2:3"
				 : "($2+$3)/2 : NaN):(shown($5)):2:3:4:(shown($5))",
			steps ? INK_SOFT : 0xffffff, m->mark[i].rgb);
	}
}

/* Two slanted gaps near the end of a bar that goes on beyond the reach. */
static void gp_add_breaks(struct str *s, const struct figure *f, const struct page *page)
{
	double pixel = 1 / page_scale(page, f);

	for (int i = 0; i < 2 && f->cut > 0; i++)
		str_printf(
			s,
			f->lying
				? ", \\\n\t\tdata skip 1 using (%s && $5 > far(0) * (1 + 1e-9) ? far(0) - %.6g : NaN):2:(%.6g):($3-$2) with vectors nohead front linewidth 3 linecolor rgb '#ffffff'"
				: ", \\\n\t\tdata skip 1 using (%s && $5 > far(0) * (1 + 1e-9) ? $2 : NaN):(far(0) - %.6g):($3-$2):(%.6g) with vectors nohead front linewidth 3 linecolor rgb '#ffffff'",
			gp_whole_rows(f), (20 + 8 * i) * pixel, 6 * pixel);
}

/* Draws a line from the end of each step to the beginning of the next. */
static void gp_add_joints(struct str *s, const struct figure *f)
{
	if (figure_has_steps(f))
		str_printf(
			s,
			", \\\n\t\tdata skip 1 using ($0 < %d ? $3 : NaN):5:(%g):(0) with vectors nohead linewidth 1 linecolor rgb '#%06x'",
			f->bars.n - 1, 1 - 2 * BAR_HALF / 100.0, INK_SOFT);
}

/* Returns whether the whisker of any bar ends beyond the reach (or below it). */
static bool figure_has_whisker(const struct figure *f, const struct page *page, bool beyond)
{
	struct estimate e;

	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
			if (figure_get(f, g, b, FIGURE_WHOLE, &e) &&
			    e.hi - e.lo > gp_least_whisker(page, f) &&
			    (figure_from(f, g, b) + e.hi > page->reach * (1 + 1e-9)) == beyond)
				return true;
	return false;
}

/* Returns whether whiskers stand beside their bars, so that the numbers stand close above these. */
static bool figure_whiskers_are_beside(const struct figure *f)
{
	return !f->lying && !figure_has_steps(f);
}

/*
 * A whisker is an arrow with flat heads: gnuplot's own error bars leave a hole where a point would
 * be. A whisker that goes on beyond the reach has an arrow's head there.
 */
static void gp_add_whisker(struct str *s, const struct figure *f, const char *when, const char *to,
			   const char *heads)
{
	const char *at = figure_whiskers_are_beside(f) ? "$3 + 0.06" : "($2+$3)/2";

	str_printf(
		s,
		", \\\n\t\tdata skip 1 using (%s && valid(7) && valid(8) && $8-$7 > seen && %s && low(0) < far(0) ? ",
		gp_whole_rows(f), when);
	if (f->lying)
		str_printf(s, "low(0) : NaN):(%s):(%s-low(0)):(0)", at, to);
	else
		str_printf(s, "%s : NaN):(low(0)):(0):(%s-low(0))", at, to);
	str_printf(s, " with vectors %s linewidth 2 linecolor rgb '#%06x'", heads, INK);
}

/* Leaves out a plot that would draw nothing, because gnuplot complains about it. */
static void gp_add_whiskers(struct str *s, const struct figure *f, const struct page *page)
{
	if (figure_has_whisker(f, page, false))
		gp_add_whisker(s, f, "!beyond(0)", "high(0)", "heads size screen 0.004,90");
	if (!figure_has_whisker(f, page, true))
		return;
	gp_add_whisker(s, f, "beyond(0)", "far(0)", "backhead size screen 0.004,90");
	gp_add_whisker(s, f, "beyond(0)", "far(0)", "head filled size screen 0.009,18");
}

static void gp_add_part_number(struct str *s, const struct figure *f, const struct page *page,
			       int part)
{
	str_printf(
		s,
		", \\\n\t\tdata skip 1 using ($1 == %d && $5-$4 > least ? ($2+$3)/2 : NaN):(($4+$5)/2):(number($6)) with labels center noenhanced font 'sans-serif,%g' textcolor rgb '%s'",
		part + 1, page->part_size,
		palette_dark(f->parts.mark[part].rgb) ? "#ffffff" : "#222222");
}

/* The number of a bar stands above it or beyond its whisker, that of a part inside it where it has
 * room. */
static void gp_add_numbers(struct str *s, const struct figure *f, const struct page *page)
{
	const char *place = f->lying ? "end($5) + lift : NaN):(($2+$3)/2)"
			    : figure_whiskers_are_beside(f)
				    ? "($2+$3)/2 : NaN):(shown(top($5)) + lift)"
				    : "($2+$3)/2 : NaN):(end($5) + lift)";

	if (figure_part_exceeds(f, FIGURE_WHOLE, -1))
		str_printf(
			s,
			", \\\n\t\tdata skip 1 using (%s ? %s:(%s) with labels %s%s noenhanced font 'sans-serif,%g' textcolor rgb '#%06x'",
			gp_whole_rows(f), place,
			figure_has_steps(f) ? "step($6)" : "number($6).suffix(11)",
			f->lying ? "left" : "center", f->rows ? "" : " boxed", page->value_size,
			INK);
	for (int i = 0; i < f->parts.n && page->part_size > 0; i++)
		if (figure_part_exceeds(f, i, gp_least_part(page, f)))
			gp_add_part_number(s, f, page, i);
	str_puts(s, "\n");
}

static void gp_add_functions(struct str *s, const struct figure *f, const struct page *page)
{
	str_printf(
		s,
		"\n# three significant digits; distances: bar to number, least bar with a number, least whisker, end of the longest\n"
		"number(v) = v >= 1e9 ? sprintf('%%.3gG', v / 1e9) : v >= 1e6 ? sprintf('%%.3gM', v / 1e6) : v >= 1e4 ? sprintf('%%.3gk', v / 1e3) : v >= 99.95 ? sprintf('%%.0f', v) : "
		"v >= 9.995 ? sprintf('%%.1f', v) : v >= 0.9995 ? sprintf('%%.2f', v) : "
		"v >= 0.0995 ? sprintf('%%.3f', v) : v >= 0.001 ? sprintf('%%.3g', v) : sprintf('%%.2g', v)\n"
		"low(x) = column(5) - column(6) + column(7) < zero(0) ? zero(0) : "
		"column(5) - column(6) + column(7)\n"
		"high(x) = column(5) - column(6) + column(8)\n"
		"zero(x) = %s\n"
		"far(x) = zero(0) + reach\n"
		"beyond(x) = high(0) > far(0) * (1 + 1e-9)\n"
		"shown(to) = to > far(0) ? far(0) : to\n"
		"top(to) = column(4) > to ? column(4) : to\n"
		"end(to) = shown(!valid(8) || high(0) < top(to) ? top(to) : high(0))\n"
		"step(v) = column(4) == 0 ? number(v) : v < 0 ? '−'.number(-v) : '+'.number(v)\n"
		"lift = %.6g\nleast = %.6g\nseen = %.6g\nreach = %.10g\n",
		f->rows ? "column(4)" : "0",
		(f->lying ? 8 : page->value_size * 0.8) / page_scale(page, f) +
			figure_stack_excess(f),
		gp_least_part(page, f), gp_least_whisker(page, f), page->reach);
	str_puts(s, "suffix(c) = ");
	if (f->note_unit && !f->rows) {
		str_puts(s, "' · '.number(column(c)).' '.");
		label_quote(s, f->note_unit);
	} else if (f->starred) {
		str_puts(s, "strcol(c) eq ");
		label_quote(s, f->starred);
		str_puts(s, " ? '*' : ''");
	} else {
		str_puts(s, "''");
	}
	str_putc(s, '\n');
}

void gp_add_terminals(struct str *s, const struct figure *f, const struct page *page,
		      unsigned int formats)
{
	str_printf(s,
		   "\nif (!exists('ending')) ending = ''\ndata = '%s.tsv'\nformats = '%s%s%s'\n\n",
		   f->name, formats & FIGURE_SVG ? "svg " : "", formats & FIGURE_PNG ? "png " : "",
		   formats & FIGURE_PDF ? "pdf " : "");
	str_printf(
		s,
		"do for [format in formats] {\n"
		"\tif (format eq 'svg') { set terminal svg size %g,%g fixed enhanced font 'sans-serif,17' background '#ffffff' }\n"
		"\tif (format eq 'png') { set terminal pngcairo size 1920,1080 enhanced font 'sans-serif,17' fontscale 1.125 linewidth 1.5 }\n"
		"\tif (format eq 'pdf') { set terminal pdfcairo size 13.34in,7.504in enhanced font 'sans-serif,17' fontscale 0.5625 linewidth 1.5 }\n"
		"\tset output '%s.'.format.ending\n",
		page->width, page->height, f->name);
}

static void gp_add_bars(struct str *s, const struct figure *f, const struct page *page,
			unsigned int formats)
{
	str_puts(s,
		 "set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.2,0.2\n\n");
	gp_add_texts(s, page, false);
	str_putc(s, '\n');
	gp_add_axes(s, f, page);
	gp_add_functions(s, f, page);
	gp_add_terminals(s, f, page, formats);
	gp_add_boxes(s, f);
	gp_add_joints(s, f);
	gp_add_breaks(s, f, page);
	gp_add_whiskers(s, f, page);
	gp_add_numbers(s, f, page);
	str_puts(s, "}\nset output\n");
}

static void gp_add_script(struct str *s, const struct figure *f, unsigned int formats)
{
	freed(page_free) struct page page;

	page_make(&page, f);
	str_printf(
		s,
		"# Drawn by zcost %s. Edit it, then `gnuplot %s.gp` in this folder draws it again.\n\nset encoding utf8\nset datafile separator \"\\t\"\n"
		"set datafile commentschars ''\n",
		zcost_version, f->name);
	if (f->curves)
		curves_add_script(s, f, &page, formats);
	else
		gp_add_bars(s, f, &page, formats);
}

int figure_write(const struct figure *f, const char *dir, unsigned int formats, struct error *err)
{
	autofree char *gp = xasprintf("%s/%s.gp", dir, f->name);
	freed(str_free) struct str s = {0};
	int rc;

	rc = f->curves ? curves_write_tsv(f, dir, err) : figure_write_tsv(f, dir, err);
	if (!rc) {
		gp_add_script(&s, f, formats);
		rc = file_write(gp, s.buf, s.len, err);
		caller_give_path(gp);
	}
	return rc;
}
