// SPDX-License-Identifier: GPL-2.0-only
/* The output formats. Each format is an entry in one list of writers. */

#include "lib/table_layout.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

enum { SCHEMA_VERSION = 1 };

/*
 * Returns the significant digits. Seconds may be clock times of a host that is up for days, so
 * they are precise to the nanosecond.
 */
static int write_value_digits(double x, const char *unit)
{
	int whole = fabs(x) < 1 ? 1 : 1 + (int)floor(log10(fabs(x)));

	if (unit && !strcmp(unit, "s") && whole > 1)
		return whole < 6 ? whole + 9 : 15;
	return fabs(x) < 1e4 ? 10 : 14;
}

/* Appends a number with all significant digits. Appends nothing for a missing value. */
static void format_value(struct str *s, const struct value *v, const char *unit)
{
	str_reset(s);
	str_puts(s, "");
	if (v->type == V_INT)
		str_printf(s, "%lld", (long long)v->integer);
	else if (v->type == V_REAL)
		str_printf(s, "%.*g", write_value_digits(v->real, unit), v->real);
}

static void write_tsv_text(FILE *out, const char *s)
{
	if (!strpbrk(s, "\t\n\r")) {
		fputs(s, out);
		return;
	}
	for (; *s; s++)
		fputc(*s == '\t' || *s == '\n' || *s == '\r' ? ' ' : *s, out);
}

/* Returns whether a spreadsheet takes the text for a formula. A number is none. */
static bool csv_is_formula(const char *s)
{
	char *end;

	if (!*s || !strchr("=+-@\t\r", *s))
		return false;
	strtod(s, &end);
	return end == s || *end;
}

void csv_write_text(FILE *out, const char *s)
{
	const char *mark = csv_is_formula(s) ? "'" : "";

	if (!strpbrk(s, ",\"\n\r")) {
		fprintf(out, "%s%s", mark, s);
		return;
	}
	fprintf(out, "\"%s", mark);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

static void write_rows(const struct table *t, FILE *out, char sep,
		       void (*put)(FILE *, const char *))
{
	freed(str_free) struct str number = {0};

	for (size_t row = 0; row < t->rows; row++) {
		for (int i = 0; i < t->ncolumns; i++) {
			const struct value *v = table_cell(t, row, i);

			if (v->type == V_STR) {
				put(out, v->str);
			} else {
				format_value(&number, v, t->columns[i].unit);
				fputs(number.buf, out);
			}
			putc_unlocked(i < t->ncolumns - 1 ? sep : '\n', out);
		}
	}
}

static void write_separated(const struct table *t, FILE *out, char sep,
			    void (*put)(FILE *, const char *))
{
	freed(table_note_texts_free) char **notes = table_note_texts(t);

	for (int i = 0; i < t->ncolumns; i++) {
		put(out, t->columns[i].name);
		fputc(i < t->ncolumns - 1 ? sep : '\n', out);
	}
	write_rows(t, out, sep, put);
	if (t->title)
		print_note("%s", t->title);
	for (size_t n = 0; notes[n]; n++)
		print_note("%s", notes[n]);
}

static json_t *json_value(const struct value *v)
{
	switch (v->type) {
	case V_STR:
		return json_string(v->str);
	case V_INT:
		return json_integer(v->integer);
	case V_REAL:
		return json_real(v->real);
	case V_NONE:
		break;
	}
	return json_null();
}

static json_t *json_columns(const struct table *t)
{
	json_t *list = json_array();

	for (int i = 0; i < t->ncolumns; i++)
		json_array_append_new(list, json_pack("{s:s, s:s?}", "name", t->columns[i].name,
						      "unit", t->columns[i].unit));
	return list;
}

static json_t *json_rows(const struct table *t)
{
	json_t *list = json_array();

	for (size_t row = 0; row < t->rows; row++) {
		json_t *object = json_object();

		for (int i = 0; i < t->ncolumns; i++)
			json_object_set_new(object, t->columns[i].name,
					    json_value(table_cell(t, row, i)));
		json_array_append_new(list, object);
	}
	return list;
}

/*
 * Returns the number of one note, the smallest and the largest of several notes, or null if
 * unknown.
 */
static json_t *json_note_value(const struct note_line *line, int place)
{
	double low, high;

	if (line->notes[0]->value[place].text)
		return json_string(line->notes[0]->value[place].text);
	notes_range(line->notes, line->n, place, &low, &high);
	if (low > high)
		return json_null();
	return low == high ? json_real(low) : json_pack("[f, f]", low, high);
}

/* Returns an array with an object for each note of the line that names a variant or a side. */
static json_t *json_note_runs(const struct note_line *line)
{
	json_t *list = json_array();

	for (size_t i = 0; i < line->n; i++) {
		const struct note *n = line->notes[i];
		json_t *run;

		if (!n->variant && !n->side)
			continue;
		run = json_object();
		if (n->variant)
			json_object_set_new(run, "variant", json_string(n->variant));
		if (n->side)
			json_object_set_new(run, "side", json_string(n->side));
		if (n->pass)
			json_object_set_new(run, "pass", json_string(n->pass));
		if (n->repeat)
			json_object_set_new(run, "repeat", json_integer(n->repeat));
		json_array_append_new(list, run);
	}
	return list;
}

static json_t *json_notes(const struct table *t)
{
	json_t *list = json_array(), *values;
	freed(note_lines_free) struct note_lines lines;

	note_lines_make(&lines, &t->notes);
	for (size_t i = 0; i < lines.n; i++) {
		const struct note_line *line = &lines.line[i];

		values = json_array();
		for (int v = 0; v < line->notes[0]->nvalues; v++)
			json_array_append_new(values, json_note_value(line, v));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o}", "severity",
						      severity_name(line->severity), "kind",
						      line->notes[0]->kind->name, "concerns",
						      note_collector(line->notes[0]), "of",
						      json_note_runs(line), "values", values,
						      "text", json_string(line->text)));
	}
	return list;
}

