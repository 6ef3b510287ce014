// SPDX-License-Identifier: GPL-2.0-only
/* The five formats: each is a row writer behind one table, so that a new one is a new row. */
#include "lib/table.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

static void blank_controls(char *p)
{
	for (; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
}

/* Machine formats keep all digits of a double that matter; people get the column's own. */
static void format_value(struct str *s, const struct value *v, const struct column *c, bool human)
{
	str_reset(s);
	switch (v->type) {
	case V_NONE:
		str_puts(s, human ? "-" : "");
		break;
	case V_STR:
		str_puts(s, v->str);
		break;
	case V_INT:
		str_printf(s, "%lld", (long long)v->integer);
		break;
	case V_REAL:
		if (human)
			str_printf(s, "%.*f", c->digits, v->real);
		else
			str_printf(s, "%.10g", v->real);
		break;
	}
	if (!s->buf)
		str_puts(s, "");
	if (human)
		blank_controls(s->buf);
}

/* Columns a terminal cell takes: bytes that start a UTF-8 character. */
static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static int *text_widths(const struct table *t, struct str *s)
{
	int *width = xcalloc((size_t)t->ncolumns, sizeof(*width));
	size_t row;
	int i, w;

	for (i = 0; i < t->ncolumns; i++) {
		width[i] = width_of(t->columns[i].name);
		for (row = 0; row < t->rows; row++) {
			format_value(s, table_cell(t, row, i), &t->columns[i], true);
			w = width_of(s->buf);
			if (w > width[i])
				width[i] = w;
		}
	}
	return width;
}

/* Strings stand left, numbers right; the last column is never padded. */
static void text_cell(FILE *out, const char *s, int width, bool left, bool last)
{
	int pad = width - width_of(s);

	if (!left)
		fprintf(out, "%*s", pad, "");
	fputs(s, out);
	if (left && !last)
		fprintf(out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", out);
}

static void write_text(const struct table *t, FILE *out)
{
	struct str s = {0};
	int *width = text_widths(t, &s), i;
	size_t row, n;

	if (t->title)
		fprintf(out, "%s\n", t->title);
	for (i = 0; i < t->ncolumns; i++)
		text_cell(out, t->columns[i].name, width[i], t->columns[i].type == V_STR,
			  i == t->ncolumns - 1);
	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->ncolumns; i++) {
			format_value(&s, table_cell(t, row, i), &t->columns[i], true);
			text_cell(out, s.buf, width[i], t->columns[i].type == V_STR,
				  i == t->ncolumns - 1);
		}
	}
	for (n = 0; n < t->nnotes; n++)
		fprintf(out, "# %s\n", t->notes[n]);
	free(width);
	str_free(&s);
}

static void put_tsv(FILE *out, const char *s)
{
	for (; *s; s++)
		fputc(*s == '\t' || *s == '\n' || *s == '\r' ? ' ' : *s, out);
}

static void put_csv(FILE *out, const char *s)
{
	if (!strpbrk(s, ",\"\n\r")) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

static void write_separated(const struct table *t, FILE *out, char sep,
			    void (*put)(FILE *, const char *))
{
	struct str s = {0};
	size_t row, n;
	int i;

	for (i = 0; i < t->ncolumns; i++)
		fprintf(out, "%s%c", t->columns[i].name, i < t->ncolumns - 1 ? sep : '\n');
	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->ncolumns; i++) {
			format_value(&s, table_cell(t, row, i), &t->columns[i], false);
			put(out, s.buf);
			fputc(i < t->ncolumns - 1 ? sep : '\n', out);
		}
	}
	for (n = 0; n < t->nnotes; n++)
		note("%s", t->notes[n]);
	str_free(&s);
}

static void write_tsv(const struct table *t, FILE *out)
{
	write_separated(t, out, '\t', put_tsv);
}

static void write_csv(const struct table *t, FILE *out)
{
	write_separated(t, out, ',', put_csv);
}

/* jansson takes only valid UTF-8; a foreign byte becomes '?'. */
static json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy, *p;

	if (j)
		return j;
	copy = xstrdup(s);
	for (p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

static json_t *json_value(const struct value *v)
{
	switch (v->type) {
	case V_STR:
		return json_text(v->str);
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
	int i;

	for (i = 0; i < t->ncolumns; i++)
		json_array_append_new(list, json_pack("{s:s, s:s?}", "name", t->columns[i].name,
						      "unit", t->columns[i].unit));
	return list;
}

static json_t *json_rows(const struct table *t)
{
	json_t *list = json_array();
	size_t row;
	int i;

	for (row = 0; row < t->rows; row++) {
		json_t *object = json_object();

		for (i = 0; i < t->ncolumns; i++)
			json_object_set_new(object, t->columns[i].name,
					    json_value(table_cell(t, row, i)));
		json_array_append_new(list, object);
	}
	return list;
}

static void write_json(const struct table *t, FILE *out)
{
	json_t *root = json_object(), *notes = json_array();
	size_t n;

	for (n = 0; n < t->nnotes; n++)
		json_array_append_new(notes, json_text(t->notes[n]));
	json_object_set_new(root, "schema_version", json_integer(SCHEMA_VERSION));
	json_object_set_new(root, "table", json_text(t->name));
	if (t->title)
		json_object_set_new(root, "title", json_text(t->title));
	json_object_set_new(root, "lossy", json_boolean(t->lossy));
	json_object_set_new(root, "columns", json_columns(t));
	json_object_set_new(root, "rows", json_rows(t));
	json_object_set_new(root, "notes", notes);
	json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(root);
}

static void put_md(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '|' || *s == '<' || *s == '*' || *s == '_')
			fputc('\\', out);
		fputc(*s, out);
	}
}

static void write_md(const struct table *t, FILE *out)
{
	struct str s = {0};
	size_t row, n;
	int i;

	if (t->title)
		fprintf(out, "**%s**\n\n", t->title);
	for (i = 0; i < t->ncolumns; i++) {
		fputs("| ", out);
		put_md(out, t->columns[i].name);
		fputc(' ', out);
	}
	fputs("|\n", out);
	for (i = 0; i < t->ncolumns; i++)
		fputs(t->columns[i].type == V_STR ? "| --- " : "| ---: ", out);
	fputs("|\n", out);
	for (row = 0; row < t->rows; row++) {
		for (i = 0; i < t->ncolumns; i++) {
			format_value(&s, table_cell(t, row, i), &t->columns[i], true);
			fputs("| ", out);
			put_md(out, s.buf);
			fputc(' ', out);
		}
		fputs("|\n", out);
	}
	for (n = 0; n < t->nnotes; n++) {
		fputs(n ? "  \n" : "\n", out);
		put_md(out, t->notes[n]);
	}
	if (t->nnotes)
		fputc('\n', out);
	str_free(&s);
}

static const struct {
	const char *name;
	void (*write)(const struct table *t, FILE *out);
} formats[] = {
	[FORMAT_TEXT] = {"text", write_text}, [FORMAT_TSV] = {"tsv", write_tsv},
	[FORMAT_CSV] = {"csv", write_csv},    [FORMAT_JSON] = {"json", write_json},
	[FORMAT_MD] = {"md", write_md},
};

int table_format_parse(const char *name, enum table_format *format)
{
	size_t i;

	for (i = 0; i < array_size(formats); i++) {
		if (!strcmp(formats[i].name, name)) {
			*format = (enum table_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

int table_write(const struct table *t, enum table_format format, FILE *out)
{
	formats[format].write(t, out);
	return ferror(out) ? -EIO : 0;
}
