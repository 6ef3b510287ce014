// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include <math.h>

int people_width_of(const char *s)
{
	return str_chars(s, strlen(s));
}

static void people_choose_columns(struct people *p, const struct table *t)
{
	struct str absent = {0};

	p->columns = xcalloc((size_t)t->ncolumns, sizeof(*p->columns));
	for (int i = 0; i < t->ncolumns; i++) {
		const struct column *c = &t->columns[i];
		bool words = c->type == V_STR, empty = t->rows && !table_has_values(t, c->name);

		if (c->part_of || (empty && (words || c->optional))) /* nobody measures words */
			continue;
		if (empty)
			str_printf(&absent, "%s%s%s%s%s", absent.len ? ", " : "", c->name,
				   c->why_empty ? " (" : "", c->why_empty ?: "",
				   c->why_empty ? ")" : "");
		else
			p->columns[p->ncolumns++] = (struct people_column){
				.name = c->name,
				.left = words && c->shape != STANDS_RIGHT,
				.whole = !words || c->shape != STANDS_LEFT,
				.value = i,
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
 * digits or more has two, so that no change from 0.000 to 0.000 has a percentage, and there "0" is
 * nothing at all.
 */
static int people_value_digits(double x, const struct column *c)
{
	if ((c->digits <= FEW_DIGITS && fabs(x) >= MANY) || (c->digits >= FEW_DIGITS && x == 0))
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

	str_reset(s);
	people_add_value(s, v, &t->columns[c->value]);
	if (v->type != V_NONE)
		people_add_interval(s, v, &t->columns[c->value]);
	for (char *at = s->buf; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return arena_strdup(&p->arena, s->buf);
}

static void people_fill_column(struct people *p, const struct table *t, int i)
{
	struct people_column *c = &p->columns[i];
	freed(str_free) struct str s = {0};
	int w;

	c->full = people_width_of(c->name);
	for (size_t row = 0; row < t->rows; row++) {
		char *text = people_cell_text(p, t, row, c, &s);

		p->cells[row * (size_t)p->ncolumns + (size_t)i] = text;
		w = people_width_of(text);
		c->full = w > c->full ? w : c->full;
	}
	c->width = c->full;
}

void people_of(struct people *p, const struct table *t)
{
	*p = (struct people){.rows = t->rows};
	people_choose_columns(p, t);
	p->cells = xcalloc(t->rows * (size_t)p->ncolumns, sizeof(*p->cells));
	for (int i = 0; i < p->ncolumns; i++)
		people_fill_column(p, t, i);
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

/* --- a page of text --- */

/*
 * Names have at least NAME_FAIR characters before columns are left out, and NAME_LEAST at worst.
 * Sentences have at least PROSE_LEAST.
 */
enum { NAME_FAIR = 22, NAME_LEAST = 14, PROSE_LEAST = 20, ROWS_OF_SECTION = 2 };

/* --- widths --- */

/* Returns the position after `chars` characters. */
static const char *after(const char *s, int chars)
{
	for (; *s; s++)
		if (((unsigned char)*s & 0xc0) != 0x80 && !chars--)
			break;
	return s;
}

void fit_short(struct str *out, const char *s, int width)
{
	int len = people_width_of(s), tail = (width - 2) / 3, head = width - 2 - tail;

	if (len <= width)
		str_puts(out, s);
	else if (width < 3)
		str_printf(out, "%.*s", (int)(after(s, width) - s), s);
	else
		str_printf(out, "%.*s..%s", (int)(after(s, head) - s), s, after(s, len - tail));
}

/* Returns the width of the first `end` columns as far as they stand in rows. */
static int sheet_columns_width(const struct sheet *sh, int end)
{
	int sum = sh->indent - sh->gap;

	for (int i = 0; i < end; i++)
		sum += sh->p.columns[i].place == IN_ROWS ? sh->p.columns[i].width + sh->gap : 0;
	return sum;
}

/* Shortens the widest of the first `end` names until they take `room`. Returns whether they do. */
static bool sheet_shorten_names(struct sheet *sh, int end, int room, int least)
{
	struct people_column *widest = sh->p.columns;

	while (widest && sheet_columns_width(sh, end) > room) {
		widest = NULL;
		for (struct people_column *c = sh->p.columns; c < sh->p.columns + end; c++)
			if (c->place == IN_ROWS && !c->whole && c->width > least &&
			    (!widest || c->width > widest->width))
				widest = c;
		if (widest)
			widest->width--;
	}
	return sheet_columns_width(sh, end) <= room;
}

static struct people_column *sheet_last_shown(const struct sheet *sh)
{
	int i = sh->p.ncolumns - 1;

	while (i > 0 && sh->p.columns[i].place != IN_ROWS)
		i--;
	return &sh->p.columns[i];
}

static void sheet_restore_widths(struct sheet *sh)
{
	for (int i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].width = sh->p.columns[i].full;
	if (sh->prose && sheet_last_shown(sh)->width > PROSE_LEAST)
		sheet_last_shown(sh)->width = PROSE_LEAST;
}

/* Returns whether the shown columns fit if names have `least` characters. */
static bool sheet_try_names(struct sheet *sh, int least)
{
	for (sh->gap = 2; sh->gap > 0; sh->gap--) {
		sheet_restore_widths(sh);
		if (sheet_shorten_names(sh, sh->p.ncolumns, sh->width, least))
			return true;
	}
	sh->gap = 1;
	return false;
}

/* --- names --- */

static bool sheet_column_is_constant(const struct people *p, int column)
{
	for (size_t row = 1; row < p->rows; row++)
		if (strcmp(people_cell(p, row, column), people_cell(p, 0, column)))
			return false;
	return p->rows > 1;
}

/* Hides columns with the same word in each row and adds them to `once`. */
static void sheet_hide_constant(struct sheet *sh)
{
	for (int i = 0; i < sh->p.ncolumns - 1; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (!c->left || !sheet_column_is_constant(&sh->p, i))
			continue;
		c->place = SAID_ONCE;
		str_printf(&sh->once, "%s%s %s", sh->once.len ? ", " : "", c->name,
			   people_cell(&sh->p, 0, i));
	}
}

/*
 * Returns the number of columns that identify rows: all columns up to the last name before the
 * figures, with whole numbers among them (the number of a run or a thread).
 */
static int sheet_naming_columns(const struct sheet *sh)
{
	int n = 0;

	for (int i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (!c->left && sh->t->columns[c->value].type != V_INT)
			break;
		if (c->left)
			n = i + 1;
	}
	return n;
}

static int sheet_compare_rows(const struct sheet *sh, size_t a, size_t b, int end)
{
	int order = 0;

	for (int i = 0; i < end && !order; i++)
		if (sh->p.columns[i].place == IN_ROWS || i < sh->section)
			order = strcmp(people_cell(&sh->p, a, i), people_cell(&sh->p, b, i));
	return order;
}

static int sheet_compare_names(const void *a, const void *b, void *sheet)
{
	const struct sheet *sh = sheet;

	return sheet_compare_rows(sh, *(const size_t *)a, *(const size_t *)b, sh->keys);
}

/* Returns whether two rows have the same keys. */
static bool sheet_is_ambiguous(struct sheet *sh)
{
	autofree size_t *rows = xcalloc(sh->p.rows + 1, sizeof(*rows));
	bool same = false;

	for (size_t i = 0; i < sh->p.rows; i++)
		rows[i] = i;
	qsort_r(rows, sh->p.rows, sizeof(*rows), sheet_compare_names, sh);
	for (size_t i = 1; i < sh->p.rows && !same; i++)
		same = !sheet_compare_names(&rows[i - 1], &rows[i], sh);
	return same;
}

/* --- sections --- */

bool sheet_starts_section(const struct sheet *sh, size_t row)
{
	return sh->section && (!row || sheet_compare_rows(sh, row - 1, row, sh->section));
}

static size_t sheet_count_sections(const struct sheet *sh)
{
	size_t n = 0;

	for (size_t row = 0; row < sh->p.rows; row++)
		n += sheet_starts_section(sh, row);
	return n;
}

/* Puts the first `n` columns above their rows, and takes other columns back into the rows. */
static void sheet_set_section(struct sheet *sh, int n)
{
	sh->section = n;
	for (int i = 0; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (c->place == IN_ROWS || c->place == IN_SECTION)
			c->place = i < n ? IN_SECTION : IN_ROWS;
	}
}

/*
 * Puts rows into sections: as many columns as possible that still group several rows under each
 * value. At least one name remains in the rows.
 */
static bool sheet_try_sections(struct sheet *sh)
{
	int names = 0;

	while (names < sh->p.ncolumns && sh->p.columns[names].left)
		names++;
	sh->section = !sh->p.rows ? 0 : sh->keys > names ? names : names - 1;
	for (; sh->section > 0; sh->section--)
		if (sh->p.columns[sh->section].place == IN_ROWS &&
		    sheet_count_sections(sh) * ROWS_OF_SECTION <= sh->p.rows)
			break;
	if (sh->section <= 0) {
		sh->section = 0;
		return false;
	}
	sheet_set_section(sh, sh->section);
	return sheet_try_names(sh, NAME_FAIR);
}

/* --- columns that the table can spare --- */

static void sheet_hide(struct sheet *sh, const char *name)
{
	for (int i = 1; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (c->place != IN_ROWS || strcmp(c->name, name))
			continue;
		c->place = LEFT_OUT;
		if (i < sh->keys && sheet_is_ambiguous(sh))
			c->place = IN_ROWS;
		else
			str_printf(&sh->left_out, "%s%s", sh->left_out.len ? ", " : "", name);
	}
}

/* Hides the columns that the table can spare, one by one, until the rest fits. */
static bool sheet_try_sparing(struct sheet *sh)
{
	char *name;

	each_part (name, sh->t->least ? sh->t->least : "", ' ') {
		sheet_hide(sh, name);
		if (sheet_try_names(sh, NAME_FAIR))
			return true;
	}
	return sheet_try_names(sh, NAME_LEAST);
}

/* --- blocks --- */

static int sheet_widest_figure(const struct sheet *sh)
{
	int most = 0;

	for (int i = sh->keys; i < sh->p.ncolumns; i++)
		if (sh->p.columns[i].place == IN_ROWS && sh->p.columns[i].width > most)
			most = sh->p.columns[i].width;
	return most;
}

/* Chooses the columns that begin each block, or puts them above each row if they leave no room. */
static void sheet_choose_keys(struct sheet *sh)
{
	int room;

	sh->gap = sh->indent ? 1 : 2;
	sheet_set_section(sh, 0);
	sheet_restore_widths(sh);
	sh->keys = sh->keys < sh->p.ncolumns ? sh->keys : 1;
	while (sh->keys < sh->p.ncolumns - 1 && sheet_is_ambiguous(sh))
		sh->keys++;
	room = sh->width - sh->gap - sheet_widest_figure(sh);
	if (sheet_shorten_names(sh, sh->keys, room, NAME_LEAST))
		return;
	sheet_set_section(sh, sh->keys);
	sh->keys = 0;
}

static void sheet_assign_blocks(struct sheet *sh)
{
	int first = sheet_columns_width(sh, sh->keys), used = first;

	for (int i = sh->keys; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (c->place != IN_ROWS)
			continue;
		if (used > first && used + sh->gap + c->width > sh->width) {
			sh->blocks++;
			used = first;
		}
		c->block = sh->blocks - 1;
		used += sh->gap + c->width;
	}
	if (sh->prose && used < sh->width)
		sheet_last_shown(sh)->width += sh->width - used;
}

/* --- the page --- */

static bool sheet_is_prose(const struct sheet *sh)
{
	int i = sh->p.ncolumns - 1;

	if (i < 0 || !sh->p.columns[i].left)
		return false;
	for (size_t row = 0; row < sh->p.rows; row++)
		if (strchr(people_cell(&sh->p, row, i), ' '))
			return true;
	return false;
}

static void sheet_fit(struct sheet *sh, bool sections)
{
	sh->prose = sheet_is_prose(sh);
	sh->keys = sheet_naming_columns(sh);
	if (!sheet_try_names(sh, NAME_FAIR) && !(sections && sheet_try_sections(sh)) &&
	    !sheet_try_sparing(sh))
		sheet_choose_keys(sh);
	sheet_assign_blocks(sh);
}

void sheet_of(struct sheet *sh, const struct table *t, int width, int indent, bool sections)
{
	bool fits;

	*sh = (struct sheet){.t = t, .width = width, .indent = indent, .gap = 2, .blocks = 1};
	people_of(&sh->p, t);
	fits = !width || sheet_columns_width(sh, sh->p.ncolumns) <= width;
	if (!fits || !sections)
		sheet_hide_constant(sh);
	if (!fits)
		sheet_fit(sh, sections);
}

void sheet_free(struct sheet *sh)
{
	people_free(&sh->p);
	str_free(&sh->once);
	str_free(&sh->left_out);
}
