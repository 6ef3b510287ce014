// SPDX-License-Identifier: GPL-2.0-only
/*
 * Curves as data, their .tsv, how far their axes reach, and their gnuplot script: a multiplot of
 * panels. Its texts stand in variables before the block, because a block must not hold a name
 * (figure_gp.c).
 */
#include "plot/figure.h"

#include "plot/label.h"
#include "plot/palette.h"

struct curves *figure_curves(struct figure *f, const char *axis, const char *name_word)
{
	f->curves = xcalloc(1, sizeof(*f->curves));
	f->curves->axis = axis;
	f->curves->name_word = name_word;
	return f->curves;
}

int figure_curve(struct figure *f, int panel, int line, const char *name, bool pale)
{
	struct curves *c = f->curves;

	array_grow(c->curves, c->n, c->cap);
	c->curves[c->n] = (struct curve){
		.panel = panel, .line = line, .name = arena_strdup(&f->arena, name), .pale = pale};
	return c->n++;
}

void figure_point(struct figure *f, int curve, double x, struct estimate y)
{
	struct curve *c = &f->curves->curves[curve];

	array_add(c->points, c->n, c->cap, (struct curve_point){x, y});
}

void figure_tick(struct figure *f, double at, const char *label)
{
	struct curves *c = f->curves;

	array_add(c->ticks, c->nticks, c->ticks_cap,
		  (struct curve_tick){at, label_clean(&f->arena, label)});
}

void figure_mark(struct figure *f, int panel, double at, double lo, double hi, const char *label)
{
	struct curves *c = f->curves;

	array_add(c->marks, c->nmarks, c->marks_cap,
		  (struct curve_mark){panel, at, lo, hi, label_clean(&f->arena, label)});
}

void curves_free(struct figure *f)
{
	autofree struct curves *c = f->curves;

	for (int i = 0; c && i < c->n; i++)
		free(c->curves[i].points);
	if (c) {
		free(c->curves);
		free(c->ticks);
		free(c->marks);
	}
}

enum { T_CURVE, T_X, T_VALUE, T_LO, T_HI, T_PANEL, T_VARIANT, T_NAME, T_N };

static void curves_add_rows(struct table *t, const struct figure *f, int curve)
{
	const struct curve *c = &f->curves->curves[curve];

	for (size_t i = 0; i < c->n; i++) {
		struct value *row = table_row(t);

		row[T_CURVE] = value_int(curve + 1);
		row[T_X] = value_real(c->points[i].x);
		row[T_VALUE] = value_real(c->points[i].y.value);
		row[T_LO] = value_real(c->points[i].y.lo);
		row[T_HI] = value_real(c->points[i].y.hi);
		row[T_PANEL] = value_str(t, f->groups.mark[c->panel].name);
		row[T_VARIANT] = value_str(t, f->bars.mark[c->line].name);
		row[T_NAME] = value_str(t, c->name);
	}
}

int curves_write_tsv(const struct figure *f, const char *dir, struct error *err)
{
	struct column columns[T_N] = {
		[T_CURVE] = {"curve", .type = V_INT},
		[T_X] = {"x", .type = V_REAL, .digits = 3},
		[T_VALUE] = {"value", .type = V_REAL, .digits = 3},
		[T_LO] = {"lo", .type = V_REAL, .digits = 3},
		[T_HI] = {"hi", .type = V_REAL, .digits = 3},
		[T_PANEL] = {f->group_word, .type = V_STR},
		[T_VARIANT] = {"variant", .type = V_STR},
		[T_NAME] = {f->curves->name_word, .type = V_STR},
	};
	freed(table_free) struct table t = {0};

	table_init(&t, f->name, columns, T_N);
	for (int i = 0; i < f->curves->n; i++)
		curves_add_rows(&t, f, i);
	return figure_write_table(&t, dir, err);
}

/* The range of an axis and the distance of its labels. Labels of a log axis are its powers of ten.
 */
struct curve_range {
	double from, to, step;
	bool log;
};

/* Widens the range to a value. A log axis has no place for 0 and less. */
static void range_include(struct curve_range *r, double v)
{
	if (isnan(v) || (r->log && !(v > 0)))
		return;
	r->from = isnan(r->from) ? v : fmin(r->from, v);
	r->to = isnan(r->to) ? v : fmax(r->to, v);
}

static struct curve_range curves_x(const struct figure *f, int panel, double pixels)
{
	const struct curves *c = f->curves;
	struct curve_range r = {NAN, NAN, 0, c->log_x};
	double room;

