// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gnuplot script of curves: a multiplot of panels. Its texts stand in variables before the
 * block, because a block must not hold a name (figure_gp.c).
 */
#include "plot/curves.h"

#include "plot/label.h"
#include "plot/palette.h"

#include <math.h>
#include <stdlib.h>

#define HEAD_SIZE 17.0 /* the font of a panel's name */
#define TICK_SIZE 14.0 /* the fonts at the axes, and between them */
enum { GAP = 34 };

struct box {
	double left, top, right, bottom;
	bool lowest; /* no panel below */
};

static double panel_tick_width(const struct figure *f)
{
	double widest = 0, reach;
	int i;

	for (i = 0; i < f->groups.n; i++) {
		reach = curves_y(f, i, 200).to;
		widest = fmax(widest, reach >= 1e5 ? 52 : reach >= 1000 ? 50 : 44);
	}
	return widest;
}

static struct box panel_box(const struct figure *f, const struct page *page, int panel)
{
	int columns = curves_columns(f), rows = curves_rows(f);
	int row = panel / columns;
	double width = (page->right - page->left + GAP) / columns;
	double height = (page->bottom - page->top) / rows;
	struct box b;

	b.left = page->left + panel % columns * width + panel_tick_width(f);
	b.right = page->left + (panel % columns + 1) * width - GAP;
	b.top = page->top + row * height + HEAD_SIZE * 1.5;
	b.bottom = page->top + (row + 1) * height - 8;
	b.lowest = panel + columns >= f->groups.n;
	if (rows == 1 || b.lowest || f->groups.n > 6 || f->curves->own_x)
		b.bottom -= TICK_SIZE * (b.lowest ? 1.4 : 1.9); /* clear of the next name */
	return b;
}

/* Returns the room of a label: the labels of equal steps then have equal distances. */
static double tick_room(const struct curves *c)
{
	double widest = 0;
	int i;

	for (i = 0; i < c->nticks; i++)
		widest = fmax(widest, label_width(c->ticks[i].label, TICK_SIZE, false));
	return widest + 10;
}

/* Returns the next tick whose label does not touch that of the tick before, or the number of ticks.
 */
static int tick_next(const struct curves *c, int before, const struct curve_range *x, double pixels)
{
	double step = x->log ? pow(x->to / x->from, tick_room(c) / pixels)
			     : (x->to - x->from) * tick_room(c) / pixels;
	double least = c->ticks[before].at;
	int i = before + 1;

	least = x->log ? least * step : least + step;
	while (i < c->nticks && c->ticks[i].at < least * (1 - 1e-9))
		i++;
	return i;
}

/* gnuplot reads the label of a tick as a format. */
static void script_quote_tick(struct str *s, const char *label)
{
	struct str doubled = {0};

	for (; *label; label++)
		str_printf(&doubled, *label == '%' ? "%%%%" : "%c", *label);
	label_quote(s, doubled.len ? doubled.buf : "");
	str_free(&doubled);
}

/* Writes the texts of the page, the panels, the ticks and the marks as variables. */
static void script_add_texts(struct str *s, const struct figure *f, const struct page *page)
{
	const struct curves *c = f->curves;
	struct arena arena = {0};
	int i;

	for (i = 0; i < page->ntexts; i++) {
		str_printf(s, "text%d = ", i);
		if (page->texts[i].bold)
			label_quote_enhanced(s, page->texts[i].text);
		else
			label_quote(s, page->texts[i].text);
		str_putc(s, '\n');
	}
	for (i = 0; i < f->groups.n; i++) {
		struct box b = panel_box(f, page, i);

		str_printf(s, "panel%d = ", i);
		label_quote_enhanced(s, label_fit(&arena, f->groups.mark[i].label, HEAD_SIZE * 1.13,
						  b.right - b.left));
		str_putc(s, '\n');
	}
	for (i = 0; i < c->nticks; i++) {
		str_printf(s, "tick%d = ", i);
		script_quote_tick(s, label_fit(&arena, c->ticks[i].label, TICK_SIZE, 150));
		str_putc(s, '\n');
	}
	for (i = 0; i < c->nmarks; i++) {
		str_printf(s, "mark%d = ", i);
		label_quote(s, c->marks[i].label);
		str_putc(s, '\n');
	}
	arena_free(&arena);
}

static void script_place_texts(struct str *s, const struct page *page)
{
	char name[32];
	int i;

	for (i = 0; i < page->ntexts; i++) {
		snprintf(name, sizeof(name), "text%d", i);
		str_puts(s, "\t");
		gp_add_text(s, page, &page->texts[i], name);
	}
	for (i = 0; i < page->nswatches; i++) {
		str_puts(s, "\t");
		gp_add_swatch(s, page, &page->swatches[i]);
	}
}

