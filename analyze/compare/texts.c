// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/compare.h"

#include "analyze/texts/perf_stat.h"
#include "analyze/texts/perf_trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A text of either kind. */
struct text_end {
	const char *table; /* NULL: none of them */
	struct trace trace;
	struct perf_stat stat;
	struct table made;
};

static void text_end_read(struct text_end *e, const char *path)
{
	struct stat st;

	*e = (struct text_end){0};
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	if (!perf_stat_parse(path, NULL, 0, &e->stat, NULL))
		e->table = "counters";
	else if (!perf_trace_parse(path, NULL, 0, &e->trace, NULL) ||
		 !strace_c_parse(path, NULL, 0, &e->trace, NULL))
		e->table = "syscalls";
}

static void text_end_free(struct text_end *e)
{
	trace_free(&e->trace);
	perf_stat_free(&e->stat);
	table_free(&e->made);
}

const char *compare_texts_table(const char *base, const char *new)
{
	struct text_end e[ENDS];
	const char *table;

	text_end_read(&e[BASE], base);
	text_end_read(&e[NEW], new);
	table = e[BASE].table && e[NEW].table && !strcmp(e[BASE].table, e[NEW].table)
			? e[BASE].table
			: NULL;
	text_end_free(&e[BASE]);
	text_end_free(&e[NEW]);
	return table;
}

/* --- the two tables side by side --- */

static const struct text_table {
	const char *table, *key, *by;
	const char *fields[4];
	int digits;
} text_tables[] = {
	{"syscalls", "syscall", "syscall", {"calls", "errors", "total_ms", "avg_ms"}, 3},
	{"counters", "name", NULL, {"value"}, 2},
};

static void texts_add_column(struct table *t, struct column *list, const char *name,
			     const char *prefix, const struct column *like, int digits)
{
	list[t->ncolumns++] =
		(struct column){prefix ? arena_printf(&t->arena, "%s_%s", prefix, name) : name,
				like ? like->unit : NULL, like ? V_REAL : V_STR, .digits = digits};
}

static void texts_make_columns(struct table *t, const struct text_table *l,
			       const struct table *like)
{
	struct column *list = arena_alloc(&t->arena, 16 * sizeof(*list));
	size_t i;

	texts_add_column(t, list, l->key, NULL, NULL, 0);
	for (i = 0; i < array_size(l->fields) && l->fields[i]; i++) {
		const struct column *c = &like->columns[table_column(like, l->fields[i])];

		texts_add_column(t, list, l->fields[i], "base", c, l->digits);
		texts_add_column(t, list, l->fields[i], "new", c, l->digits);
		texts_add_column(t, list, l->fields[i], "delta", c, l->digits);
	}
	if (!l->by)
		texts_add_column(t, list, "unit", NULL, NULL, 0);
	t->columns = list;
}

static const struct value *texts_cell(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, table_column(t, column));
}

static size_t texts_find_row(const struct table *t, const char *key_column, const char *key)
{
	size_t i;

	for (i = 0; i < t->rows; i++)
		if (!strcmp(texts_cell(t, i, key_column)->str, key))
			return i;
	return t->rows;
}

static double texts_number(const struct value *v)
{
	return v->type == V_INT ? (double)v->integer : v->type == V_REAL ? v->real : NAN;
}

/* Returns b - a, an integer of integers. */
static struct value texts_difference(const struct value *a, const struct value *b)
{
	if (a->type == V_INT && b->type == V_INT)
		return value_int(b->integer - a->integer);
	return value_real(texts_number(b) - texts_number(a));
}

/* Adds a row from row `base` and row `new`; an index past the last row is a missing row. */
static void texts_add_row(struct table *t, const struct text_table *l, const struct text_end *e,
			  size_t base, size_t new)
{
	const struct table *one = base < e[BASE].made.rows ? &e[BASE].made : &e[NEW].made;
	size_t at = one == &e[BASE].made ? base : new, i;
	struct value *row = table_row(t), none = value_none();
	int c = 0;

	row[c++] = value_str(t, texts_cell(one, at, l->key)->str);
	for (i = 0; i < array_size(l->fields) && l->fields[i]; i++) {
		const struct value *a = &none, *b = &none;

		if (base < e[BASE].made.rows)
			a = texts_cell(&e[BASE].made, base, l->fields[i]);
		if (new < e[NEW].made.rows)
			b = texts_cell(&e[NEW].made, new, l->fields[i]);
		row[c++] = value_part(a, PART_VALUE);
		row[c++] = value_part(b, PART_VALUE);
		row[c++] = texts_difference(a, b);
	}
	if (!l->by)
		row[c] = value_str(t, texts_cell(one, at, "unit")->str);
}

static void texts_add_rows(struct table *t, const struct text_table *l, const struct text_end *e)
{
	const struct table *base = &e[BASE].made, *new = &e[NEW].made;
	size_t i;

	for (i = 0; i < base->rows; i++)
		texts_add_row(t, l, e, i,
			      texts_find_row(new, l->key, texts_cell(base, i, l->key)->str));
	for (i = 0; i < new->rows; i++)
		if (texts_find_row(base, l->key, texts_cell(new, i, l->key)->str) == base->rows)
			texts_add_row(t, l, e, base->rows, i);
}

static bool texts_have_note(const struct table *t, const struct note *note)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (notes_equal(&t->notes.note[i], note))
			return true;
	return false;
}

/* Copies the notes; a note of one end alone names its file. */
static void texts_carry_notes(struct table *t, const struct text_end *ends,
			      const char *const *paths)
{
	const struct notes *notes;
	size_t i;
	int e;

	for (e = 0; e < ENDS; e++) {
		notes = &ends[e].made.notes;
		for (i = 0; i < notes->n; i++) {
			bool both = texts_have_note(&ends[!e].made, &notes->note[i]);

			if (both && e == NEW)
				continue;
			notes_copy(&t->notes, &notes->note[i]);
			if (!both)
				notes_set_side(&t->notes, paths[e], NULL);
		}
	}
}

static int text_end_measure(struct text_end *e, const struct text_table *l, struct error *err)
{
	struct query q = {.all = true, .by = l->by};

	if (!strcmp(l->table, "counters"))
		q.bare.stat = &e->stat;
	else
		q.bare.trace = &e->trace;
	return measure_run(l->table, NULL, &q, &e->made, err);
}

const struct compare_table comparison_texts = {
	.name = "two texts",
	.table = "texts",
	.options = {[SOURCE_TEXT] = ""},
};

int compare_texts(const char *base, const char *new, struct table *t, struct error *err)
{
	const char *const paths[ENDS] = {base, new};
	const struct text_table *l = text_tables;
	struct text_end e[ENDS];
	int i, rc = 0;

	compare_table_init(&comparison_texts, t);
	for (i = 0; i < ENDS; i++)
		text_end_read(&e[i], paths[i]);
	if (!e[BASE].table || !e[NEW].table || strcmp(e[BASE].table, e[NEW].table))
		rc = error_set(err, EINVAL, "%s and %s are not texts of one kind", base, new);
	while (!rc && strcmp(l->table, e[BASE].table))
		l++;
	for (i = 0; i < ENDS && !rc; i++)
		rc = text_end_measure(&e[i], l, err);
	if (!rc) {
		texts_carry_notes(t, e, paths);
		texts_make_columns(t, l, &e[BASE].made);
		table_title(t, "%s: %s against %s", l->table, new, base);
		texts_add_rows(t, l, e);
		note_add(&t->notes, compare_one_text);
	}
	for (i = 0; i < ENDS; i++)
		text_end_free(&e[i]);
	return rc;
}
