// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Characters that names keep: without need, before columns go, and at worst; and sentences. */
enum { NAME_GOOD = 30, NAME_FAIR = 22, NAME_LEAST = 14, PROSE_LEAST = 28, ROWS_OF_SECTION = 2 };

static struct people_column *last_shown(const struct sheet *sh)
{
	int i = sh->p.ncolumns - 1;

	while (i > 0 && sh->p.columns[i].place != IN_ROWS)
		i--;
	return &sh->p.columns[i];
}

static void restore_widths(struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].width = sh->natural[i];
	if (sh->prose && last_shown(sh)->width > PROSE_LEAST)
		last_shown(sh)->width = PROSE_LEAST;
}

/* Do the columns shown fit when names keep so many characters? If not, nothing has changed. */
static bool try_names(struct sheet *sh, int least)
{
	for (sh->gap = 2; sh->gap > 0; sh->gap--) {
		restore_widths(sh);
		if (fit_names(&sh->p, sh->gap, sh->width, least))
			return true;
	}
	restore_widths(sh);
	sh->gap = 2;
	return false;
}

/* The names at the beginning. */
static int leading_names(const struct sheet *sh)
{
	int n = 0;

	while (n < sh->p.ncolumns && sh->p.columns[n].left)
		n++;
	return n;
}

/* Columns that tell rows apart: up to the last name before the figures, with the whole numbers
 * between them (the number of a run, of a thread). */
static int naming_columns(const struct sheet *sh)
{
	int i, n = 0;

	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (!c->left && sh->t->columns[c->value].type != V_INT)
			break;
		if (c->left)
			n = i + 1;
	}
	return n;
}

static int compare_rows(const struct sheet *sh, size_t a, size_t b, int from, int to)
{
	int i, order = 0;

	for (i = from; i < to && !order; i++)
		if (sh->p.columns[i].place == IN_ROWS || i < sh->section)
			order = strcmp(people_cell(&sh->p, a, i), people_cell(&sh->p, b, i));
	return order;
}

static int by_names(const void *a, const void *b, void *sheet)
{
	const struct sheet *sh = sheet;

	return compare_rows(sh, *(const size_t *)a, *(const size_t *)b, 0, naming_columns(sh));
}

/* Would two rows have the same names? */
static bool is_ambiguous(struct sheet *sh)
{
	size_t *rows = xcalloc(sh->p.rows + 1, sizeof(*rows)), i;
	bool same = false;

	for (i = 0; i < sh->p.rows; i++)
		rows[i] = i;
	qsort_r(rows, sh->p.rows, sizeof(*rows), by_names, sh);
	for (i = 1; i < sh->p.rows && !same; i++)
		same = !by_names(&rows[i - 1], &rows[i], sh);
	free(rows);
	return same;
}

static void set_bare(struct sheet *sh, int i, bool bare)
{
	people_set_bare(&sh->p, sh->t, i, bare);
	sh->natural[i] = sh->p.columns[i].width;
}

static void leave_out(struct sheet *sh, const char *name)
{
	str_printf(&sh->left_out, "%s%s", sh->left_out.len ? ", " : "", name);
}

/* "value[]" is the interval of the column "value": a part of its cells. */
static bool hide_interval(struct sheet *sh, const char *name)
{
	struct str part = {0};
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct column *c = &sh->t->columns[sh->p.columns[i].value];
		size_t len = strlen(c->name);

		if (!sh->p.columns[i].interval || strncmp(c->name, name, len) ||
		    strcmp(name + len, "[]"))
			continue;
		set_bare(sh, i, true);
		column_part_name(&part, c, PART_LOW);
		leave_out(sh, part.buf);
		str_reset(&part);
		column_part_name(&part, c, PART_HIGH);
		leave_out(sh, part.buf);
		str_free(&part);
		return true;
	}
	return false;
}

static void hide(struct sheet *sh, const char *name)
{
	int i, names = naming_columns(sh);

	if (hide_interval(sh, name))
		return;
	for (i = 1; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (c->place != IN_ROWS || strcmp(c->name, name))
			continue;
		c->place = SPARED;
		if (i < names && is_ambiguous(sh))
			c->place = IN_ROWS;
		else
			leave_out(sh, name);
	}
}

/* Columns that can be spared, one after the other, until the rest fits. */
static bool try_sparing(struct sheet *sh)
{
	char *copy = xstrdup(sh->t->least ? sh->t->least : ""), *rest = copy, *name;
	bool fits = false;

	while (!fits && (name = str_token(&rest, ' '))) {
		hide(sh, name);
		fits = try_names(sh, NAME_FAIR);
	}
	free(copy);
	return fits || try_names(sh, NAME_LEAST);
}

bool sheet_starts_section(const struct sheet *sh, size_t row)
{
	return sh->section && (!row || compare_rows(sh, row - 1, row, 0, sh->section));
}

