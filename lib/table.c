// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table.h"

#include <assert.h>
#include <math.h>

void table_init(struct table *t, const char *name, const struct column *columns, int ncolumns)
{
	*t = (struct table){.name = name, .columns = columns, .ncolumns = ncolumns};
}

void table_drop_columns(struct table *t, const char *names)
{
	struct column *kept = arena_alloc(&t->arena, (size_t)t->ncolumns * sizeof(*kept));
	int n = 0;

	for (int i = 0; i < t->ncolumns; i++)
		if (!str_matches_any(names, t->columns[i].name))
			kept[n++] = t->columns[i];
	t->columns = kept;
	t->ncolumns = n;
}

void table_title(struct table *t, const char *fmt, ...)
{
	autofree char *title = xformat(fmt);

	str_replace(title, '\n', ' ');
	t->title = arena_strdup(&t->arena, title);
}

void table_title_lines(struct table *t, const char *lines)
{
	t->title = arena_printf(&t->arena, "%s%s%s", t->title ?: "", t->title ? "\n" : "", lines);
}

char **table_note_texts(const struct table *t)
{
	freed(note_lines_free) struct note_lines lines;
	size_t i, shown;
	char **texts;

	note_lines_make(&lines, &t->notes);
	shown = t->verbose ? lines.n : note_lines_shown(&lines);
	texts = xcalloc(shown + 2, sizeof(*texts));
	for (i = 0; i < shown; i++)
		texts[i] = note_line_text(&lines.line[i]);
	if (shown < lines.n)
		texts[i] = xasprintf("%zu more note%s; --verbose prints all", lines.n - shown,
				     lines.n - shown == 1 ? "" : "s");
	return texts;
}

/* Finds the first line whose severity is one of two. Returns lines->n if there is none. */
static size_t brief_find(const struct note_lines *lines, enum note_severity a, enum note_severity b)
{
	size_t i;

	for (i = 0; i < lines->n && lines->line[i].severity != a && lines->line[i].severity != b;
	     i++)
		;
	return i;
}

/* Adds how the figures are made, and which columns the reader does not see. */
static void brief_add_method(char **texts, const struct note_lines *lines, size_t method,
			     const char *columns)
{
	autofree char *made = method < lines->n ? note_line_brief(&lines->line[method]) : NULL;

	if (made || *columns)
		*texts = xasprintf("%s%s%s", made ?: "", made && *columns ? "; " : "", columns);
}

/*
 * Returns what is left to read of so many lines. The command t->notes_command prints `listed` of
 * them: notes of runs, and doubts.
 */
static char *brief_more(const struct table *t, size_t more, size_t listed)
{
	if (!t->notes_command || !listed)
		return xasprintf("%zu more: --verbose", more);
	if (listed == more)
		return xasprintf("%zu more: %s, or --verbose", more, t->notes_command);
	return xasprintf("%zu more: --verbose; %s has %zu of them", more, t->notes_command, listed);
}

char **table_note_texts_brief(const struct table *t, const char *columns)
{
	freed(note_lines_free) struct note_lines lines;
	size_t method, doubt, more, listed = 0, n = 0;
	char **texts;

	note_lines_make(&lines, &t->notes);
	texts = xcalloc(lines.n + 4, sizeof(*texts));
	for (; n < lines.n && lines.line[n].severity == SEVERITY_RESULT; n++)
		texts[n] = note_line_text(&lines.line[n]);
	method = brief_find(&lines, SEVERITY_METHOD, SEVERITY_METHOD);
	if (method == lines.n)
		method = brief_find(&lines, SEVERITY_INFO, SEVERITY_INFO);
	doubt = brief_find(&lines, SEVERITY_LOSSY, SEVERITY_WARNING);
	more = lines.n - n - (method < lines.n) - (doubt < lines.n);
	brief_add_method(texts + n, &lines, method, columns);
	n += texts[n] != NULL;
	if (doubt < lines.n)
		texts[n++] = more ? note_line_brief(&lines.line[doubt])
				  : note_line_text(&lines.line[doubt]);
	for (size_t i = 0; i < lines.n; i++)
		if (i != method && i != doubt)
			listed += note_is_doubt(lines.line[i].notes[0]) ||
				  lines.line[i].notes[0]->repeat > 0;
	if (more)
		texts[n] = brief_more(t, more, listed);
	return texts;
}

void table_note_texts_free(char ***texts)
{
	for (size_t i = 0; (*texts)[i]; i++)
		free((*texts)[i]);
	free(*texts);
}

