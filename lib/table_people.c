// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_people.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int people_width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool is_empty(const struct table *t, int column)
{
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (table_cell(t, row, column)->type != V_NONE)
			return false;
	return t->rows > 0;
}

/*
 * The column "<name of i><suffix>", or -1. A unit at the name's end may be left out:
 * throughput_gbps, throughput_lo, throughput_hi.
 */
static int companion(const struct table *t, int i, const char *suffix)
{
	static const char *const units[] = {"", "_gbps", "_pct", "_ns"};
	const char *column = t->columns[i].name;
	int found = -1;
	size_t u;

	for (u = 0; u < array_size(units) && found < 0; u++) {
		size_t len = strlen(column) - strlen(units[u]);
		char *name;

		if (!str_ends(column, units[u]))
			continue;
		name = xasprintf("%.*s%s", (int)len, column, suffix);
		found = table_column(t, name);
		free(name);
	}
	return found;
}

static void choose_columns(struct people *p, const struct table *t)
{
	bool *taken = xcalloc((size_t)t->ncolumns, sizeof(*taken));
	struct str absent = {0};
	int i;

	p->columns = xcalloc((size_t)t->ncolumns, sizeof(*p->columns));
	for (i = 0; i < t->ncolumns; i++) {
		struct people_column c = {t->columns[i].name,
					  t->columns[i].type == V_STR &&
						  t->columns[i].digits != STANDS_RIGHT,
					  t->columns[i].type != V_STR || t->columns[i].digits,
					  i,
					  companion(t, i, "_lo"),
					  companion(t, i, "_hi"),
					  companion(t, i, "_ci"),
					  0,
					  IN_ROWS,
					  false,
					  false};

		if (taken[i])
			continue;
		if (c.lo >= 0 && c.hi >= 0)
			taken[c.lo] = taken[c.hi] = true;
		if (c.ci >= 0)
			taken[c.ci] = true;
		if (is_empty(t, i) && t->columns[i].type == V_STR)
			continue; /* words are not measured */
		if (is_empty(t, i))
			str_printf(&absent, "%s%s", absent.len ? ", " : "", c.name);
		else
			p->columns[p->ncolumns++] = c;
	}
	p->absent = absent.buf;
	free(taken);
}

enum { FEW_DIGITS = 3, MANY = 100000 };

/* Of a large number nobody reads tenths; a column of more digits (a time stamp) keeps them. */
static int digits_of(double x, const struct column *c)
{
	return c->digits <= FEW_DIGITS && fabs(x) >= MANY ? 0 : c->digits;
}

/* What rounds to nothing has no sign. */
static void put_real(struct str *s, double x, int digits)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%.*f", digits, x);

	if (n >= (int)sizeof(text))
		str_printf(s, "%.*f", digits, x);
	else
		str_puts(s, text + (*text == '-' && !text[1 + strspn(text + 1, "0.")]));
}

static void put_value(struct str *s, const struct value *v, const struct column *c)
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
		put_real(s, v->real, digits_of(v->real, c));
		break;
	}
}

static void put_interval(struct str *s, const struct table *t, size_t row,
			 const struct people_column *c)
{
	const struct column *column = &t->columns[c->value];

	if (c->lo >= 0 && c->hi >= 0 && table_cell(t, row, c->lo)->type != V_NONE) {
		str_puts(s, " [");
		put_value(s, table_cell(t, row, c->lo), column);
		str_puts(s, " .. ");
		put_value(s, table_cell(t, row, c->hi), column);
		str_putc(s, ']');
	} else if (c->ci >= 0 && table_cell(t, row, c->ci)->type != V_NONE) {
		str_puts(s, " +-");
		put_value(s, table_cell(t, row, c->ci), column);
	}
}

static char *cell_text(struct people *p, const struct table *t, size_t row,
		       const struct people_column *c, struct str *s)
{
	const struct value *v = table_cell(t, row, c->value);
	char *at;

	str_reset(s);
	put_value(s, v, &t->columns[c->value]);
	if (v->type != V_NONE && !c->bare)
		put_interval(s, t, row, c);
	for (at = s->buf; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return arena_strdup(&p->arena, s->buf);
}

static void write_column(struct people *p, const struct table *t, int i)
{
	struct people_column *c = &p->columns[i];
	struct str s = {0};
	size_t row;
	int w;

	c->width = people_width_of(c->name);
	for (row = 0; row < t->rows; row++) {
		char *text = cell_text(p, t, row, c, &s);

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
	choose_columns(p, t);
	p->cells = xcalloc(t->rows * (size_t)p->ncolumns, sizeof(*p->cells));
	for (i = 0; i < p->ncolumns; i++)
		write_column(p, t, i);
}

void people_set_bare(struct people *p, const struct table *t, int column, bool bare)
{
	if (p->columns[column].bare == bare)
		return;
	p->columns[column].bare = bare;
	write_column(p, t, column);
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
