// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table for a patch's commit message: at most 72 columns, ASCII, no tabs, the rows indented by
 * two. git takes lines that begin with '#' or "---" for its own, so no line begins so. A column
 * that says the same in each row is said once. What does not fit is narrowed in this order: the
 * gaps between columns, names (cut in the middle), and at last columns are left out and named
 * below: plain numbers before figures with an interval, from the right.
 */
#include "lib/table_commit.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "lib/table_people.h"

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

/* One character at `s`: its spelling, and how many bytes it takes. */
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

/* The ends of a name around "..", `width` characters in all: the head is what one looks for. */
static void put_short(FILE *out, const char *s, int width)
{
	int len = (int)strlen(s), tail = (width - 2) / 3;

	if (len <= width)
		fputs(s, out);
	else
		fprintf(out, "%.*s..%s", width - 2 - tail, s, s + len - tail);
}

/* --- text: broken at blanks, continued under an indent --- */

static void put_word(FILE *out, const char *word, size_t len, int *at)
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
	put_short(out, copy, room);
	*at += w;
	free(copy);
}

static void put_line(FILE *out, const char *text, size_t len)
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
		put_word(out, text + i, word, &at);
		i += word;
	}
	fputc('\n', out);
}

static void put_text(FILE *out, struct arena *a, const char *text)
{
	const char *s = ascii_of(a, text);
	size_t len;

	for (; *s; s += len + (s[len] == '\n')) {
		len = strcspn(s, "\n");
		put_line(out, s, len);
	}
}

/* --- the table --- */

struct layout {
	struct people p;
	char **heads, **cells;
	int *width;
	bool *shown;
	int gap; /* blanks between columns */
	struct str once, left_out;
	struct arena arena;
};

static int total_width(const struct layout *l)
{
	int sum = INDENT - l->gap, i;

	for (i = 0; i < l->p.ncolumns; i++)
		sum += l->shown[i] ? l->width[i] + l->gap : 0;
	return sum;
}

static int widest_name(const struct layout *l)
{
	int i, best = -1;

	for (i = 0; i < l->p.ncolumns; i++)
		if (l->shown[i] && l->p.columns[i].left && l->width[i] > NAME_LEAST &&
		    (best < 0 || l->width[i] > l->width[best]))
			best = i;
	return best;
}

static bool is_plain(const struct people_column *c)
{
	return !c->left && c->ci < 0 && c->lo < 0;
}

/* The column that is missed least; the first stays. */
static int least_missed(const struct layout *l)
{
	int i, last = 0;

	for (i = 1; i < l->p.ncolumns; i++)
		if (l->shown[i])
			last = i;
	for (i = last; i > 0; i--)
		if (l->shown[i] && is_plain(&l->p.columns[i]))
			return i;
	return last;
}

static void fit(struct layout *l)
{
	int i;

	l->gap = total_width(l) > WIDTH ? 1 : 2;
	while (total_width(l) > WIDTH) {
		i = widest_name(l);
		if (i >= 0) {
			l->width[i]--;
			continue;
		}
		i = least_missed(l);
		if (!i) {
			l->width[0] = WIDTH - INDENT;
			return;
		}
		l->shown[i] = false;
		str_printf(&l->left_out, "%s%s",
			   l->left_out.len ? ", " : "left out, too wide: ", l->heads[i]);
	}
}

/* Names that are the same in every row: "variant mmap, side receiver". */
static void say_once(struct layout *l)
{
	size_t row;
	int i;

	for (i = 0; i < l->p.ncolumns - 1 && l->p.rows > 1; i++) {
		for (row = 1; row < l->p.rows; row++)
			if (strcmp(l->cells[row * (size_t)l->p.ncolumns + (size_t)i], l->cells[i]))
				break;
		if (row < l->p.rows || !l->p.columns[i].left)
			continue;
		l->shown[i] = false;
		str_printf(&l->once, "%s%s %s", l->once.len ? ", " : "", l->heads[i], l->cells[i]);
	}
}

static int longest(const struct layout *l, int column)
{
	int w = (int)strlen(l->heads[column]), len;
	size_t row;

	for (row = 0; row < l->p.rows; row++) {
		len = (int)strlen(l->cells[row * (size_t)l->p.ncolumns + (size_t)column]);
		w = len > w ? len : w;
	}
	return w;
}

static void layout_of(struct layout *l, const struct table *t)
{
	size_t i, n;
	int c;

	*l = (struct layout){.gap = 2};
	people_of(&l->p, t);
	n = l->p.rows * (size_t)l->p.ncolumns;
	l->heads = xcalloc((size_t)l->p.ncolumns + 1, sizeof(*l->heads));
	l->width = xcalloc((size_t)l->p.ncolumns + 1, sizeof(*l->width));
	l->shown = xcalloc((size_t)l->p.ncolumns + 1, sizeof(*l->shown));
	l->cells = xcalloc(n + 1, sizeof(*l->cells));
	for (i = 0; i < n; i++)
		l->cells[i] = ascii_of(&l->arena, l->p.cells[i]);
	for (c = 0; c < l->p.ncolumns; c++) {
		l->heads[c] = ascii_of(&l->arena, l->p.columns[c].name);
		l->width[c] = longest(l, c);
		l->shown[c] = true;
	}
	say_once(l);
	fit(l);
}

static void layout_free(struct layout *l)
{
	people_free(&l->p);
	free(l->heads);
	free(l->cells);
	free(l->width);
	free(l->shown);
	str_free(&l->once);
	str_free(&l->left_out);
	arena_free(&l->arena);
}

static void put_row(FILE *out, const struct layout *l, char *const *cells)
{
	int i, pad, blanks = INDENT; /* held back: no line ends in blanks */

	for (i = 0; i < l->p.ncolumns; i++) {
		int len = (int)strlen(cells[i]);

		if (!l->shown[i])
			continue;
		len = len > l->width[i] ? l->width[i] : len;
		pad = l->width[i] - len;
		blanks += l->p.columns[i].left ? 0 : pad;
		if (len)
			fprintf(out, "%*s", blanks, "");
		put_short(out, cells[i], l->width[i]);
		blanks = (len ? 0 : blanks) + (l->p.columns[i].left ? pad : 0) + l->gap;
	}
	fputc('\n', out);
}

static void put_rows(FILE *out, const struct layout *l, const struct table *t)
{
	size_t row;

	if (!l->p.ncolumns)
		return;
	fputs(t->title || l->once.len ? "\n" : "", out);
	put_row(out, l, l->heads);
	for (row = 0; row < t->rows; row++)
		put_row(out, l, l->cells + row * (size_t)l->p.ncolumns);
	fputs(t->nnotes || l->left_out.len ? "\n" : "", out);
}

void table_write_commit(const struct table *t, FILE *out)
{
	struct layout l;
	size_t n;

	layout_of(&l, t);
	if (t->title)
		put_text(out, &l.arena, t->title);
	if (l.once.len)
		put_text(out, &l.arena, l.once.buf);
	put_rows(out, &l, t);
	if (l.left_out.len)
		put_text(out, &l.arena, l.left_out.buf);
	for (n = 0; n < t->nnotes; n++)
		put_text(out, &l.arena, t->notes[n]);
	layout_free(&l);
}