static const char *axis_format(const struct curve_range *r)
{
	return r->to >= 1e5 ? "%.0s%c" : r->to < 1e-3 ? "%.0e" : "%g";
}

static void script_add_x_ticks(struct str *s, const struct curves *c, const struct box *b,
			       const struct curve_range *x)
{
	double pixels = b->right - b->left;
	int i;

	if (!c->nticks) {
		if (x->log)
			str_puts(s, "10");
		else
			str_printf(s, "%.10g", x->step);
		return;
	}
	str_putc(s, '(');
	for (i = 0; i < c->nticks; i = tick_next(c, i, x, pixels))
		str_printf(s, "%stick%d %.10g", i ? ", " : "", i, c->ticks[i].at);
	str_putc(s, ')');
}

/* Labels 1, 2 and 5 times the powers of ten, or the powers alone, or some of them, by the room. */
static void script_add_log_ticks(struct str *s, const struct curve_range *y, double pixels)
{
	static const double times[] = {1, 2, 5};
	double decade = pixels / log10(y->to / y->from);
	size_t of_each = decade >= 4 * TICK_SIZE ? array_size(times) : 1, i;
	int stride = decade < 1.3 * TICK_SIZE ? (int)ceil(1.3 * TICK_SIZE / decade) : 1, k, n = 0;

	for (k = (int)floor(log10(y->from)); pow(10, k) <= y->to; k += stride)
		for (i = 0; i < of_each; i++)
			if (times[i] * pow(10, k) >= y->from && times[i] * pow(10, k) <= y->to)
				str_printf(s, "%s%.10g", n++ ? ", " : "(", times[i] * pow(10, k));
	str_puts(s, n ? ") " : "autofreq ");
}

static void script_add_linear_ticks(struct str *s, const struct curve_range *y)
{
	long k = (long)ceil(y->from / y->step - 1e-9);
	int n = 0;

	for (; (double)k * y->step <= y->to; k++, n++)
		gp_add_tick(s, n, (double)k * y->step, (double)k * y->step);
	str_puts(s, n ? ") " : "autofreq ");
}

static void script_add_axes(struct str *s, const struct figure *f, const struct page *page,
			    const struct box *b, int panel)
{
	const struct curves *c = f->curves;
	struct curve_range x = curves_x(f, panel, b->right - b->left);
	struct curve_range y = curves_y(f, panel, b->bottom - b->top);
	bool named = b->lowest || f->groups.n > 6 || c->own_x;

	str_printf(s,
		   "\tset lmargin at screen %.4f\n\tset rmargin at screen %.4f\n"
		   "\tset tmargin at screen %.4f\n\tset bmargin at screen %.4f\n",
		   b->left / page->width, b->right / page->width, 1 - b->top / page->height,
		   1 - b->bottom / page->height);
	str_printf(s, "\tunset logscale\n%s%s", x.log ? "\tset logscale x\n" : "",
		   y.log ? "\tset logscale y\n" : "");
	str_printf(s, "\tset xrange [%.10g:%.10g]\n\tset yrange [%.10g:%.10g]\n", x.from, x.to,
		   y.from, y.to);
	str_puts(s, "\tset xtics nomirror scale 0 ");
	script_add_x_ticks(s, c, b, &x);
	str_printf(s, " format '%s' font 'sans-serif,%g' textcolor rgb '#%06x'\n",
		   !named ? "" : axis_format(&x), TICK_SIZE, named ? INK_SOFT : 0xffffff);
	str_puts(s, "\tset ytics nomirror scale 0 ");
	if (y.log)
		script_add_log_ticks(s, &y, b->bottom - b->top);
	else
		script_add_linear_ticks(s, &y);
	str_printf(s, "format '%s' font 'sans-serif,%g' textcolor rgb '#%06x'\n", axis_format(&y),
		   TICK_SIZE, INK_SOFT);
}