	for (int i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->curves[i].n && (!c->own_x || c->curves[i].panel == panel);
		     k++)
			range_include(&r, c->curves[i].points[k].x);
	if (c->shade[0] < c->shade[1]) {
		range_include(&r, c->shade[0]);
		range_include(&r, c->shade[1]);
	}
	if (isnan(r.from))
		r.from = r.to = 1;
	room = r.log ? pow(r.to / r.from, 0.04) : (r.to - r.from) * 0.03;
	if (r.to == r.from)
		room = r.log ? 2 : fmax(fabs(r.to) / 2, 1);
	r.from = r.log ? r.from / room : r.from - room;
	r.to = r.log ? r.to * room : r.to + room;
	r.step = page_axis_step(r.to - r.from, pixels, 60);
	return r;
}

/* An interval that is much longer than the values are high is cut, as a whisker is. */
#define LONGEST 2.5

/* A linear axis begins at 0, unless it is `near`. A log axis ends at tenths of a power of ten. */
static struct curve_range curves_y(const struct figure *f, int panel, double pixels)
{
	struct curve_range r = {NAN, NAN, 0, f->curves->log_y >> panel & 1}, values = r;

	for (int i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];

		for (size_t k = 0; k < c->n && c->panel == panel; k++) {
			range_include(&values, c->points[k].y.value);
			range_include(&r, c->points[k].y.value);
			range_include(&r, c->points[k].y.lo);
			range_include(&r, c->points[k].y.hi);
		}
	}
	if (isnan(values.to))
		return (struct curve_range){r.log ? 1 : 0, r.log ? 10 : 1, 1, r.log};
	if (r.log) {
		r.from = fmax(r.from, values.from / LONGEST / LONGEST) / 1.25;
		r.to = fmin(r.to, values.to * LONGEST * LONGEST) * 1.25;
		return r;
	}
	if (f->curves->near) { /* noise of 1 % fills no panel */
		double room = fmax((r.to - r.from) / 8, fabs(values.to) / 25);

		r.from -= room;
		r.to += room;
	} else {
		r.from = fmin(0, r.from) < 0 ? fmax(r.from, -LONGEST * fabs(values.to)) * 1.1 : 0;
		r.to = fmin(r.to, LONGEST * fmax(values.to, 0)) * 1.1;
	}
	if (!(r.to > r.from))
		r.to = r.from + 1;
	r.step = page_axis_step(r.to - r.from, pixels, 26);
	return r;
}

/* Returns whether any point has an interval longer than 0. */
static bool curve_has_band(const struct curve *c)
{
	return array_find(p, c->points, c->n, p->y.hi > p->y.lo);
}

bool curves_are_cut(const struct figure *f)
{
	struct curve_range y;

	for (int i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];

		if (!curve_has_band(
			    c)) /* saves the range of a time line with thousands of points */
			continue;
		y = curves_y(f, c->panel, 1);
		for (size_t k = 0; k < c->n; k++)
			if (c->points[k].y.hi > y.to || c->points[k].y.lo < y.from)
				return true;
	}
	return false;
}

/* --- the script --- */

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

	for (int i = 0; i < f->groups.n; i++) {
		reach = curves_y(f, i, 200).to;
		widest = fmax(widest, reach >= 1e5 ? 52 : reach >= 1000 ? 50 : 44);
	}
	return widest;
}

static struct box panel_box(const struct figure *f, const struct page *page, int panel)
{
	int n = f->groups.n, columns = n == 1 ? 1 : n == 2 || n == 4 ? 2 : n <= 9 ? 3 : 4;
	int rows = (n + columns - 1) / columns;
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

	for (int i = 0; i < c->nticks; i++)
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
	freed(str_free) struct str doubled = {0};

	for (; *label; label++)
		str_printf(&doubled, *label == '%' ? "%%%%" : "%c", *label);
	label_quote(s, doubled.len ? doubled.buf : "");
}

/* Writes the texts of the page, the panels, the ticks and the marks as variables. */
static void script_add_texts(struct str *s, const struct figure *f, const struct page *page)
{
	const struct curves *c = f->curves;
	freed(arena_free) struct arena arena = {0};

	for (int i = 0; i < page->ntexts; i++) {
		str_printf(s, "\ntext%d = ", i);
		if (page->texts[i].bold)
			label_quote_enhanced(s, page->texts[i].text);
		else
			label_quote(s, page->texts[i].text);
	}
	for (int i = 0; i < f->groups.n; i++) {
		struct box b = panel_box(f, page, i);

		str_printf(s, "\npanel%d = ", i);
		label_quote_enhanced(s, label_fit(&arena, f->groups.mark[i].label, HEAD_SIZE * 1.13,
						  b.right - b.left));
	}
	for (int i = 0; i < c->nticks; i++) {
		str_printf(s, "\ntick%d = ", i);
		script_quote_tick(s, label_fit(&arena, c->ticks[i].label, TICK_SIZE, 150));
	}
	for (int i = 0; i < c->nmarks; i++) {
		str_printf(s, "\nmark%d = ", i);
		label_quote(s, c->marks[i].label);
	}
	/* gnuplot 5.4 draws a band outside the plot, and inside it with wrong edges. */
	str_puts(s, "\nclip(v) = v < least ? least : v > most ? most : v\n");
}

