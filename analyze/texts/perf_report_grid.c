// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/perf_report_row.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the heading --- */

static char *grid_cell(struct arena *a, const char *line, size_t start, size_t end)
{
	size_t len = strlen(line);
	char *s;

	start = start < len ? start : len;
	end = end < len ? end : len;
	s = arena_alloc(a, end - start + 1);
	memcpy(s, line + start, end - start);
	return str_trim(s);
}

static bool line_has_share(const struct grid *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->column[i] == HEAD_TOTAL || g->column[i] == HEAD_SELF)
			return true;
	return false;
}

static bool line_is_dotted(const char *s)
{
	return *s == '#' && strchr(s, '.') && s[1 + strspn(s + 1, ". \t")] == 0;
}

bool grid_from_dots(struct grid *g, const char *heading, const char *dots)
{
	struct arena a = {0};
	struct grid got = {0};
	const char *p;

	if (*heading != '#' || !line_is_dotted(dots))
		return false;
	for (p = strchr(dots, '.'); p && got.n < HEAD_MAX; p = strchr(p, '.')) {
		got.start[got.n] = (size_t)(p - dots);
		p += strspn(p, ".");
		got.end[got.n] = (size_t)(p - dots);
		got.column[got.n] =
			head_name(grid_cell(&a, heading, got.start[got.n], got.end[got.n]));
		got.n++;
	}
	arena_free(&a);
	if (!line_has_share(&got))
		return false;
	*g = got;
	return true;
}

/* Reads a heading with separators. Rows are cut at the separators, not at positions. */
static bool grid_from_separator(struct grid *g, const char *heading, char separator)
{
	char *copy = xstrdup(heading + strspn(heading, "# ")), *rest = copy, *s;

	*g = (struct grid){.separator = separator};
	while (g->n < HEAD_MAX && (s = str_token(&rest, separator)))
		g->column[g->n++] = head_name(str_trim(s));
	free(copy);
	return g->n > 1 && line_has_share(g);
}

bool grid_from_separated(struct grid *g, const char *heading)
{
	static const char separators[] = ",;|\t:";
	struct grid got;
	size_t i;

	if (*heading != '#')
		return false;
	for (i = 0; separators[i]; i++) {
		if (!strchr(heading, separators[i]) ||
		    !grid_from_separator(&got, heading, separators[i]))
			continue;
		*g = got;
		return true;
	}
	return false;
}

/* --- rows --- */

static bool text_is_blank(const char *line, size_t from, size_t to)
{
	for (; from < to && line[from]; from++)
		if (line[from] != ' ' && line[from] != '\t')
			return false;
	return true;
}

/*
 * Cuts a row by positions. Numbers are right-aligned and may be wider than their heading. No other
 * text may stand between columns.
 */
static bool grid_cut_places(struct row_reader *r, const char *line, char **cells)
{
	const struct grid *g = &r->grid;
	size_t i, len = strlen(line);

	if (!text_is_blank(line, 0, g->start[0]) || g->start[0] >= len)
		return false;
	for (i = 0; i < g->n; i++) {
		size_t next = i + 1 < g->n ? g->start[i + 1] : len;

		if (i + 1 < g->n && g->end[i] < len && !text_is_blank(line, g->end[i], next))
			return false;
		cells[i] = grid_cell(r->strings, line, g->start[i], next > len ? len : next);
	}
	return true;
}

static bool grid_cut_separated(struct row_reader *r, const char *line, char **cells)
{
	char *rest = arena_strdup(r->strings, line), *s;
	size_t n = 0;

	while ((s = str_token(&rest, r->grid.separator))) {
		if (n == r->grid.n)
			return false;
		cells[n++] = str_trim(s);
	}
	return n == r->grid.n;
}

static bool text_is_share(const char *s, double *value)
{
	return (text_percent(&s, value) || text_number(&s, value)) && !*s;
}

static int grid_parse_share(struct row_reader *r, struct flat_row *row, enum head_column column,
			    const char *s)
{
	double value;

	if (!text_is_share(s, &value))
		return text_bad(r->text, "the share is not a percentage");
	if (value > 100.05 && column != HEAD_TOTAL) /* see row_check_percents() */
		return text_bad(r->text, "the share is above 100 %");
	if (column == HEAD_TOTAL)
		row->total = value;
	else if (column == HEAD_SELF)
		row->self = value;
	return 0;
}

/* Parses the symbol. perf report -v prints the address and the symbol's origin before the mark. */
static void grid_parse_symbol(struct flat_row *row, char *s)
{
	char *mark = row_mark(s);

	if (mark) {
		row->level = mark[1];
		s = text_skip(mark + 3);
	}
	row->symbol = s;
}

static int grid_parse_cell(struct row_reader *r, struct flat_row *row, enum head_column column,
			   char *s)
{
	switch (column) {
	case HEAD_TOTAL:
	case HEAD_SELF:
	case HEAD_PERCENT:
		return grid_parse_share(r, row, column, s);
	case HEAD_SYMBOL:
		grid_parse_symbol(row, s);
		return *row->symbol ? 0 : text_bad(r->text, "no symbol");
	default:
		return row_field(r, row, column, s);
	}
}

/* Returns whether the line has a share first and a level mark in the symbol column. */
static bool line_looks_like_row(const struct grid *g, char **cells)
{
	bool share = false, marked = false, symbol = false;
	double value;
	size_t i;

	for (i = 0; i < g->n; i++) {
		if (g->column[i] <= HEAD_PERCENT)
			share = share || text_is_share(cells[i], &value);
		if (g->column[i] == HEAD_SYMBOL) {
			symbol = true;
			marked = row_mark(cells[i]);
		}
	}
	return marked || (share && !symbol) || (share && g->separator);
}

int grid_row(struct row_reader *r, const char *line, struct flat_row *row)
{
	const struct grid *g = &r->grid;
	char *cells[HEAD_MAX];
	int ret = 0;
	size_t i;

	if (g->separator && !grid_cut_separated(r, line, cells))
		return strchr(line, g->separator)
			       ? text_bad(
					 r->text,
					 "the row and the heading differ in their number of fields")
			       : ROW_NONE;
	if (!g->separator && !grid_cut_places(r, line, cells))
		return GRID_MISFIT;
	if (!line_looks_like_row(g, cells))
		return ROW_NONE;
	*row = (struct flat_row){
		.samples = -1, .line = r->text->line, .self = NAN, .total = NAN, .symbol = ""};
	for (i = 0; i < g->n && !ret; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the line has g->n cells. */
		ret = grid_parse_cell(r, row, g->column[i], cells[i]);
	return ret ? ret : ROW_FOUND;
}