static void write_json(const struct table *t, FILE *out)
{
	json_auto_t *root = json_object();

	json_object_set_new(root, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(root, "table", json_string(t->name));
	if (t->title)
		json_object_set_new(root, "title", json_string(t->title));
	json_object_set_new(root, "lossy", json_boolean(t->lossy));
	json_object_set_new(root, "columns", json_columns(t));
	json_object_set_new(root, "rows", json_rows(t));
	if (t->detail)
		json_object_set_new(root, t->detail->name,
				    json_pack("{s:o, s:o}", "columns", json_columns(t->detail),
					      "rows", json_rows(t->detail)));
	json_object_set_new(root, "notes", json_notes(t));
	json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	fputc('\n', out);
}

static void put_md(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '|' || *s == '<' || *s == '*' || *s == '_')
			fputc('\\', out);
		fputc(*s, out);
	}
}

static void md_row(FILE *out, const char *cell, bool last)
{
	fputs("| ", out);
	put_md(out, cell);
	fputs(last ? " |\n" : " ", out);
}

static void md_note(FILE *out, const char *text, bool first)
{
	fputs(first ? "\n" : "  \n", out);
	put_md(out, text);
}

static void write_md(const struct table *t, FILE *out)
{
	freed(str_free) struct str absent = {0};
	freed(people_free) struct people p;
	freed(table_note_texts_free) char **notes = NULL;
	size_t n;

	people_of(&p, t);
	if (t->title) {
		fputs("**", out);
		put_md(out, t->title);
		fputs("**\n\n", out);
	}
	for (int i = 0; i < p.ncolumns; i++)
		md_row(out, p.columns[i].name, i == p.ncolumns - 1);
	for (int i = 0; i < p.ncolumns; i++)
		fputs(p.columns[i].left ? "| --- " : "| ---: ", out);
	fputs("|\n", out);
	for (size_t row = 0; row < t->rows; row++)
		for (int i = 0; i < p.ncolumns; i++)
			md_row(out, people_cell(&p, row, i), i == p.ncolumns - 1);
	str_puts(&absent, "");
	if (p.absent)
		str_printf(&absent, "not measured: %s", p.absent);
	notes = t->verbose ? table_note_texts(t) : table_note_texts_brief(t, absent.buf);
	if (t->verbose && absent.len)
		md_note(out, absent.buf, true);
	for (n = 0; notes[n]; n++)
		md_note(out, notes[n], !n && !(t->verbose && absent.len));
	if (n || absent.len)
		fputc('\n', out);
}

static const struct {
	const char *name;
	void (*write)(const struct table *t, FILE *out);
	bool spread; /* estimates have separate columns for their bounds */
	char separator;
	void (*put)(FILE *out, const char *text); /* writes a text between separators */
} formats[] = {
	[FORMAT_TEXT] = {.name = "text"},
	[FORMAT_TSV] = {"tsv", NULL, true, '\t', write_tsv_text},
	[FORMAT_CSV] = {"csv", NULL, true, ',', csv_write_text},
	[FORMAT_JSON] = {.name = "json", .write = write_json, .spread = true},
	[FORMAT_MD] = {.name = "md", .write = write_md},
	[FORMAT_COMMIT] = {.name = "commit", .write = table_write_commit},
	[FORMAT_KTAP] = {.name = "ktap", .write = table_write_ktap},
	[FORMAT_JUNIT] = {.name = "junit", .write = table_write_junit},
};

