// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table.h"

#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static void merge_add_column(struct table *to, struct column *columns, const struct column *c)
{
	if (table_column(to, c->name) >= 0)
		return;
	columns[to->ncolumns] = *c;
	columns[to->ncolumns].name = arena_strdup(&to->arena, c->name);
	to->ncolumns++;
}

/* Makes the columns: the new one, those of the first table, and what the others have besides. */
static void merge_make_columns(struct table *to, const struct table *from, size_t n,
			       const char *column)
{
	const struct column first = {.name = column, .type = V_STR};
	struct column *columns;
	int most = 1, c;
	size_t i;

	for (i = 0; i < n; i++)
		most += from[i].ncolumns;
	columns = arena_alloc(&to->arena, (size_t)most * sizeof(*columns));
	to->columns = columns;
	merge_add_column(to, columns, &first);
	for (i = 0; i < n; i++)
		for (c = 0; c < from[i].ncolumns; c++)
			merge_add_column(to, columns, &from[i].columns[c]);
}

static void merge_add_rows(struct table *to, const struct table *from, const char *name)
{
	struct value *row;
	size_t i;
	int c;

	for (i = 0; i < from->rows; i++) {
		row = table_row(to);
		row[0] = value_str(to, name);
		for (c = 0; c < from->ncolumns; c++)
			table_set(to, row, from->columns[c].name,
				  value_copy(to, table_cell(from, i, c)));
	}
}

static bool merge_has_note(const struct table *t, const struct note *note)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (!t->notes.note[i].variant && !t->notes.note[i].side &&
		    notes_equal(&t->notes.note[i], note))
			return true;
	return false;
}

/* Returns whether all tables have this note of the whole table, so that it needs no name. */
static bool merge_is_common(const struct table *from, size_t n, const struct note *note)
{
	size_t i;

	for (i = 0; i < n && !note->variant && !note->side; i++)
		if (!merge_has_note(&from[i], note))
			return false;
	return i == n;
}

/* Adds the notes of table `at`. Each names its table. A note that all tables have stands once. */
static void merge_add_notes(struct table *to, const struct table *from, size_t n, size_t at,
			    const char *name)
{
	size_t i;

	for (i = 0; i < from[at].notes.n; i++) {
		const struct note *note = &from[at].notes.note[i];
		bool common = merge_is_common(from, n, note);
		struct str whose = {0};

		if (common && at)
			continue;
		notes_copy(&to->notes, note);
		str_printf(&whose, "%s%s%s", name, note->variant ? "/" : "",
			   note->variant ? note->variant : "");
		if (!common)
			notes_set_side(&to->notes, whose.buf, note->side);
		str_free(&whose);
	}
}

static void merge_add_title(struct table *to, const struct table *from, const char *name)
{
	struct str s = {0};

	if (!from->title)
		return;
	str_printf(&s, "%s: %s", name, from->title);
	table_title_lines(to, s.buf);
	str_free(&s);
}

void table_merge(struct table *to, const struct table *from, size_t n, const char *column,
		 const char *const *names)
{
	size_t i;

	table_init(to, from[0].name, NULL, 0);
	to->least = from[0].least;
	merge_make_columns(to, from, n, column);
	for (i = 0; i < n; i++) {
		merge_add_title(to, &from[i], names[i]);
		merge_add_rows(to, &from[i], names[i]);
		merge_add_notes(to, from, n, i, names[i]);
		to->lossy |= from[i].lossy;
	}
}