static size_t count_sections(const struct sheet *sh)
{
	size_t n = 0, row;

	for (row = 0; row < sh->p.rows; row++)
		n += sheet_starts_section(sh, row);
	return n;
}

/* The most columns that still have several rows below each of their values. */
static void make_sections(struct sheet *sh)
{
	int i, names = leading_names(sh);

	/* one name at least stays in the rows */
	sh->section = !sh->p.rows ? 0 : naming_columns(sh) > names ? names : names - 1;
	for (; sh->section > 0; sh->section--)
		if (sh->p.columns[sh->section].place == IN_ROWS &&
		    count_sections(sh) * ROWS_OF_SECTION <= sh->p.rows)
			break;
	sh->section = sh->section < 0 ? 0 : sh->section;
	for (i = 0; i < sh->section; i++)
		if (sh->p.columns[i].place == IN_ROWS)
			sh->p.columns[i].place = IN_SECTION;
}

static bool is_prose(const struct sheet *sh)
{
	int i = sh->p.ncolumns - 1;
	size_t row;

	if (i < 0 || !sh->p.columns[i].left)
		return false;
	for (row = 0; row < sh->p.rows; row++)
		if (strchr(people_cell(&sh->p, row, i), ' '))
			return true;
	return false;
}

static void narrow_names(struct sheet *sh, int least)
{
	int i;

	restore_widths(sh);
	for (i = 0; i < sh->p.ncolumns; i++)
		if (!sh->p.columns[i].whole && sh->p.columns[i].width > least &&
		    !(sh->prose && &sh->p.columns[i] == last_shown(sh)))
			sh->p.columns[i].width = least;
}

/* The room that the keys leave is enough for the widest of the other columns. */
static bool is_room_beside_keys(const struct sheet *sh)
{
	int i, most = 0, room = sh->width;

	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (c->place == IN_ROWS && c->key)
			room -= c->width + sh->gap;
		else if (c->place == IN_ROWS && c->width > most)
			most = c->width;
	}
	return room >= most;
}

/* In parts below each other: names narrower until the widest of the other columns fits beside them,
 * but not so narrow that two rows begin with the same. */
static bool try_parts(struct sheet *sh)
{
	int least;

	sheet_arrange(sh);
	for (least = NAME_GOOD; least >= NAME_LEAST; least--) {
		narrow_names(sh, least);
		if (is_room_beside_keys(sh) && sheet_tells_apart(sh))
			return true;
	}
	return false;
}

static void fit_parts(struct sheet *sh)
{
	restore_widths(sh);
	sh->as_lists = !sheet_choose_keys(sh) ||
		       (!try_parts(sh) && !(sheet_spare_keys(sh) && try_parts(sh)));
	if (sh->as_lists)
		sheet_arrange(sh);
}

static void widen_prose(struct sheet *sh)
{
	int room = sh->width - fit_width(&sh->p, sh->gap);
	struct people_column *c = last_shown(sh);

	if (sh->prose && !sh->keys && room > 0)
		c->width += room;
}

static bool try_sections(struct sheet *sh)
{
	make_sections(sh);
	return sh->section && (try_names(sh, NAME_GOOD) || try_names(sh, NAME_FAIR));
}

/* There is room for all columns in parts, each row with its names. */
static void show_all(struct sheet *sh)
{
	int i;

	str_reset(&sh->left_out);
	sh->section = 0;
	for (i = 0; i < sh->p.ncolumns; i++) {
		set_bare(sh, i, false);
		if (sh->p.columns[i].place != SAID_ONCE)
			sh->p.columns[i].place = IN_ROWS;
	}
	fit_parts(sh);
}

static void fit(struct sheet *sh)
{
	if (!sh->width || fit_width(&sh->p, sh->gap) <= sh->width)
		return;
	sh->prose = is_prose(sh);
	fit_say_once(&sh->p, &sh->once);
	if (try_names(sh, NAME_GOOD) || try_names(sh, NAME_FAIR) || try_sections(sh) ||
	    try_sparing(sh))
		widen_prose(sh);
	else
		show_all(sh);
}

void sheet_of(struct sheet *sh, const struct table *t, int width)
{
	int i;

	*sh = (struct sheet){.t = t, .width = width, .gap = 2};
	people_of(&sh->p, t);
	sh->natural = xcalloc((size_t)sh->p.ncolumns + 1, sizeof(*sh->natural));
	for (i = 0; i < sh->p.ncolumns; i++)
		sh->natural[i] = sh->p.columns[i].width;
	fit(sh);
}

void sheet_free(struct sheet *sh)
{
	people_free(&sh->p);
	free(sh->natural);
	str_free(&sh->once);
	str_free(&sh->left_out);
}
