// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a table for a patch's commit message: at most 72 columns, ASCII, no tabs, rows indented
 * by two. git gives lines that begin with '#' or "---" a meaning, so no line begins with them. A
 * column with the same word in all rows is printed once. A table that is too wide loses width in
 * this order: first the gaps between columns, then names (cut in the middle, unless they have
 * figures or units). Then the columns that the table can spare (table.least) are left out and named
 * below the table, from the right. The other columns that have no room follow in further blocks
 * below, each with the same names on the left.
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
	struct people p;   /* names and cells in ASCII */
	const char *least; /* columns that the table can spare */
	int gap;	   /* blanks between columns */
	int keys;	   /* the names on the left of each block */
	bool *done;	   /* columns that need no further block */
	struct str once, left_out;
	struct arena arena;
};

static bool commit_can_spare(const struct layout *l, int column)
{
	const char *name = l->p.columns[column].name, *at = l->least;
	size_t len = strlen(name);

	while (at && (at = strstr(at, name))) {
		if ((at == l->least || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* Returns the last column that the table can spare, else the last one. Names are never dropped. */
static int commit_least_missed(const struct layout *l)
{
	const struct people *p = &l->p;
	int i, last = 0;

	for (i = l->keys; i < p->ncolumns; i++)
		if (p->columns[i].place == IN_ROWS &&
		    (commit_can_spare(l, i) || !last || !commit_can_spare(l, last)))
			last = i;
	return last;
}

static int commit_count_shown(const struct layout *l)
{
	int i, n = 0;

	for (i = l->keys; i < l->p.ncolumns; i++)
		n += l->p.columns[i].place == IN_ROWS;
	return n;
}

/* Fits a block into the width. A column that has no room in a block of its own is left out, too. */
static void commit_fit(struct layout *l)
{
	const int room = WIDTH - INDENT;
	struct people *p = &l->p;
	int i;

	l->gap = fit_width(p, 2) > room ? 1 : 2;
	while (!fit_names(p, l->gap, room, NAME_LEAST)) {
		i = commit_least_missed(l);
		if (!i) {
			p->columns[0].width = room;
			return;
		}
		p->columns[i].place = SPARED;
		l->done[i] = commit_can_spare(l, i) || !commit_count_shown(l);
		if (l->done[i])
			str_printf(&l->left_out, "%s%s",
				   l->left_out.len ? ", " : "left out, too wide: ",
				   p->columns[i].name);
	}
}

/* Replaces the columns of a block by those that had no room. Returns whether there are any. */
static bool commit_next_block(struct layout *l)
{
	bool more = false;
	int i;

	for (i = l->keys; i < l->p.ncolumns; i++) {
		struct people_column *c = &l->p.columns[i];

		if (c->place == IN_ROWS) {
			c->place = SPARED;
			l->done[i] = true;
		} else if (c->place == SPARED && !l->done[i]) {
			c->place = IN_ROWS;
			more = true;
		}
	}
	if (more)
		commit_fit(l);
	return more;
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

	*l = (struct layout){.gap = 2, .least = t->least};
	people_of(p, t);
	l->done = xcalloc((size_t)p->ncolumns + 1, sizeof(*l->done));
	for (i = 0; i < p->rows * (size_t)p->ncolumns; i++)
		p->cells[i] = ascii_of(&l->arena, p->cells[i]);
	for (c = 0; c < p->ncolumns; c++) {
		p->columns[c].name = ascii_of(&l->arena, p->columns[c].name);
		p->columns[c].width = commit_longest(p, c);
	}
	fit_hide_constant(p, &l->once);
	while (l->keys < p->ncolumns && p->columns[l->keys].left)
		l->keys++;
	if (l->keys == p->ncolumns)
		l->keys = 1;
	commit_fit(l);
}

static void commit_layout_free(struct layout *l)
{
	people_free(&l->p);
	free(l->done);
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

static void commit_print_rows(FILE *out, struct layout *l, const struct table *t)
{
	long row;

	if (!l->p.ncolumns)
		return;
	fputs(t->title || l->once.len ? "\n" : "", out);
	do {
		for (row = -1; row < (long)t->rows; row++)
			commit_print_row(out, l, row);
	} while (commit_next_block(l) && fputc('\n', out) == '\n');
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
