// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static char *key_of(const struct sheet *sh, size_t row)
{
	struct str s = {0};
	int i;

	str_puts(&s, "");
	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (!c->key)
			continue;
		fit_short(&s, people_cell(&sh->p, row, i), c->width);
		str_putc(&s, '\n'); /* no cell has one */
	}
	return s.buf;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool sheet_tells_apart(const struct sheet *sh)
{
	char **keys = xcalloc(sh->p.rows + 1, sizeof(*keys));
	bool apart = true;
	size_t i;

	for (i = 0; i < sh->p.rows; i++)
		keys[i] = key_of(sh, i);
	qsort(keys, sh->p.rows, sizeof(*keys), by_text);
	for (i = 1; i < sh->p.rows && apart; i++)
		apart = strcmp(keys[i - 1], keys[i]) != 0;
	for (i = 0; i < sh->p.rows; i++)
		free(keys[i]);
	free(keys);
	return apart;
}

static bool is_last_prose(const struct sheet *sh, int column)
{
	return sh->prose && column == sh->p.ncolumns - 1;
}

/* A figure may be a key where nothing else is: a time, a size. */
static bool can_be_key(const struct sheet *sh, int column, bool figures)
{
	const struct people_column *c = &sh->p.columns[column];

	return c->place == IN_ROWS && !is_last_prose(sh, column) && !c->interval &&
	       (figures || sh->t->columns[c->value].type != V_REAL);
}

/* Words before the first figure: a bare number says little about a row. */
static bool has_words(const struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		if (sh->t->columns[sh->p.columns[i].value].type == V_REAL)
			break;
		if (sh->p.columns[i].left && can_be_key(sh, i, false))
			return true;
	}
	return false;
}

static bool mark_until_apart(struct sheet *sh, bool figures)
{
	bool named = !has_words(sh);
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].key = false;
	for (i = 0; i < sh->p.ncolumns; i++) {
		if (!can_be_key(sh, i, figures))
			continue;
		sh->p.columns[i].key = true;
		named |= sh->p.columns[i].left;
		if (named && sheet_tells_apart(sh))
			return true;
	}
	return false;
}

static bool spare(struct sheet *sh, bool words)
{
	bool any = false;
	int i;

	for (i = 0; i < sh->p.ncolumns; i++) {
		struct people_column *c = &sh->p.columns[i];

		if (!c->key || c->left != words)
			continue;
		c->key = false;
		if (sheet_tells_apart(sh))
			any = true;
		else
			c->key = true;
	}
	return any;
}

static int count_keys(const struct sheet *sh)
{
	int i, n = 0;

	for (i = 0; i < sh->p.ncolumns; i++)
		n += sh->p.columns[i].key;
	return n;
}

bool sheet_choose_keys(struct sheet *sh)
{
	int i;

	if (!mark_until_apart(sh, false) && !mark_until_apart(sh, true)) {
		for (i = 0; i < sh->p.ncolumns; i++)
			sh->p.columns[i].key = sh->p.columns[i].left && can_be_key(sh, i, false);
		return false;
	}
	if (count_keys(sh) > 1)
		spare(sh, false);
	return true;
}

bool sheet_spare_keys(struct sheet *sh)
{
	int i;

	for (i = 0; i < sh->p.ncolumns; i++)
		sh->p.columns[i].width = sh->natural[i];
	return count_keys(sh) > 1 && spare(sh, true);
}

/* Behind how many others a column stands: 0 for keys, the more the less it is missed. */
static int rank_of(const struct sheet *sh, int column)
{
	const struct people_column *c = &sh->p.columns[column];
	char *copy = xstrdup(sh->t->least ? sh->t->least : ""), *rest = copy, *name;
	int n, rank = 1, most = (int)strlen(copy) + 2; /* no more words than characters */

	for (n = 0; (name = str_token(&rest, ' ')); n++)
		if (!strcmp(name, c->name))
			rank = most - n;
	free(copy);
	return c->key ? 0 : is_last_prose(sh, column) ? most + 1 : rank;
}

static void swap_with_next(struct sheet *sh, int i)
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

	sh->keys = count_keys(sh);
	for (i = 1; i < sh->p.ncolumns; i++)
		for (k = i; k > 0 && rank_of(sh, k) < rank_of(sh, k - 1); k--) {
			if (is_last_prose(sh, k))
				break;
			swap_with_next(sh, k - 1);
		}
}
