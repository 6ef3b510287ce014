// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/compare.h"

#include "analyze/texts/perf_stat.h"
#include "analyze/texts/strace_c.h"
#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One text, read as whichever kind it is. */
struct text_end {
	const char *table; /* NULL: none of them */
	struct trace trace;
	struct perf_stat stat;
	struct table made;
};

static void read_end(struct text_end *e, const char *path)
{
	struct stat st;

	*e = (struct text_end){0};
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	if (!perf_stat_read(path, &e->stat, NULL))
		e->table = "counters";
	else if (!perf_trace_read(path, &e->trace, NULL) || !strace_c_read(path, &e->trace, NULL))
		e->table = "syscalls";
}

static void free_end(struct text_end *e)
{
	trace_free(&e->trace);
	perf_stat_free(&e->stat);
	table_free(&e->made);
}

const char *compare_texts_table(const char *base, const char *new)
{
	struct text_end e[ENDS];
	const char *table;

	read_end(&e[BASE], base);
	read_end(&e[NEW], new);
	table = e[BASE].table && e[NEW].table && !strcmp(e[BASE].table, e[NEW].table)
			? e[BASE].table
			: NULL;
	free_end(&e[BASE]);
	free_end(&e[NEW]);
	return table;
}

/* --- the two tables side by side --- */

static const struct layout {
	const char *table, *key, *by;
	const char *fields[4];
	int digits;
} layouts[] = {
	{"syscalls", "syscall", "syscall", {"calls", "errors", "total_ms", "avg_ms"}, 3},
	{"counters", "name", NULL, {"value"}, 2},
};

static void add_column(struct table *t, struct column *list, const char *name, const char *prefix,
		       const struct column *like, int digits)
{
	char *full = prefix ? xasprintf("%s_%s", prefix, name) : xstrdup(name);

	list[t->ncolumns++] =
		(struct column){arena_strdup(&t->arena, full), like ? like->unit : NULL,
				like ? V_REAL : V_STR, .digits = digits};
	free(full);
}

static void make_columns(struct table *t, const struct layout *l, const struct table *like)
{
	struct column *list = arena_alloc(&t->arena, 16 * sizeof(*list));
	size_t i;

	add_column(t, list, l->key, NULL, NULL, 0);
	for (i = 0; i < array_size(l->fields) && l->fields[i]; i++) {
		const struct column *c = &like->columns[table_column(like, l->fields[i])];

		add_column(t, list, l->fields[i], "base", c, l->digits);
		add_column(t, list, l->fields[i], "new", c, l->digits);
		add_column(t, list, l->fields[i], "delta", c, l->digits);
	}
	if (!l->by)
		add_column(t, list, "unit", NULL, NULL, 0);
	t->columns = list;
}

static const struct value *cell(const struct table *t, size_t row, const char *column)
{
	return table_cell(t, row, table_column(t, column));
}

static size_t find_row(const struct table *t, const char *key_column, const char *key)
{
	size_t i;

	for (i = 0; i < t->rows; i++)
		if (!strcmp(cell(t, i, key_column)->str, key))
			return i;
	return t->rows;
}

static double number(const struct value *v)
{
	return v->type == V_INT ? (double)v->integer : v->type == V_REAL ? v->real : NAN;
}

/* Whole numbers stay whole. */
static struct value difference(const struct value *a, const struct value *b)
{
	if (a->type == V_INT && b->type == V_INT)
		return value_int(b->integer - a->integer);
	return value_real(number(b) - number(a));
}

/* `row`s of both; one past the last: it is not there. */
static void put_row(struct table *t, const struct layout *l, const struct text_end *e, size_t base,
		    size_t new)
{
	const struct table *one = base < e[BASE].made.rows ? &e[BASE].made : &e[NEW].made;
	size_t at = one == &e[BASE].made ? base : new, i;
	struct value *row = table_row(t), none = value_none();
	int c = 0;

	row[c++] = value_str(t, cell(one, at, l->key)->str);
	for (i = 0; i < array_size(l->fields) && l->fields[i]; i++) {
		const struct value *a = &none, *b = &none;

		if (base < e[BASE].made.rows)
			a = cell(&e[BASE].made, base, l->fields[i]);
		if (new < e[NEW].made.rows)
			b = cell(&e[NEW].made, new, l->fields[i]);
		row[c++] = value_part(a, PART_VALUE);
		row[c++] = value_part(b, PART_VALUE);
		row[c++] = difference(a, b);
	}
	if (!l->by)
		row[c] = value_str(t, cell(one, at, "unit")->str);
}

static void put_rows(struct table *t, const struct layout *l, const struct text_end *e)
{
	const struct table *base = &e[BASE].made, *new = &e[NEW].made;
	size_t i;

	for (i = 0; i < base->rows; i++)
		put_row(t, l, e, i, find_row(new, l->key, cell(base, i, l->key)->str));
	for (i = 0; i < new->rows; i++)
		if (find_row(base, l->key, cell(new, i, l->key)->str) == base->rows)
			put_row(t, l, e, base->rows, i);
}

static bool texts_have_note(const struct table *t, const struct note *note)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (notes_equal(&t->notes.note[i], note))
			return true;
	return false;
}

/* A note of one end carries its file's name, a note of both has none. */
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

static int make_end(struct text_end *e, const struct layout *l, struct error *err)
{
	struct query q = {.all = true, .by = l->by};

	if (!strcmp(l->table, "counters"))
		q.stat = &e->stat;
	else
		q.trace = &e->trace;
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
	const struct layout *l = layouts;
	struct text_end e[ENDS];
	int i, rc = 0;

	compare_table_init(&comparison_texts, t);
	for (i = 0; i < ENDS; i++)
		read_end(&e[i], paths[i]);
	if (!e[BASE].table || !e[NEW].table || strcmp(e[BASE].table, e[NEW].table))
		rc = error_set(err, EINVAL, "%s and %s are not texts of one kind", base, new);
	while (!rc && strcmp(l->table, e[BASE].table))
		l++;
	for (i = 0; i < ENDS && !rc; i++)
		rc = make_end(&e[i], l, err);
	if (!rc) {
		texts_carry_notes(t, e, paths);
		make_columns(t, l, &e[BASE].made);
		table_title(t, "%s: %s against %s", l->table, new, base);
		put_rows(t, l, e);
		note_add(&t->notes, compare_one_text);
	}
	for (i = 0; i < ENDS; i++)
		free_end(&e[i]);
	return rc;
}