static void script_add_marks(struct str *s, const struct figure *f, const struct curve_range *x,
			     int panel)
{
	const struct curves *c = f->curves;
	int i;

	if (c->shade[0] < c->shade[1])
		str_printf(
			s,
			"\tset object rectangle from %.10g, graph 0 to %.10g, graph 1 behind fillstyle solid noborder fillcolor rgb '#f3f3f3'\n",
			c->shade[0], c->shade[1]);
	for (i = 0; i < c->nmarks; i++) {
		const struct curve_mark *m = &c->marks[i];

		if (m->panel != panel)
			continue;
		if (m->lo <= m->hi || isnan(m->lo) != isnan(m->hi))
			str_printf(
				s,
				"\tset object rectangle from %.10g, graph 0 to %.10g, graph 1 behind fillstyle solid noborder fillcolor rgb '#eeeeee'\n",
				isnan(m->lo) ? x->from : m->lo, isnan(m->hi) ? x->to : m->hi);
		str_printf(
			s,
			"\tset arrow from %.10g, graph 0 to %.10g, graph 1 nohead dashtype 2 linewidth 1.5 linecolor rgb '#%06x'\n"
			"\tset label mark%d at %.10g, graph 0.95 left offset character 0.6,0 noenhanced font 'sans-serif,%g' textcolor rgb '#%06x'\n",
			m->at, m->at, INK, i, m->at, TICK_SIZE, INK);
	}
}

enum curve_layer { LAYER_BAND, LAYER_PALE, LAYER_LINE, LAYERS };

/* A log axis has no place for 0: it is far below. */
static double axis_place(double v, const struct curve_range *r)
{
	return r->log ? log(fmax(v, r->from * 1e-9)) : v;
}

/* Returns the value at `way`, from 0 to 1, of the straight line between two values on the page. */
static double axis_between(double a, double b, double way, const struct curve_range *r)
{
	double at = (1 - way) * axis_place(a, r) + way * axis_place(b, r);

	return r->log ? exp(at) : at;
}

/* Adds where the line from a to b crosses an end of the axis, from 0 to 1. Returns the number. */
static int axis_crossings(double a, double b, const struct curve_range *r, double *ways)
{
	const double ends[] = {r->from, r->to};
	double from = axis_place(a, r), way;
	int i, n = 0;

	for (i = 0; i < 2; i++) {
		way = (axis_place(ends[i], r) - from) / (axis_place(b, r) - from);
		if (way > 0 && way < 1)
			ways[n++] = way;
	}
	return n;
}

static void band_add_row(struct str *s, double x, double lo, double hi, const struct curve_range *y)
{
	if (isnan(lo) || isnan(hi))
		str_printf(s, "%.10g\tNaN\tNaN\n", x);
	else
		str_printf(s, "%.10g\t%.10g\t%.10g\n", x, fmin(fmax(lo, y->from), y->to),
			   fmin(fmax(hi, y->from), y->to));
}

/* Adds the rows of a band, and one at each place where an edge leaves the plot or comes back. */
static void script_add_band_rows(struct str *s, const struct curve *c, const struct curve_range *x,
				 const struct curve_range *y)
{
	const struct curve_point *p = c->points;
	double ways[4];
	size_t i;
	int k, n;

	for (i = 0; i < c->n; i++, p++) {
		band_add_row(s, p->x, p->y.lo, p->y.hi, y);
		if (i + 1 == c->n)
			break;
		n = axis_crossings(p->y.lo, p[1].y.lo, y, ways);
		n += axis_crossings(p->y.hi, p[1].y.hi, y, ways + n);
		qsort(ways, (size_t)n, sizeof(*ways), stats_by_value);
		for (k = 0; k < n; k++)
			band_add_row(s, axis_between(p->x, p[1].x, ways[k], x),
				     axis_between(p->y.lo, p[1].y.lo, ways[k], y),
				     axis_between(p->y.hi, p[1].y.hi, ways[k], y), y);
	}
}

/*
 * Writes the bands that leave their panel, cut at its ends, as data blocks. gnuplot 5.4 draws such
 * a band outside the plot, and inside it with wrong edges.
 */
static void script_add_bands(struct str *s, const struct figure *f)
{
	int i;

	for (i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];
		struct curve_range x, y;

		if (!curve_is_cut(f, c))
			continue;
		x = curves_x(f, c->panel, 1);
		y = curves_y(f, c->panel, 1);
		str_printf(s, "$band%d << EOD\n", i);
		script_add_band_rows(s, c, &x, &y);
		str_puts(s, "EOD\n");
	}
}

/* Draws an arrow where an interval goes on beyond the plot. */
static void script_add_arrows(struct str *s, const struct figure *f, int panel)
{
	struct curve_range y;
	size_t k;
	int i, end;

	for (i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];

		if (c->panel != panel || !curve_is_cut(f, c))
			continue;
		y = curves_y(f, panel, 1);
		for (k = 0; k < c->n; k++)
			for (end = 0; end < 2; end++)
				if (end ? c->points[k].y.hi > y.to : c->points[k].y.lo < y.from)
					str_printf(
						s,
						"\tset arrow from %.10g, graph %g to %.10g, graph %d head filled size screen 0.009,18 front linewidth 1.5 linecolor rgb '#%06x'\n",
						c->points[k].x, end ? 0.94 : 0.06, c->points[k].x,
						end, f->bars.mark[c->line].rgb);
	}
}