struct table *table_detail(struct table *t, const char *name, const struct column *columns,
			   int ncolumns)
{
	t->detail = xmalloc(sizeof(*t->detail));
	table_init(t->detail, name, columns, ncolumns);
	return t->detail;
}

void table_free(struct table *t)
{
	if (t->detail)
		table_free(t->detail);
	free(t->detail);
	free(t->cells);
	free(t->structs);
	notes_free(&t->notes);
	arena_free(&t->arena);
	intern_free(&t->texts);
	*t = (struct table){0};
}

struct value *table_row(struct table *t)
{
	size_t n = (size_t)t->ncolumns;

	if (t->rows >= t->cap) {
		t->cap = t->cap ? t->cap * 2 : 16;
		t->cells = xrealloc(t->cells, t->cap * n * sizeof(*t->cells));
	}
	memset(t->cells + t->rows * n, 0, n * sizeof(*t->cells));
	return t->cells + t->rows++ * n;
}

static double table_finite_or_nan(double x)
{
	return isfinite(x) ? x : NAN;
}

/* Returns the cell of a member, and makes the member what readers of the struct expect. */
static struct value table_read_member(struct table *t, const struct column *c, void *member)
{
	struct value v = {0};

	if (c->member == MEMBER_TEXT) {
		v = value_str(t, *(const char **)member);
		*(const char **)member = v.type == V_STR ? v.str : "";
	} else if (c->member == MEMBER_INT) {
		v = value_int(*(int64_t *)member);
	} else if (c->member == MEMBER_REAL) {
		double *x = member;

		*x = table_finite_or_nan(*x);
		v = c->type == V_INT && !isnan(*x) ? value_int(llround(*x)) : value_real(*x);
	} else if (c->member == MEMBER_ESTIMATE) {
		struct estimate *e = member;

		e->value = table_finite_or_nan(e->value);
		e->lo = e->n == 1 ? NAN
				  : table_finite_or_nan(e->lo); /* a single run has no interval */
		e->hi = e->n == 1 ? NAN : table_finite_or_nan(e->hi);
		v = value_estimate(t, e->value, e->lo, e->hi);
	} else if (c->member == MEMBER_HALF) {
		struct half_estimate *half = member;

		v = value_half(t, half->value, half->half);
	}
	return v;
}

struct value *table_add_struct(struct table *t, const char *type, size_t size, const void *row)
{
	struct value *cells = table_row(t);
	char *kept;

	assert(t->rows == 1 || !strcmp(t->type, type));
	t->type = type;
	t->struct_size = size;
	t->structs = xrealloc(t->structs, t->cap * size);
	kept = (char *)t->structs + (t->rows - 1) * size;
	memcpy(kept, row, size);
	for (int i = 0; i < t->ncolumns; i++)
		cells[i] = table_read_member(t, &t->columns[i], kept + t->columns[i].at);
	return cells;
}

const void *table_structs_of(const struct table *t, const char *type)
{
	assert(!t->rows || (t->type && !strcmp(t->type, type)));
	return t->structs;
}

void table_move_row(struct table *t, size_t to, size_t from)
{
	memmove(table_cell(t, to, 0), table_cell(t, from, 0),
		(size_t)t->ncolumns * sizeof(*t->cells));
	if (t->structs)
		memmove((char *)t->structs + to * t->struct_size,
			(char *)t->structs + from * t->struct_size, t->struct_size);
}

struct value *table_cell(const struct table *t, size_t row, int column)
{
	return t->cells + row * (size_t)t->ncolumns + column;
}

int table_column(const struct table *t, const char *name)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (!strcmp(t->columns[i].name, name))
			return i;
	return -1;
}

const char *table_text(const struct table *t, size_t row, const char *column)
{
	int i = column ? table_column(t, column) : -1;
	const struct value *v = i < 0 ? NULL : table_cell(t, row, i);

	return v && v->type == V_STR ? v->str : "";
}

bool table_has_values(const struct table *t, const char *column)
{
	int c = table_column(t, column);

	for (size_t row = 0; c >= 0 && row < t->rows; row++)
		if (table_cell(t, row, c)->type != V_NONE)
			return true;
	return false;
}

void table_set(const struct table *t, struct value *row, const char *column, struct value v)
{
	int i = table_column(t, column);

	if (i >= 0)
		row[i] = v;
}

struct value value_none(void)
{
	return (struct value){0};
}

