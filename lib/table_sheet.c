// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/*
 * Names have at least NAME_GOOD characters at first, NAME_FAIR before columns are dropped, and
 * NAME_LEAST at worst. Sentences have at least PROSE_LEAST.
 */
enum { NAME_GOOD = 30, NAME_FAIR = 22, NAME_LEAST = 14, PROSE_LEAST = 28, ROWS_OF_SECTION = 2 };

static struct people_column *sheet_last_shown(const struct sheet *sh)
{
	int i = sh->p.ncolumns - 1;

	while (i > 0 && sh->p.columns[i].place != IN_ROWS)
		i--;
	return &sh->p.columns[i];
}

static void sheet_restore_widths(struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].width = sh->natural[i];
	if (sh->prose && sheet_last_shown(sh)->width > PROSE_LEAST)
		sheet_last_shown(sh)->width = PROSE_LEAST;
}

/*
 * Returns whether the shown columns fit if names have `least` characters. If not, changes nothing.
 */
static bool sheet_try_names(struct sheet *sh, int least)
{
	for (sh->gap = 2; sh->gap > 0; sh->gap--) {
		sheet_restore_widths(sh);
		if (fit_names(&sh->p, sh->gap, sh->width, least))
			return true;
	}
	sheet_restore_widths(sh);
	sh->gap = 2;
	return false;
}

/* Returns the number of names at the beginning. */
static int sheet_leading_names(const struct sheet *sh)
{
	int n = 0;

	while (n < sh->p.ncolumns && sh->p.columns[n].left)
		n++;
	return n;
}

/*
 * Returns the number of columns that identify rows: all columns up to the last name before the
 * figures, with whole numbers among them (the number of a run or a thread).
 */
static int sheet_naming_columns(const struct sheet *sh)
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

static int sheet_compare_rows(const struct sheet *sh, size_t a, size_t b, int from, int to)
{
	int i, order = 0;

	for (i = from; i < to && !order; i++)
		if (sh->p.columns[i].place == IN_ROWS || i < sh->section)
			order = strcmp(people_cell(&sh->p, a, i), people_cell(&sh->p, b, i));
	return order;
}

static int sheet_compare_names(const void *a, const void *b, void *sheet)
{
	const struct sheet *sh = sheet;

	return sheet_compare_rows(sh, *(const size_t *)a, *(const size_t *)b, 0,
				  sheet_naming_columns(sh));
}

/* Returns whether two rows have the same names. */
static bool sheet_is_ambiguous(struct sheet *sh)
{
	size_t *rows = xcalloc(sh->p.rows + 1, sizeof(*rows)), i;
	bool same = false;

	for (i = 0; i < sh->p.rows; i++)
		rows[i] = i;
	qsort_r(rows, sh->p.rows, sizeof(*rows), sheet_compare_names, sh);
	for (i = 1; i < sh->p.rows && !same; i++)
		same = !sheet_compare_names(&rows[i - 1], &rows[i], sh);
	free(rows);
	return same;
}

static void sheet_set_bare(struct sheet *sh, int i, bool bare)
{
	people_set_bare(&sh->p, sh->t, i, bare);
	sh->natural[i] = sh->p.columns[i].width;
}

static void sheet_leave_out(struct sheet *sh, const char *name)
{
	str_printf(&sh->left_out, "%s%s", sh->left_out.len ? ", " : "", name);
}

/* Hides an interval. "value[]" is the interval in the cells of the column "value". */
static bool sheet_hide_interval(struct sheet *sh, const char *name)
{
	struct str part = {0};
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct column *c = &sh->t->columns[sh->p.columns[i].value];
		size_t len = strlen(c->name);

		if (!sh->p.columns[i].interval || strncmp(c->name, name, len) ||
		    strcmp(name + len, "[]"))
			continue;
		sheet_set_bare(sh, i, true);
		column_part_name(&part, c, PART_LOW);
		sheet_leave_out(sh, part.buf);
		str_reset(&part);
		column_part_name(&part, c, PART_HIGH);
		sheet_leave_out(sh, part.buf);
		str_free(&part);
		return true;
	}
	return false;
}

static void sheet_hide(struct sheet *sh, const char *name)
{
	int i, names = sheet_naming_columns(sh);

	if (sheet_hide_interval(sh, name))
		return;
	for (i = 1; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (c->place != IN_ROWS || strcmp(c->name, name))
			continue;
		c->place = SPARED;
		if (i < names && sheet_is_ambiguous(sh))
			c->place = IN_ROWS;
		else
			sheet_leave_out(sh, name);
	}
}