static const char *axis_format(const struct curve_range *r)
{
	return r->to >= 1e5 ? "%.0s%c" : r->to < 1e-3 ? "%.0e" : "%g";
}

static void script_add_x_ticks(struct str *s, const struct curves *c, const struct box *b,
			       const struct curve_range *x)
{
	double pixels = b->right - b->left;

	if (!c->nticks) {
		if (x->log)
			str_puts(s, "10");
		else
			str_printf(s, "%.10g", x->step);
		return;
	}
	str_putc(s, '(');
	for (int i = 0; i < c->nticks; i = tick_next(c, i, x, pixels))
		str_printf(s, "%stick%d %.10g", i ? ", " : "", i, c->ticks[i].at);
	str_putc(s, ')');
}

/* Labels 1, 2 and 5 times the powers of ten, or the powers alone, or some of them, by the room. */
static void script_add_log_ticks(struct str *s, const struct curve_range *y, double pixels)
{
	static const double times[] = {1, 2, 5};
	double decade = pixels / log10(y->to / y->from);
	size_t of_each = decade >= 4 * TICK_SIZE ? array_size(times) : 1;
	int stride = decade < 1.3 * TICK_SIZE ? (int)ceil(1.3 * TICK_SIZE / decade) : 1, n = 0;

	for (int k = (int)floor(log10(y->from)); pow(10, k) <= y->to; k += stride)
		for (size_t i = 0; i < of_each; i++)
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
	str_printf(s,
		   "\tset xrange [%.10g:%.10g]\n\tset yrange [%.10g:%.10g]\n"
		   "\tleast = %.10g; most = %.10g\n",
		   x.from, x.to, y.from, y.to, y.from, y.to);
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

	if (c->shade[0] < c->shade[1])
		str_printf(
			s,
			"\tset object rectangle from %.10g, graph 0 to %.10g, graph 1 behind fillstyle solid noborder fillcolor rgb '#f3f3f3'\n",
			c->shade[0], c->shade[1]);
	for (int i = 0; i < c->nmarks; i++) {
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

/* Returns the width of a line. One that others may cover shows at their edges. */
static double line_width(const struct figure *f, const struct curve *c)
{
	return 2.5 + fmin(2, f->bars.n - 1 - c->line);
}

/* Adds one curve in one layer. `first` is its first row in the .tsv. */
static bool script_add_curve(struct str *s, const struct figure *f, const struct curve *c,
			     size_t first, enum curve_layer layer, bool begun)
{
	enum { MARKED = 30 }; /* points of a curve that are few enough to be seen */
	uint32_t rgb = f->bars.mark[c->line].rgb;

	if (!c->n || (layer == LAYER_BAND ? !curve_has_band(c) : c->pale != (layer == LAYER_PALE)))
		return false;
	str_puts(s, begun ? ", \\\n\t\t" : "\tplot ");
	str_printf(s, "data skip 1 every ::%zu::%zu using %s", first, first + c->n - 1,
		   layer == LAYER_BAND ? "2:(clip($4)):(clip($5))" : "2:3");
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
	int i;

	for (int layer = 0; layer < LAYERS; layer++) {
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
	script_add_plot(s, f, panel);
	str_puts(s, "\tunset label\n\tunset object\n\tunset arrow\n");
}

void curves_add_script(struct str *s, const struct figure *f, struct page *page,
		       unsigned int formats)
{
	script_add_texts(s, f, page);
	str_printf(s,
		   "unset key\nset border 3 linecolor rgb '#%06x' linewidth 1\n"
		   "set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#%06x'\n",
		   INK_SOFT, INK_GRID);
	gp_add_terminals(s, f, page, formats);
	str_puts(s, "\tset multiplot\n");
	gp_add_texts(s, page, true);
	for (int i = 0; i < f->groups.n; i++)
		script_add_panel(s, f, page, i);
	str_puts(s, "\tunset multiplot\n}\nset output\n");
}
