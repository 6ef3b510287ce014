// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_layout.h"

#include "lib/str.h"

#include <limits.h>
#include <string.h>

static void text_print_lines(const struct sheet *sh, FILE *out, const char *first, const char *more,
			     const char *text)
{
	const char *line;
	size_t len;
	int room;

	if (!sh->width) {
		fprintf(out, "%s%s\n", first, text);
		return;
	}
	for (;; first = more) {
		room = sh->width - people_width_of(first);
		line = str_line(&text, room, &len);
		if (!line)
			break;
		fprintf(out, "%s%.*s\n", first, (int)len, line);
	}
}

/* Returns the end of the part that begins at column `from`: the index after its last column. */
static int text_part_end(const struct sheet *sh, int from)
{
	int i, used = 0;

	if (!sh->keys)
		return sh->p.ncolumns;
	for (i = 0; i < sh->keys; i++)
		used += sh->p.columns[i].place != IN_ROWS ? 0 : sh->p.columns[i].width + sh->gap;
	for (i = from; i < sh->p.ncolumns; i++) {
		if (sh->p.columns[i].place != IN_ROWS)
			continue;
		used += sh->p.columns[i].width;
		if (used > sh->width && i > from)
			break;
		used += sh->gap;
	}
	return i;
}

static void text_print_blanks(FILE *out, int n)
{
	fprintf(out, "%*s", n, "");
}

/* Prints wrapped prose. `at` is the position of its column. */
static void text_print_prose(FILE *out, const char *text, int at, int room)
{
	const char *line;
	size_t len;
	bool first = true;

	while ((line = str_line(&text, room, &len))) {
		if (!first) {
			fputc('\n', out);
			text_print_blanks(out, at);
		}
		fwrite(line, 1, len, out);
		first = false;
	}
}

static void text_print_cell(const struct sheet *sh, FILE *out, const char *cell, int column, int at,
			    bool last)
{
	const struct people_column *c = &sh->p.columns[column];
	int chars = people_width_of(cell), pad = c->width > chars ? c->width - chars : 0;

	if (!c->left)
		text_print_blanks(out, pad);
	if (sh->prose && column == sh->p.ncolumns - 1 && chars > c->width)
		text_print_prose(out, cell, at, c->width);
	else
		fit_put_short(out, cell, c->width);
	if (c->left && !last)
		text_print_blanks(out, pad);
}

/*
 * Prints a row from column `from` to `end`. Strings are left-aligned, and numbers are
 * right-aligned. The last column has no padding. Row -1 prints the names.
 */
static void text_print_row(const struct sheet *sh, FILE *out, long row, int from, int end)
{
	int i, last = 0, at = 0;

	for (i = 0; i < end; i++)
		if (sh->p.columns[i].place == IN_ROWS && (i < sh->keys || i >= from))
			last = i;
	for (i = 0; i < end; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (c->place != IN_ROWS || (i >= sh->keys && i < from))
			continue;
		text_print_cell(sh, out, row < 0 ? c->name : people_cell(&sh->p, (size_t)row, i), i,
				at, i == last);
		at += c->width + sh->gap;
		if (i < last)
			text_print_blanks(out, sh->gap);
	}
	fputc('\n', out);
}

/* Prints the rows in as many parts as necessary. */
static void text_print_parts(const struct sheet *sh, FILE *out, size_t first, size_t end)
{
	int from = sh->keys, to;
	size_t row;

	do {
		to = text_part_end(sh, from);
		if (from > sh->keys)
			fputc('\n', out);
		text_print_row(sh, out, -1, from, to);
		for (row = first; row < end; row++)
			text_print_row(sh, out, (long)row, from, to);
		from = to;
	} while (from < sh->p.ncolumns);
}

/* Prints the heading of a section: "variant mmap, side receiver". Shortens names to the line. */
static void text_print_section(const struct sheet *sh, FILE *out, size_t row)
{
	static const char indent[] = "  ";
	/* A name has a line at most, which begins with the indent and ends with a comma. */
	const int room = sh->width ? sh->width - (int)sizeof(indent) : INT_MAX;
	struct str s = {0};
	int i;

	for (i = 0; i < sh->section; i++) {
		if (sh->p.columns[i].place != IN_SECTION)
			continue;
		str_printf(&s, "%s%s ", s.len ? ", " : "", sh->p.columns[i].name);
		fit_short(&s, people_cell(&sh->p, row, i), room);
	}
	if (!s.len)
		return;
	fputs(row ? "\n" : "", out);
	text_print_lines(sh, out, "", indent, s.buf);
	str_free(&s);
}

static void text_print_sections(const struct sheet *sh, FILE *out)
{
	size_t row = 0, end;

	do {
		for (end = row + 1; end < sh->p.rows && !sheet_starts_section(sh, end); end++)
			;
		text_print_section(sh, out, row);
		text_print_parts(sh, out, row, end < sh->p.rows ? end : sh->p.rows);
		row = end;
	} while (row < sh->p.rows);
}

/* Prints a cell of a list. A figure is never cut. */
static void text_print_listed(FILE *out, const struct people_column *c, const char *cell, int at,
			      int room)
{
	if (!c->left)
		fputs(cell, out);
	else if (c->whole && !strchr(cell, ' '))
		fputs(cell, out);
	else if (strchr(cell, ' '))
		text_print_prose(out, cell, at, room);
	else
		fit_put_short(out, cell, room);
}

static void text_print_list(const struct sheet *sh, FILE *out, size_t row)
{
	int i, names = 0;

	for (i = 0; i < sh->p.ncolumns; i++)
		if (people_width_of(sh->p.columns[i].name) > names)
			names = people_width_of(sh->p.columns[i].name);
	for (i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];

		if (c->place == SAID_ONCE || c->place == SPARED)
			continue;
		fprintf(out, "%-*s  ", names, c->name);
		text_print_listed(out, c, people_cell(&sh->p, row, i), names + 2,
				  sh->width - names - 2);
		fputc('\n', out);
	}
}

static void text_print_table(const struct sheet *sh, FILE *out)
{
	size_t row;

	if (!sh->as_lists) {
		text_print_sections(sh, out);
		return;
	}
	for (row = 0; row < sh->p.rows; row++) {
		fputs(row ? "\n" : "", out);
		text_print_list(sh, out, row);
	}
}

static void text_print_notes(const struct sheet *sh, FILE *out)
{
	const struct table *t = sh->t;
	struct str s = {0};
	char **lines;
	size_t n;

	if (sh->left_out.len) {
		str_printf(&s, "left out at %d columns: %s (--width 0 and --format tsv have them)",
			   sh->width, sh->left_out.buf);
		text_print_lines(sh, out, "# ", "#   ", s.buf);
		str_reset(&s);
	}
	if (sh->p.absent) {
		str_printf(&s, "not measured: %s", sh->p.absent);
		text_print_lines(sh, out, "# ", "#   ", s.buf);
	}
	str_free(&s);
	lines = table_note_texts(t);
	for (n = 0; lines[n]; n++)
		text_print_lines(sh, out, "# ", "#   ", lines[n]);
	table_note_texts_free(lines);
}

void table_write_text(const struct table *t, int width, FILE *out)
{
	struct sheet sh;

	sheet_of(&sh, t, width);
	if (t->title)
		text_print_lines(&sh, out, "", "", t->title);
	if (sh.once.len)
		text_print_lines(&sh, out, "", "", sh.once.buf);
	text_print_table(&sh, out);
	text_print_notes(&sh, out);
	sheet_free(&sh);
}
