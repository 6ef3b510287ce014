// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a table for a patch's commit message: at most 72 columns, ASCII, no tabs, rows indented
 * by two. git gives lines that begin with '#' or "---" a meaning, so no line begins with them. A
 * column with the same word in all rows is printed once. A table that is too wide loses width in
 * this order: first the gaps between columns, then names (cut in the middle, unless they have
 * figures or units). At last columns are left out and named below the table, plain numbers before
 * figures with an interval, from the right.
 */
#include "lib/table_layout.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 72, INDENT = 2, NAME_LEAST = 16 };

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
	size_t i;

	for (i = 0; i < array_size(spellings); i++) {
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
	struct str out = {0};
	char *kept;
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
	kept = arena_strdup(a, out.buf);
	str_free(&out);
	return kept;
}

/* --- text: wrapped at blanks, with an indent --- */

static void commit_print_word(FILE *out, const char *word, size_t len, int *at)
{
	char *copy = xstrndup(word, len);
	int room = WIDTH - INDENT, w = len < (size_t)room ? (int)len : room;

	if (*at && *at + 1 + w > WIDTH) {
		fprintf(out, "\n%*s", INDENT, "");
		*at = INDENT;
	} else if (*at) {
		fputc(' ', out);
		++*at;
	}
	fit_put_short(out, copy, room);
	*at += w;
	free(copy);
}

static void commit_print_line(FILE *out, const char *text, size_t len)
{
	size_t i = 0, word;
	int at = 0;

	while (i < len) {
		i += strspn(text + i, " ");
		word = strcspn(text + i, " \n");
		if (i >= len || !word)
			break;
		if (!at && (text[i] == '#' || !strncmp(text + i, "---", 3)))
			at = fprintf(out, "%*s", INDENT, "");
		commit_print_word(out, text + i, word, &at);
		i += word;
	}
	fputc('\n', out);
}

static void commit_print_text(FILE *out, struct arena *a, const char *text)
{
	const char *s = ascii_of(a, text);
	size_t len;

	for (; *s; s += len + (s[len] == '\n')) {
		len = strcspn(s, "\n");
		commit_print_line(out, s, len);
	}
}

/* --- the table --- */

struct layout {
	struct people p; /* names and cells in ASCII */
	int gap;	 /* blanks between columns */
	struct str once, left_out;
	struct arena arena;
};

static bool commit_is_plain(const struct people_column *c)
{
	return !c->left && !c->interval;
}

/* Returns the least important column. The first column is never dropped. */
static int commit_least_missed(const struct people *p)
{
	int i, last = 0;

	for (i = 1; i < p->ncolumns; i++)
		if (p->columns[i].place == IN_ROWS)
			last = i;
	for (i = last; i > 0; i--)
		if (p->columns[i].place == IN_ROWS && commit_is_plain(&p->columns[i]))
			return i;
	return last;
}

static void commit_fit(struct layout *l)
{
	const int room = WIDTH - INDENT;
	struct people *p = &l->p;
	int i;

	l->gap = fit_width(p, l->gap) > room ? 1 : 2;
	while (!fit_names(p, l->gap, room, NAME_LEAST)) {
		i = commit_least_missed(p);
		if (!i) {
			p->columns[0].width = room;
			return;
		}
		p->columns[i].place = SPARED;
		str_printf(&l->left_out, "%s%s",
			   l->left_out.len ? ", " : "left out, too wide: ", p->columns[i].name);
	}
}

static int commit_longest(const struct people *p, int column)
{
	int w = (int)strlen(p->columns[column].name), len;
	size_t row;

	for (row = 0; row < p->rows; row++) {
		len = (int)strlen(people_cell(p, row, column));
		w = len > w ? len : w;
	}
	return w;
}

static void commit_layout_of(struct layout *l, const struct table *t)
{
	struct people *p = &l->p;
	size_t i;
	int c;

	*l = (struct layout){.gap = 2};
	people_of(p, t);
	for (i = 0; i < p->rows * (size_t)p->ncolumns; i++)
		p->cells[i] = ascii_of(&l->arena, p->cells[i]);
	for (c = 0; c < p->ncolumns; c++) {
		p->columns[c].name = ascii_of(&l->arena, p->columns[c].name);
		p->columns[c].width = commit_longest(p, c);
	}
	fit_hide_constant(p, &l->once);
	commit_fit(l);
}

static void commit_layout_free(struct layout *l)
{
	people_free(&l->p);
	str_free(&l->once);
	str_free(&l->left_out);
	arena_free(&l->arena);
}

/* Prints a row. Row -1 prints the names. */
static void commit_print_row(FILE *out, const struct layout *l, long row)
{
	int i, pad, blanks = INDENT; /* blanks are pending, so that no line ends in blanks */

	for (i = 0; i < l->p.ncolumns; i++) {
		const struct people_column *c = &l->p.columns[i];
		const char *cell = row < 0 ? c->name : people_cell(&l->p, (size_t)row, i);
		int len = (int)strlen(cell);

		if (c->place != IN_ROWS)
			continue;
		len = len > c->width ? c->width : len;
		pad = c->width - len;
		blanks += c->left ? 0 : pad;
		if (len)
			fprintf(out, "%*s", blanks, "");
		fit_put_short(out, cell, c->width);
		blanks = (len ? 0 : blanks) + (c->left ? pad : 0) + l->gap;
	}
	fputc('\n', out);
}

static void commit_print_rows(FILE *out, const struct layout *l, const struct table *t)
{
	long row;

	if (!l->p.ncolumns)
		return;
	fputs(t->title || l->once.len ? "\n" : "", out);
	for (row = -1; row < (long)t->rows; row++)
		commit_print_row(out, l, row);
	fputs(t->notes.n || l->left_out.len ? "\n" : "", out);
}

void table_write_commit(const struct table *t, FILE *out)
{
	char **notes = table_note_texts(t);
	struct layout l;
	size_t n;

	commit_layout_of(&l, t);
	if (t->title)
		commit_print_text(out, &l.arena, t->title);
	if (l.once.len)
		commit_print_text(out, &l.arena, l.once.buf);
	commit_print_rows(out, &l, t);
	if (l.left_out.len)
		commit_print_text(out, &l.arena, l.left_out.buf);
	for (n = 0; notes[n]; n++)
		commit_print_text(out, &l.arena, notes[n]);
	table_note_texts_free(notes);
	commit_layout_free(&l);
}
