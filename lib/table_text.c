// SPDX-License-Identifier: GPL-2.0-only
/* Writes a table as text, and as text for a patch's commit message. */
#include "lib/table_layout.h"

#include <limits.h>

/* --- lines of words --- */

static void text_put_short(FILE *out, const char *s, int width)
{
	freed(str_free) struct str text = {0};

	fit_short(&text, s, width);
	fputs(text.buf ? text.buf : "", out);
}

/* Prints a text, wrapped at blanks. */
static void text_print_lines(FILE *out, int width, const char *first, const char *more,
			     const char *text)
{
	const char *line;
	size_t len;

	if (!width) {
		fprintf(out, "%s%s\n", first, text);
		return;
	}
	while ((line = str_line(&text, width - people_width_of(first), &len))) {
		fprintf(out, "%s%.*s\n", first, (int)len, line);
		first = more;
	}
}

/* --- the rows --- */

/*
 * Prints the cells of a row that a block shows. Strings are left-aligned, and numbers are
 * right-aligned. No line ends in blanks. Row -1 prints the names.
 */
static void text_print_row(const struct sheet *sh, FILE *out, long row, int block)
{
	int at = sh->indent, cursor = 0, chars, from;

	for (int i = 0; i < sh->p.ncolumns; i++) {
		const struct people_column *c = &sh->p.columns[i];
		const char *cell = row < 0 ? c->name : people_cell(&sh->p, (size_t)row, i);

		if (c->place != IN_ROWS || (i >= sh->keys && c->block != block))
			continue;
		chars = people_width_of(cell);
		from = at + (c->left || chars > c->width ? 0 : c->width - chars);
		if (chars) {
			fprintf(out, "%*s", from - cursor, "");
			cursor = from + (chars < c->width ? chars : c->width);
		}
		if (sh->prose && i == sh->p.ncolumns - 1 && chars > c->width) {
			autofree char *lines = str_wrap(cell, c->width, at);

			fputs(lines, out);
		} else {
			text_put_short(out, cell, c->width);
		}
		at += c->width + sh->gap;
	}
	fputc('\n', out);
}

/* Returns whether the block has a figure of the row. */
static bool text_shows_row(const struct sheet *sh, size_t row, int block)
{
	for (int i = sh->keys; i < sh->p.ncolumns; i++)
		if (sh->p.columns[i].place == IN_ROWS && sh->p.columns[i].block == block &&
		    strcmp(people_cell(&sh->p, row, i), "-"))
			return true;
	return false;
}

/* Every row stands in the first block, and in those that have a figure of it. */
static void text_print_blocks(const struct sheet *sh, FILE *out, size_t first, size_t end)
{
	text_print_row(sh, out, -1, 0);
	for (size_t row = first; row < end; row++)
		text_print_row(sh, out, (long)row, 0);
	for (int block = 1; block < sh->blocks; block++) {
		bool named = false;

		for (size_t row = first; row < end; row++) {
			if (!text_shows_row(sh, row, block))
				continue;
			fputs(named ? "" : "\n", out);
			if (!named)
				text_print_row(sh, out, -1, block);
			named = true;
			text_print_row(sh, out, (long)row, block);
		}
	}
}

/* Prints the heading of a section: "variant mmap, side receiver". Shortens names to the line. */
static void text_print_heading(const struct sheet *sh, FILE *out, size_t row)
{
	static const char indent[] = "  ";
	/* A name has a line at most, which begins with the indent and ends with a comma. */
	const int room = sh->width ? sh->width - (int)sizeof(indent) : INT_MAX;
	freed(str_free) struct str s = {0};

	for (int i = 0; i < sh->section; i++) {
		if (sh->p.columns[i].place != IN_SECTION)
			continue;
		str_printf(&s, "%s%s ", s.len ? ", " : "", sh->p.columns[i].name);
		fit_short(&s, people_cell(&sh->p, row, i), room);
	}
	if (!s.len)
		return;
	fputs(row ? "\n" : "", out);
	text_print_lines(out, sh->width, "", indent, s.buf);
}

static void text_print_sections(const struct sheet *sh, FILE *out)
{
	size_t row = 0, end;

	do {
		for (end = row + 1; end < sh->p.rows && !sheet_starts_section(sh, end); end++)
			;
		text_print_heading(sh, out, row);
		text_print_blocks(sh, out, row, end < sh->p.rows ? end : sh->p.rows);
		row = end;
	} while (row < sh->p.rows);
}

