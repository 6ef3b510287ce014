// SPDX-License-Identifier: GPL-2.0-only
/* Curves as data, their .tsv, and how far their axes reach. */
#include "plot/curves.h"

#include "lib/alloc.h"
#include "plot/label.h"

#include <math.h>
#include <stdlib.h>

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

	array_grow(c->ticks, c->nticks, c->ticks_cap);
	c->ticks[c->nticks++] = (struct curve_tick){at, label_clean(&f->arena, label)};
}

void figure_mark(struct figure *f, int panel, double at, double lo, double hi, const char *label)
{
	struct curves *c = f->curves;

	array_grow(c->marks, c->nmarks, c->marks_cap);
	c->marks[c->nmarks++] =
		(struct curve_mark){panel, at, lo, hi, label_clean(&f->arena, label)};
}

void curves_free(struct figure *f)
{
	struct curves *c = f->curves;
	int i;

	for (i = 0; c && i < c->n; i++)
		free(c->curves[i].points);
	if (c) {
		free(c->curves);
		free(c->ticks);
		free(c->marks);
	}
	free(c);
}

enum { T_CURVE, T_X, T_VALUE, T_LO, T_HI, T_PANEL, T_VARIANT, T_NAME, T_N };

static void curves_add_rows(struct table *t, const struct figure *f, int curve)
{
	const struct curve *c = &f->curves->curves[curve];
	size_t i;

	for (i = 0; i < c->n; i++) {
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

int curves_write_tsv(const struct figure *f, const char *path, struct error *err)
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
	struct table t;
	int i, rc;

	table_init(&t, f->name, columns, T_N);
	for (i = 0; i < f->curves->n; i++)
		curves_add_rows(&t, f, i);
	rc = figure_write_table(&t, path, err);
	table_free(&t);
	return rc;
}

/* Widens the range to a value. A log axis has no place for 0 and less. */
static void range_include(struct curve_range *r, double v)
{
	if (isnan(v) || (r->log && !(v > 0)))
		return;
	r->from = isnan(r->from) ? v : fmin(r->from, v);
	r->to = isnan(r->to) ? v : fmax(r->to, v);
}

struct curve_range curves_x(const struct figure *f, int panel, double pixels)
{
	const struct curves *c = f->curves;
	struct curve_range r = {NAN, NAN, 0, c->log_x};
	double room;
	size_t k;
	int i;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->curves[i].n && (!c->own_x || c->curves[i].panel == panel); k++)
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

/* A linear axis begins at 0. A log axis ends at tenths of a power of ten. */
struct curve_range curves_y(const struct figure *f, int panel, double pixels)
{
	struct curve_range r = {NAN, NAN, 0, f->curves->log_y >> panel & 1}, values = r;
	size_t k;
	int i;

	for (i = 0; i < f->curves->n; i++) {
		const struct curve *c = &f->curves->curves[i];

		for (k = 0; k < c->n && (c->panel == panel || f->curves->multiples); k++) {
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
	r.from = fmin(0, r.from) < 0 ? fmax(r.from, -LONGEST * fabs(values.to)) * 1.1 : 0;
	r.to = fmin(r.to, LONGEST * fmax(values.to, 0)) * 1.1;
	if (!(r.to > r.from))
		r.to = r.from + 1;
	r.step = page_axis_step(r.to - r.from, pixels, 26);
	return r;
}

bool curve_has_band(const struct curve *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->points[i].y.hi > c->points[i].y.lo)
			return true;
	return false;
}

bool curve_is_cut(const struct figure *f, const struct curve *c)
{
	struct curve_range y;
	size_t i;

	if (!curve_has_band(c)) /* saves the range of a time line with thousands of points */
		return false;
	y = curves_y(f, c->panel, 1);
	for (i = 0; i < c->n; i++)
		if (c->points[i].y.hi > y.to || c->points[i].y.lo < y.from)
			return true;
	return false;
}

bool curves_are_cut(const struct figure *f)
{
	int i;

	for (i = 0; i < f->curves->n; i++)
		if (curve_is_cut(f, &f->curves->curves[i]))
			return true;
	return false;
}

int curves_columns(const struct figure *f)
{
	int n = f->groups.n;

	return n == 1 ? 1 : n == 2 || n == 4 ? 2 : n <= 9 ? 3 : 4;
}

int curves_rows(const struct figure *f)
{
	int columns = curves_columns(f);

	return (f->groups.n + columns - 1) / columns;
}
