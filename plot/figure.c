// SPDX-License-Identifier: GPL-2.0-only
#include "plot/figure.h"

#include "lib/alloc.h"
#include "plot/label.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { D_GROUP, D_BAR, D_PART, D_VALUE, D_LO, D_HI, D_RUNS, D_FROM, D_NOTE };

static const struct column data_columns[] = {
	{"group", .type = V_INT},
	{"bar", .type = V_INT},
	{"part", .type = V_INT},
	{"value", .type = V_REAL, .digits = 3},
	{"lo", .type = V_REAL, .digits = 3},
	{"hi", .type = V_REAL, .digits = 3},
	{"runs", .type = V_INT},
	{"from", .type = V_REAL, .digits = 3},
	{"note", .type = V_STR},
};

int figure_formats(const char *list, unsigned int *formats)
{
	char *copy = xstrdup(list), *rest = copy;
	int rc = 0;

	*formats = 0;
	while (rest && !rc) {
		const char *word = str_trim(str_token(&rest, ','));

		if (!strcmp(word, "svg"))
			*formats |= FIGURE_SVG;
		else if (!strcmp(word, "png"))
			*formats |= FIGURE_PNG;
		else if (!strcmp(word, "pdf"))
			*formats |= FIGURE_PDF;
		else
			rc = -EINVAL;
	}
	free(copy);
	return rc;
}

void figure_init(struct figure *f, const char *name)
{
	*f = (struct figure){.name = name, .group_word = "group", .absent = "n/a"};
	table_init(&f->data, name, data_columns, (int)array_size(data_columns));
}

void figure_free(struct figure *f)
{
	free(f->groups.mark);
	free(f->bars.mark);
	free(f->parts.mark);
	table_free(&f->data);
	arena_free(&f->arena);
	*f = (struct figure){0};
}

static const char *print(struct figure *f, const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);
	const char *kept = label_clean(&f->arena, text);

	free(text);
	return kept;
}

void figure_title(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->title = print(f, fmt, ap);
	va_end(ap);
}

void figure_subtitle(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->subtitle = print(f, fmt, ap);
	va_end(ap);
}

void figure_axis(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->axis = print(f, fmt, ap);
	va_end(ap);
}

void figure_foot(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->foot = print(f, fmt, ap);
	va_end(ap);
}

void figure_caption(struct figure *f, const char *fmt, ...)
{
	va_list ap;

	if (f->ncaptions >= (int)array_size(f->captions))
		return;
	va_start(ap, fmt);
	f->captions[f->ncaptions++] = print(f, fmt, ap);
	va_end(ap);
}

static int add_mark(struct figure *f, struct figure_marks *m, const char *label, uint32_t rgb)
{
	array_grow(m->mark, m->n, m->cap);
	m->mark[m->n] = (struct figure_mark){arena_strdup(&f->arena, label),
					     label_clean(&f->arena, label), rgb};
	return m->n++;
}

int figure_group(struct figure *f, const char *label)
{
	return add_mark(f, &f->groups, label, 0);
}

int figure_bar(struct figure *f, const char *label, uint32_t rgb)
{
	return add_mark(f, &f->bars, label, rgb);
}

int figure_part(struct figure *f, const char *label, uint32_t rgb)
{
	return add_mark(f, &f->parts, label, rgb);
}

void figure_put(struct figure *f, int group, int bar, int part, struct estimate e)
{
	struct value *row = table_row(&f->data);

	row[D_GROUP] = value_int(group);
	row[D_BAR] = value_int(bar);
	row[D_PART] = value_int(part);
	row[D_VALUE] = value_real(e.value);
	row[D_LO] = value_real(e.lo);
	row[D_HI] = value_real(e.hi);
	row[D_RUNS] = value_int((int64_t)e.n);
}

void figure_put_step(struct figure *f, int group, int bar, double from, struct estimate e)
{
	figure_put(f, group, bar, FIGURE_WHOLE, e);
	table_cell(&f->data, f->data.rows - 1, 0)[D_FROM] = value_real(from);
}

void figure_put_noted(struct figure *f, int group, int bar, struct estimate e, const char *note)
{
	figure_put(f, group, bar, FIGURE_WHOLE, e);
	table_cell(&f->data, f->data.rows - 1, 0)[D_NOTE] = value_str(&f->data, note);
}

const char *figure_note(const struct figure *f, int group, int bar)
{
	const struct value *row;
	size_t i;

	for (i = 0; i < f->data.rows; i++) {
		row = table_cell(&f->data, i, 0);
		if (row[D_GROUP].integer == group && row[D_BAR].integer == bar &&
		    row[D_NOTE].type == V_STR)
			return row[D_NOTE].str;
	}
	return "";
}

double figure_from(const struct figure *f, int group, int bar)
{
	const struct value *row;
	size_t i;

	for (i = 0; i < f->data.rows; i++) {
		row = table_cell(&f->data, i, 0);
		if (row[D_GROUP].integer == group && row[D_BAR].integer == bar &&
		    row[D_FROM].type == V_REAL)
			return row[D_FROM].real;
	}
	return 0;
}

bool figure_has_steps(const struct figure *f)
{
	size_t i;

	for (i = 0; i < f->data.rows; i++)
		if (table_cell(&f->data, i, D_FROM)->type == V_REAL)
			return true;
	return false;
}

static double real_or_nan(const struct value *v)
{
	return v->type == V_REAL ? v->real : NAN;
}

bool figure_get(const struct figure *f, int group, int bar, int part, struct estimate *e)
{
	size_t i;

	*e = (struct estimate){.value = NAN, .lo = NAN, .hi = NAN};
	for (i = 0; i < f->data.rows; i++) {
		const struct value *row = table_cell(&f->data, i, 0);

		if (row[D_GROUP].integer != group || row[D_BAR].integer != bar ||
		    row[D_PART].integer != part)
			continue;
		e->value = real_or_nan(&row[D_VALUE]);
		e->lo = real_or_nan(&row[D_LO]);
		e->hi = real_or_nan(&row[D_HI]);
		e->n = (size_t)row[D_RUNS].integer;
		return !isnan(e->value);
	}
	return false;
}

/*
 * Parts that are estimates of their own need not add up to the estimate of the whole: medians do
 * not. The stack is then drawn as high as the whole, its parts in proportion; values stay what they
 * are.
 */
double figure_part_scale(const struct figure *f, int group, int bar)
{
	struct estimate e, whole;
	double sum = 0;
	int p;

	for (p = 0; p < f->parts.n; p++) {
		if (!figure_get(f, group, bar, p, &e))
			return 1; /* what is missing must not be filled up */
		sum += e.value;
	}
	return figure_get(f, group, bar, FIGURE_WHOLE, &whole) && sum > 0 ? whole.value / sum : 1;
}