int table_format_parse(const char *name, enum table_format *format)
{
	for (size_t i = 0; i < array_size(formats); i++) {
		if (!strcmp(formats[i].name, name)) {
			*format = (enum table_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* --- a copy of the table with escaped strings, and a column for each part of an estimate --- */

/* The table's column and the interval's part that fill a column of the copy. */
struct source {
	int column;
	enum interval_part part;
};

struct copying {
	struct table *copy; /* its arena owns the strings and the arrays */
	const struct table *t;
	struct str scratch;
	bool spread, ascii;
	struct column *columns;
	struct source *from; /* by column of the copy */
};

static const char *escaped(struct copying *k, const char *s, int kind)
{
	const char *text = s ? printable(&k->scratch, s, kind) : NULL;

	if (s && k->ascii)
		return ascii_of(&k->copy->arena, text);
	return text == s ? s : arena_strdup(&k->copy->arena, text);
}

static void copy_part(struct copying *k, const struct column *c, int column,
		      enum interval_part part)
{
	freed(str_free) struct str name = {0};
	int i = k->copy->ncolumns++;

	k->columns[i] = *c;
	k->from[i] = (struct source){column, part};
	if (part == PART_VALUE)
		return;
	column_part_name(&name, c, part);
	k->columns[i].name = arena_strdup(&k->copy->arena, name.buf);
}

static void copy_column(struct copying *k, const struct column *c, int column)
{
	if (k->spread && c->part_of) {
		copy_part(k, c, table_column(k->t, c->part_of), PART_VALUE);
		k->from[k->copy->ncolumns - 1].part = c->part;
		return;
	}
	copy_part(k, c, column, PART_VALUE);
	if (k->spread && c->spread == SPREAD_RANGE) {
		copy_part(k, c, column, PART_LOW);
		copy_part(k, c, column, PART_HIGH);
	} else if (k->spread && c->spread == SPREAD_HALF) {
		copy_part(k, c, column, PART_HALF);
	}
}

/* Copies the columns and escapes their names, because a plan can name columns at run time. */
static void copy_columns(struct copying *k)
{
	size_t n = 3 * (size_t)k->t->ncolumns + 1;

	k->copy->columns = k->columns = arena_alloc(&k->copy->arena, n * sizeof(*k->columns));
	k->from = arena_alloc(&k->copy->arena, n * sizeof(*k->from));
	k->copy->ncolumns = 0;
	for (int i = 0; i < k->t->ncolumns; i++) {
		struct column c = k->t->columns[i];

		c.name = escaped(k, c.name, PRINTABLE_LINE);
		copy_column(k, &c, i);
	}
}

static void copy_cells(struct copying *k)
{
	struct value *cell;

	k->copy->cells = cell =
		xmalloc((k->t->rows * (size_t)k->copy->ncolumns + 1) * sizeof(*cell));
	for (size_t row = 0; row < k->t->rows; row++) {
		for (int i = 0; i < k->copy->ncolumns; i++, cell++) {
			const struct value *v = table_cell(k->t, row, k->from[i].column);

			*cell = k->spread ? value_part(v, k->from[i].part) : *v;
			if (cell->type == V_STR)
				cell->str = escaped(k, v->str, PRINTABLE_CELL);
		}
	}
}

static void copy_notes(struct copying *k)
{
	struct notes *notes = &k->copy->notes;

	*notes = (struct notes){0};
	for (size_t n = 0; n < k->t->notes.n; n++)
		notes_copy(notes, &k->t->notes.note[n]);
	for (size_t n = 0; n < notes->n; n++) {
		struct note *note = &notes->note[n];

		note->variant = escaped(k, note->variant, PRINTABLE_LINE);
		note->side = escaped(k, note->side, PRINTABLE_LINE);
		note->pass = escaped(k, note->pass, PRINTABLE_LINE);
		for (int v = 0; v < note->nvalues; v++)
			note->value[v].text = escaped(k, note->value[v].text, PRINTABLE_LINE);
	}
}

/* Copies the table for a format. The caller frees the copy. */
static void table_copy(struct table *copy, const struct table *t, enum table_format format)
{
	struct copying k = {.copy = copy,
			    .t = t,
			    .spread = formats[format].spread,
			    .ascii = format == FORMAT_COMMIT};

	*copy = *t;
	copy->arena = (struct arena){0};
	copy->texts = (struct intern){0};
	copy->structs = NULL;
	copy->title = escaped(&k, t->title, PRINTABLE_CELL);
	copy_notes(&k);
	copy_columns(&k);
	copy_cells(&k);
	str_free(&k.scratch);
	if (!t->detail)
		return;
	copy->detail = xmalloc(sizeof(*copy->detail));
	table_copy(copy->detail, t->detail, format);
}

int table_write(const struct table *t, enum table_format format, int width, FILE *out)
{
	freed(table_free) struct table copy = {0};

	table_copy(&copy, t, format);
	if (format == FORMAT_TEXT)
		table_write_text(&copy, width, out);
	else if (formats[format].put)
		write_separated(&copy, out, formats[format].separator, formats[format].put);
	else
		formats[format].write(&copy, out);
	return ferror(out) ? -EIO : 0;
}