/* Returns the width of a line. One that others may cover shows at their edges. */
static double line_width(const struct figure *f, const struct curve *c)
{
	return f->curves->multiples ? 2.5 : 2.5 + fmin(2, f->bars.n - 1 - c->line);
}

/* Adds one curve in one layer. `first` is its first row in the .tsv. */
static bool script_add_curve(struct str *s, const struct figure *f, const struct curve *c,
			     size_t first, enum curve_layer layer, bool begun)
{
	enum { MARKED = 30 }; /* points of a curve that are few enough to be seen */
	uint32_t rgb = f->bars.mark[c->line].rgb;
	bool cut;

	if (!c->n || (layer == LAYER_BAND ? !curve_has_band(c) : c->pale != (layer == LAYER_PALE)))
		return false;
	str_puts(s, begun ? ", \\\n\t\t" : "\tplot ");
	cut = layer == LAYER_BAND && curve_is_cut(f, c);
	if (cut)
		str_printf(s, "$band%td using 1:2:3", c - f->curves->curves);
	else
		str_printf(s, "data skip 1 every ::%zu::%zu using %s", first, first + c->n - 1,
			   layer == LAYER_BAND ? "2:4:5" : "2:3");
	if (layer == LAYER_BAND)
		str_printf(
			s,
			" with filledcurves fillstyle transparent solid 0.18 noborder fillcolor rgb '#%06x'",
			rgb);
	else if (c->n > (c->pale ? 1 : MARKED))
		str_printf(s, " with lines linewidth %g linecolor rgb '#%06x'",
			   c->pale ? 1 : line_width(f, c), c->pale ? palette_pale(rgb) : rgb);
	else
		str_printf(
			s,
			" with linespoints linewidth %g pointtype 7 pointsize %g linecolor rgb '#%06x'",
			c->pale ? 2.5 : line_width(f, c), c->pale ? 0.3 : 0.7,
			c->pale ? palette_pale(rgb) : rgb);
	return true;
}

/* Adds the curves of a panel: bands behind pale lines behind the others. */
static void script_add_plot(struct str *s, const struct figure *f, int panel)
{
	const struct curves *c = f->curves;
	bool begun = false;
	size_t first;
	int layer, i;

	for (layer = 0; layer < LAYERS; layer++) {
		for (i = 0, first = 0; i < c->n; first += c->curves[i++].n)
			if (c->curves[i].panel == panel)
				begun |= script_add_curve(s, f, &c->curves[i], first,
							  (enum curve_layer)layer, begun);
	}
	str_puts(s, begun ? "\n" : "\tplot NaN\n");
}

static void script_add_panel(struct str *s, const struct figure *f, const struct page *page,
			     int panel)
{
	struct box b = panel_box(f, page, panel);
	struct curve_range x = curves_x(f, panel, b.right - b.left);
	char name[32];

	snprintf(name, sizeof(name), "panel%d", panel);
	str_puts(s, "\t");
	gp_add_text(s, page,
		    &(struct page_text){.x = b.left,
					.y = b.top - HEAD_SIZE * 0.75,
					.size = HEAD_SIZE,
					.bold = true,
					.rgb = INK},
		    name);
	script_add_axes(s, f, page, &b, panel);
	script_add_marks(s, f, &x, panel);
	script_add_arrows(s, f, panel);
	script_add_plot(s, f, panel);
	str_puts(s, "\tunset label\n\tunset object\n\tunset arrow\n");
}

void curves_add_script(struct str *s, const struct figure *f, struct page *page,
		       unsigned int formats)
{
	int i;

	script_add_texts(s, f, page);
	script_add_bands(s, f);
	str_printf(s,
		   "unset key\nset border 3 linecolor rgb '#%06x' linewidth 1\n"
		   "set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#%06x'\n",
		   INK_SOFT, INK_GRID);
	gp_add_terminals(s, f, page, formats);
	str_puts(s, "\tset multiplot\n");
	script_place_texts(s, page);
	for (i = 0; i < f->groups.n; i++)
		script_add_panel(s, f, page, i);
	str_puts(s, "\tunset multiplot\n}\nset output\n");
}
