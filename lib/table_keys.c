// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static char *keys_of_row(const struct sheet *sh, size_t row)
{
	struct str s = {0};
	int i;

	str_puts(&s, "");
	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (!c->key)
			continue;
		fit_short(&s, people_cell(&sh->p, row, i), c->width);
		str_putc(&s, '\n'); /* no cell has a newline */
	}
	return s.buf;
}

static int keys_compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool sheet_is_distinct(const struct sheet *sh)
{
	char **keys = xcalloc(sh->p.rows + 1, sizeof(*keys));
	bool apart = true;
	size_t i;

	for (i = 0; i < sh->p.rows; i++)
		keys[i] = keys_of_row(sh, i);
	qsort(keys, sh->p.rows, sizeof(*keys), keys_compare_text);
	for (i = 1; i < sh->p.rows && apart; i++)
		apart = strcmp(keys[i - 1], keys[i]) != 0;
	for (i = 0; i < sh->p.rows; i++)
		free(keys[i]);
	free(keys);
	return apart;
}

static bool keys_is_last_prose(const struct sheet *sh, int column)
{
	return sh->prose && column == sh->p.ncolumns - 1;
}

/*
 * Returns whether the column can be a key. With `figures`, a figure such as a time or a size can
 * be a key if no other column is.
 */
static bool keys_column_can_be_key(const struct sheet *sh, int column, bool figures)
{
	const struct people_column *c = &sh->p.columns[column];

	return c->place == IN_ROWS && !keys_is_last_prose(sh, column) && !c->interval &&
	       (figures || sh->t->columns[c->value].type != V_REAL);
}

/* Returns whether words stand before the first figure. A bare number says little about a row. */
static bool keys_sheet_has_words(const struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		if (sh->t->columns[sh->p.columns[i].value].type == V_REAL)
			break;
		if (sh->p.columns[i].left && keys_column_can_be_key(sh, i, false))
			return true;
	}
	return false;
}

static bool keys_mark_until_distinct(struct sheet *sh, bool figures)
{
	bool named = !keys_sheet_has_words(sh);
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].key = false;
	for (i = 0; i < sh->p.ncolumns; i++) {
		if (!keys_column_can_be_key(sh, i, figures))
			continue;
		sh->p.columns[i].key = true;
		named |= sh->p.columns[i].left;
		if (named && sheet_is_distinct(sh))
			return true;
	}
	return false;
}

static bool keys_unmark_spare(struct sheet *sh, bool words)
{
	bool any = false;
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (!c->key || c->left != words)
			continue;
		c->key = false;
		if (sheet_is_distinct(sh))
			any = true;
		else
			c->key = true;
	}
	return any;
}

static int keys_count(const struct sheet *sh)
{
	int i, n = 0;

	for (i = 0; i < sh->p.ncolumns; i++)
		n += sh->p.columns[i].key;
	return n;
}

bool sheet_choose_keys(struct sheet *sh)
{
	int i;

	if (!keys_mark_until_distinct(sh, false) && !keys_mark_until_distinct(sh, true)) {
		for (i = 0; i < sh->p.ncolumns; i++)
			sh->p.columns[i].key =
				sh->p.columns[i].left && keys_column_can_be_key(sh, i, false);
		return false;
	}
	if (keys_count(sh) > 1)
		keys_unmark_spare(sh, false);
	return true;
}

bool sheet_spare_keys(struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].width = sh->natural[i];
	return keys_count(sh) > 1 && keys_unmark_spare(sh, true);
}

/* Returns the rank of a column: 0 for keys, and a higher rank for a less important column. */
static int keys_column_rank(const struct sheet *sh, int column)
{
	const struct people_column *c = &sh->p.columns[column];
	char *copy = xstrdup(sh->t->least ? sh->t->least : ""), *rest = copy, *name;
	int n, rank = 1,
	       most = (int)strlen(copy) + 2; /* the characters limit the number of words */

	for (n = 0; (name = str_token(&rest, ' ')); n++)
		if (!strcmp(name, c->name))
			rank = most - n;
	free(copy);
	return c->key ? 0 : keys_is_last_prose(sh, column) ? most + 1 : rank;
}

static void keys_swap_columns(struct sheet *sh, int i)
{
	struct people_column c = sh->p.columns[i];
	int natural = sh->natural[i];
	size_t row;

	sh->p.columns[i] = sh->p.columns[i + 1];
	sh->p.columns[i + 1] = c;
	sh->natural[i] = sh->natural[i + 1];
	sh->natural[i + 1] = natural;
	for (row = 0; row < sh->p.rows; row++) {
		char **cells = sh->p.cells + row * (size_t)sh->p.ncolumns + i, *cell = cells[0];

		cells[0] = cells[1];
		cells[1] = cell;
	}
}

void sheet_arrange(struct sheet *sh)
{
	int i, k;

	sh->keys = keys_count(sh);
	for (i = 1; i < sh->p.ncolumns; i++)
		for (k = i; k > 0 && keys_column_rank(sh, k) < keys_column_rank(sh, k - 1); k--) {
			if (keys_is_last_prose(sh, k))
				break;
			keys_swap_columns(sh, k - 1);
		}
}