/* Equal long strings share one copy. For short strings the look-up costs more than the copy. */
struct value value_str(struct table *t, const char *s)
{
	enum { LONG = 128 };

	if (!s)
		return value_none();
	if (strnlen(s, LONG) < LONG)
		return (struct value){.type = V_STR, .str = arena_strdup(&t->arena, s)};
	return (struct value){.type = V_STR,
			      .str = intern_get(&t->texts, intern_str(&t->texts, s))};
}

struct value value_int(int64_t n)
{
	return (struct value){.type = V_INT, .integer = n};
}

struct value value_real(double x)
{
	if (!isfinite(x))
		return value_none();
	return (struct value){.type = V_REAL, .real = x};
}

struct value value_with(struct table *t, struct value v, struct interval interval)
{
	const struct interval finite = {table_finite_or_nan(interval.low),
					table_finite_or_nan(interval.high),
					table_finite_or_nan(interval.half)};

	if (!isnan(finite.low) || !isnan(finite.high) || !isnan(finite.half))
		v.interval = arena_dup(&t->arena, &finite, sizeof(finite));
	return v;
}

struct value value_estimate(struct table *t, double x, double low, double high)
{
	return value_with(t, value_real(x), (struct interval){low, high, NAN});
}

struct value value_half(struct table *t, double x, double half)
{
	return value_with(t, value_real(x), (struct interval){NAN, NAN, half});
}

static struct value value_copy(struct table *t, const struct value *v)
{
	struct value copy = v->type == V_STR ? value_str(t, v->str) : *v;

	return v->interval ? value_with(t, copy, *v->interval) : copy;
}

struct value value_part(const struct value *v, enum interval_part part)
{
	struct value bare = *v, bound;

	bare.interval = NULL;
	if (part == PART_VALUE)
		return bare;
	if (!v->interval)
		return value_none();
	bound = value_real(part == PART_LOW    ? v->interval->low
			   : part == PART_HIGH ? v->interval->high
					       : v->interval->half);
	if (v->type == V_INT && bound.type == V_REAL && bound.real == round(bound.real))
		return value_int(llround(bound.real));
	return bound;
}

void column_part_name(struct str *name, const struct column *c, enum interval_part part)
{
	static const char *const suffixes[] = {
		[PART_LOW] = "lo", [PART_HIGH] = "hi", [PART_HALF] = "ci"};

	str_printf(name, "%s_%s", c->stem ? c->stem : c->name, suffixes[part]);
}

/* --- one table of several --- */

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
	int most = 1;

	for (size_t i = 0; i < n; i++)
		most += from[i].ncolumns;
	columns = arena_alloc(&to->arena, (size_t)most * sizeof(*columns));
	to->columns = columns;
	merge_add_column(to, columns, &first);
	for (size_t i = 0; i < n; i++)
		for (int c = 0; c < from[i].ncolumns; c++)
			merge_add_column(to, columns, &from[i].columns[c]);
}

static void merge_add_rows(struct table *to, const struct table *from, const char *name)
{
	struct value *row;

	for (size_t i = 0; i < from->rows; i++) {
		row = table_row(to);
		row[0] = value_str(to, name);
		for (int c = 0; c < from->ncolumns; c++)
			table_set(to, row, from->columns[c].name,
				  value_copy(to, table_cell(from, i, c)));
	}
}

static bool merge_has_note(const struct table *t, const struct note *note)
{
	return array_find(own, t->notes.note, t->notes.n,
			  !own->variant && !own->side && notes_equal(own, note));
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
	for (size_t i = 0; i < from[at].notes.n; i++) {
		const struct note *note = &from[at].notes.note[i];
		bool common = merge_is_common(from, n, note);

		if (common && at)
			continue;
		notes_copy(&to->notes, note);
		if (!common)
			notes_set_side(&to->notes,
				       arena_printf(&to->arena, "%s%s%s", name,
						    note->variant ? "/" : "", note->variant ?: ""),
				       note->side);
	}
}

void table_merge(struct table *to, const struct table *from, size_t n, const char *column,
		 const char *const *names)
{
	table_init(to, from[0].name, NULL, 0);
	to->least = from[0].least;
	merge_make_columns(to, from, n, column);
	for (size_t i = 0; i < n; i++) {
		if (from[i].title)
			table_title_lines(
				to, arena_printf(&to->arena, "%s: %s", names[i], from[i].title));
		merge_add_rows(to, &from[i], names[i]);
		merge_add_notes(to, from, n, i, names[i]);
		to->lossy |= from[i].lossy;
	}
}
