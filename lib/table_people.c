// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int people_width_of(const char *s)
{
	return str_chars(s, strlen(s));
}

static void people_choose_columns(struct people *p, const struct table *t)
{
	struct str absent = {0};
	int i;

	p->columns = xcalloc((size_t)t->ncolumns, sizeof(*p->columns));
	for (i = 0; i < t->ncolumns; i++) {
		const struct column *c = &t->columns[i];
		bool words = c->type == V_STR, empty = t->rows && !table_has_values(t, c->name);

		if (c->part_of || (empty && (words || c->optional))) /* nobody measures words */
			continue;
		if (empty)
			str_printf(&absent, "%s%s", absent.len ? ", " : "", c->name);
		else
			p->columns[p->ncolumns++] = (struct people_column){
				.name = c->name,
				.left = words && c->shape != STANDS_RIGHT,
				.whole = !words || c->shape != STANDS_LEFT,
				.value = i,
				.interval = table_has_interval(t, i),
			};
	}
	p->absent = absent.buf;
}

enum { FEW_DIGITS = 3, MANY = 100000, NS_DIGITS = 6, SMALL_DIGITS = 9 };

/*
 * Returns the digits at which x is at least `enough` in units of the last digit, at most `most`.
 * Zeros at the end are left out, because a text of another tool has only three digits.
 */
static int people_small_digits(double x, int least, int most, double enough)
{
	double rest;
	int digits = least;

	while (digits < most && x * pow(10, digits) < enough)
		digits++;
	rest = round(x * pow(10, digits));
	for (; digits > least && fmod(rest, 10) == 0; digits--)
		rest /= 10;
	return digits;
}

/*
 * Returns the digits after the point. Tenths of a large number are useless, but a column with more
 * digits (a time stamp) prints all of them. A short time in ms has three significant digits, down
 * to the nanosecond: 244 ns is 0.000244 ms, and not 0.000. A small number in a column of three
 * digits or more has two, so that no change from 0.000 to 0.000 has a percentage.
 */
static int people_value_digits(double x, const struct column *c)
{
	if (c->digits <= FEW_DIGITS && fabs(x) >= MANY)
		return 0;
	if (c->unit && !strcmp(c->unit, "ms"))
		return people_small_digits(fabs(x), c->digits, NS_DIGITS, 99.95);
	if (c->digits >= FEW_DIGITS)
		return people_small_digits(fabs(x), c->digits, SMALL_DIGITS, 9.5);
	return c->digits;
}

/* Appends a number. A number that rounds to 0 has no sign. */
static void people_add_real(struct str *s, double x, int digits)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%.*f", digits, x);

	if (n >= (int)sizeof(text))
		str_printf(s, "%.*f", digits, x);
	else
		str_puts(s, text + (*text == '-' && !text[1 + strspn(text + 1, "0.")]));
}

static void people_add_value(struct str *s, const struct value *v, const struct column *c)
{
	switch (v->type) {
	case V_NONE:
		str_putc(s, '-');
		break;
	case V_STR:
		str_puts(s, v->str);
		break;
	case V_INT:
		str_printf(s, "%lld", (long long)v->integer);
		break;
	case V_REAL:
		people_add_real(s, v->real, people_value_digits(v->real, c));
		break;
	}
}

static void people_add_interval(struct str *s, const struct value *v, const struct column *c)
{
	const struct value low = value_part(v, PART_LOW), high = value_part(v, PART_HIGH);
	const struct value half = value_part(v, PART_HALF);

	if (low.type != V_NONE) {
		str_puts(s, " [");
		people_add_value(s, &low, c);
		str_puts(s, " .. ");
		people_add_value(s, &high, c);
		str_putc(s, ']');
	} else if (half.type != V_NONE) {
		str_puts(s, " +-");
		people_add_value(s, &half, c);
	}
}

static char *people_cell_text(struct people *p, const struct table *t, size_t row,
			      const struct people_column *c, struct str *s)
{
	const struct value *v = table_cell(t, row, c->value);
	char *at;

	str_reset(s);
	people_add_value(s, v, &t->columns[c->value]);
	if (v->type != V_NONE && c->interval && !c->bare)
		people_add_interval(s, v, &t->columns[c->value]);
	for (at = s->buf; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return arena_strdup(&p->arena, s->buf);
}

static void people_fill_column(struct people *p, const struct table *t, int i)
{
	struct people_column *c = &p->columns[i];
	struct str s = {0};
	size_t row;
	int w;

	c->width = people_width_of(c->name);
	for (row = 0; row < t->rows; row++) {
		char *text = people_cell_text(p, t, row, c, &s);

		p->cells[row * (size_t)p->ncolumns + (size_t)i] = text;
		w = people_width_of(text);
		c->width = w > c->width ? w : c->width;
	}
	str_free(&s);
}

void people_of(struct people *p, const struct table *t)
{
	int i;

	*p = (struct people){.rows = t->rows};
	people_choose_columns(p, t);
	p->cells = xcalloc(t->rows * (size_t)p->ncolumns, sizeof(*p->cells));
	for (i = 0; i < p->ncolumns; i++)
		people_fill_column(p, t, i);
}

void people_set_bare(struct people *p, const struct table *t, int column, bool bare)
{
	if (p->columns[column].bare == bare)
		return;
	p->columns[column].bare = bare;
	people_fill_column(p, t, column);
}

const char *people_cell(const struct people *p, size_t row, int column)
{
	return p->cells[row * (size_t)p->ncolumns + (size_t)column];
}

void people_free(struct people *p)
{
	free(p->columns);
	free(p->cells);
	free(p->absent);
	arena_free(&p->arena);
}