/* Hides the columns that the table can spare, one by one, until the rest fits. */
static bool sheet_try_sparing(struct sheet *sh)
{
	char *copy = xstrdup(sh->t->least ? sh->t->least : ""), *rest = copy, *name;
	bool fits = false;

	while (!fits && (name = str_token(&rest, ' '))) {
		sheet_hide(sh, name);
		fits = sheet_try_names(sh, NAME_FAIR);
	}
	free(copy);
	return fits || sheet_try_names(sh, NAME_LEAST);
}

bool sheet_starts_section(const struct sheet *sh, size_t row)
{
	return sh->section && (!row || sheet_compare_rows(sh, row - 1, row, 0, sh->section));
}

static size_t sheet_count_sections(const struct sheet *sh)
{
	size_t n = 0, row;

	for (row = 0; row < sh->p.rows; row++)
		n += sheet_starts_section(sh, row);
	return n;
}

/*
 * Puts rows into sections: as many columns as possible that still group several rows under each
 * value.
 */
static void sheet_make_sections(struct sheet *sh)
{
	int i, names = sheet_leading_names(sh);

	/* at least one name remains in the rows */
	sh->section = !sh->p.rows ? 0 : sheet_naming_columns(sh) > names ? names : names - 1;
	for (; sh->section > 0; sh->section--)
		if (sh->p.columns[sh->section].place == IN_ROWS &&
		    sheet_count_sections(sh) * ROWS_OF_SECTION <= sh->p.rows)
			break;
	sh->section = sh->section < 0 ? 0 : sh->section;
	for (i = 0; i < sh->section; i++)
		if (sh->p.columns[i].place == IN_ROWS)
			sh->p.columns[i].place = IN_SECTION;
}

static bool sheet_is_prose(const struct sheet *sh)
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

static void sheet_narrow_names(struct sheet *sh, int least)
{
	int i;

	sheet_restore_widths(sh);
	for (i = 0; i < sh->p.ncolumns; i++)
		if (!sh->p.columns[i].whole && sh->p.columns[i].width > least &&
		    !(sh->prose && &sh->p.columns[i] == sheet_last_shown(sh)))
			sh->p.columns[i].width = least;
}

/* Returns whether the widest other column fits beside the keys. */
static bool sheet_has_room_beside_keys(const struct sheet *sh)
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

/*
 * Tries parts below each other. Shortens names until the widest other column fits beside the keys,
 * but only while all rows begin differently.
 */
static bool sheet_try_parts(struct sheet *sh)
{
	int least;

	sheet_arrange(sh);
	for (least = NAME_GOOD; least >= NAME_LEAST; least--) {
		sheet_narrow_names(sh, least);
		if (sheet_has_room_beside_keys(sh) && sheet_is_distinct(sh))
			return true;
	}
	return false;
}

static void sheet_fit_parts(struct sheet *sh)
{
	sheet_restore_widths(sh);
	sh->as_lists = !sheet_choose_keys(sh) ||
		       (!sheet_try_parts(sh) && !(sheet_spare_keys(sh) && sheet_try_parts(sh)));
	if (sh->as_lists)
		sheet_arrange(sh);
}

static void sheet_widen_prose(struct sheet *sh)
{
	int room = sh->width - fit_width(&sh->p, sh->gap);
	struct people_column *c = sheet_last_shown(sh);

	if (sh->prose && !sh->keys && room > 0)
		c->width += room;
}

static bool sheet_try_sections(struct sheet *sh)
{
	sheet_make_sections(sh);
	return sh->section && (sheet_try_names(sh, NAME_GOOD) || sheet_try_names(sh, NAME_FAIR));
}

/* Shows all columns in parts. Each row of a part begins with its names. */
static void sheet_show_all(struct sheet *sh)
{
	int i;

	str_reset(&sh->left_out);
	sh->section = 0;
	for (i = 0; i < sh->p.ncolumns; i++) {
		sheet_set_bare(sh, i, false);
		if (sh->p.columns[i].place != SAID_ONCE)
			sh->p.columns[i].place = IN_ROWS;
	}
	sheet_fit_parts(sh);
}

static void fit(struct sheet *sh)
{
	if (!sh->width || fit_width(&sh->p, sh->gap) <= sh->width)
		return;
	sh->prose = sheet_is_prose(sh);
	fit_hide_constant(&sh->p, &sh->once);
	if (sheet_try_names(sh, NAME_GOOD) || sheet_try_names(sh, NAME_FAIR) ||
	    sheet_try_sections(sh) || sheet_try_sparing(sh))
		sheet_widen_prose(sh);
	else
		sheet_show_all(sh);
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