static void text_print_notes(const struct sheet *sh, FILE *out)
{
	freed(str_free) struct str s = {0};
	freed(table_note_texts_free) char **lines = NULL;

	str_puts(&s, "");
	if (sh->p.absent)
		str_printf(&s, "not measured: %s", sh->p.absent);
	if (sh->left_out.len)
		str_printf(&s,
			   "%sleft out at %d columns: %s (--width 0 and --format tsv have them)",
			   s.len ? "; " : "", sh->width, sh->left_out.buf);
	if (sh->t->verbose && s.len)
		text_print_lines(out, sh->width, "# ", "#   ", s.buf);
	lines = sh->t->verbose ? table_note_texts(sh->t) : table_note_texts_brief(sh->t, s.buf);
	for (size_t n = 0; lines[n]; n++)
		text_print_lines(out, sh->width, "# ", "#   ", lines[n]);
}

void table_write_text(const struct table *t, int width, FILE *out)
{
	freed(sheet_free) struct sheet sh;

	sheet_of(&sh, t, width, 0, true);
	if (t->title)
		text_print_lines(out, width, "", "", t->title);
	if (sh.once.len)
		text_print_lines(out, width, "", "", sh.once.buf);
	text_print_sections(&sh, out);
	text_print_notes(&sh, out);
}

/* --- a commit message --- */

/*
 * git gives lines that begin with '#' or "---" a meaning, so no line begins with them: rows are
 * indented by two.
 */
enum { COMMIT_WIDTH = 72, INDENT = 2 };

static const struct {
	const char *utf8, *ascii;
} spellings[] = {
	{"²", "^2"}, {"→", "->"}, {"×", "x"},  {"±", "+-"},	{"µ", "u"},
	{"μ", "u"},  {"–", "-"},  {"—", "--"}, {"…", ".."},	{"≤", "<="},
	{"≥", ">="}, {"·", "-"},  {"“", "\""}, {"”", "\""},	{"‘", "'"},
	{"’", "'"},  {"Δ", "d"},  {"σ", "s"},  {"\u00a0", " "},
};

/* Returns the ASCII spelling of the character at `s`, and the number of its bytes. */
static const char *spell(const char *s, size_t *len)
{
	for (size_t i = 0; i < array_size(spellings); i++) {
		*len = strlen(spellings[i].utf8);
		if (!strncmp(s, spellings[i].utf8, *len))
			return spellings[i].ascii;
	}
	*len = 1;
	while (((unsigned char)s[*len] & 0xc0) == 0x80)
		++*len;
	return "?";
}

char *ascii_of(struct arena *a, const char *s)
{
	freed(str_free) struct str out = {0};
	size_t len;

	str_puts(&out, "");
	while (*s) {
		if ((unsigned char)*s >= 0x80) {
			str_puts(&out, spell(s, &len));
			s += len;
			continue;
		}
		str_putc(&out, *s == '\n' ? '\n' : *s < ' ' || *s == 0x7f ? ' ' : *s);
		s++;
	}
	return arena_strdup(a, out.buf);
}

/* Prints lines of words. A word that is longer than a line loses its middle. */
static void commit_print_text(FILE *out, struct arena *a, const char *text)
{
	char *line;

	each_part (line, ascii_of(a, text), '\n') {
		const char *at = line, *first = "", *part;
		size_t len;

		if (*line == '#' || str_starts(line, "---"))
			first = "  ";
		if (!*line)
			fputc('\n', out);
		while ((part = str_line(&at, COMMIT_WIDTH - (int)strlen(first), &len))) {
			autofree char *words = xstrndup(part, len);

			fputs(first, out);
			text_put_short(out, words, COMMIT_WIDTH - (int)strlen(first));
			fputc('\n', out);
			first = "  ";
		}
	}
}

/* The table's words are ASCII already: table_write() spells them. */
void table_write_commit(const struct table *t, FILE *out)
{
	freed(table_note_texts_free) char **notes =
		t->verbose ? table_note_texts(t) : table_note_texts_brief(t, "");
	freed(arena_free) struct arena a = {0};
	freed(sheet_free) struct sheet sh;

	sheet_of(&sh, t, COMMIT_WIDTH, INDENT, false);
	if (t->title)
		commit_print_text(out, &a, t->title);
	if (sh.once.len)
		commit_print_text(out, &a, sh.once.buf);
	if (sh.p.ncolumns) {
		fputs(t->title || sh.once.len ? "\n" : "", out);
		text_print_sections(&sh, out);
		fputs(t->notes.n || sh.left_out.len ? "\n" : "", out);
	}
	if (sh.left_out.len)
		text_print_lines(out, COMMIT_WIDTH, "left out, too wide: ", "  ", sh.left_out.buf);
	for (size_t n = 0; notes[n]; n++)
		commit_print_text(out, &a, notes[n]);
}
