/* SPDX-License-Identifier: GPL-2.0-only */
/* Headings, columns and rows of a perf report table. For perf_report*.c only. */
#ifndef ZC_PERF_REPORT_ROW_H
#define ZC_PERF_REPORT_ROW_H

#include "analyze/texts/perf_report.h"
#include "analyze/texts/text.h"

/* --- the heading --- */

/* The columns of a perf report table, in order. */

enum head_column {
	HEAD_TOTAL,   /* Children */
	HEAD_SELF,    /* Self, Overhead */
	HEAD_PERCENT, /* sys, usr ...: unused percentages */
	HEAD_SAMPLES,
	HEAD_NUMBER, /* Period ...: unused numbers */
	HEAD_COMM,
	HEAD_PID, /* Pid:Command */
	HEAD_DSO,
	HEAD_TEXT, /* CPU, Source:Line ... */
	HEAD_SYMBOL,
};

enum { HEAD_MAX = 16 };

struct head {
	enum head_column column[HEAD_MAX];
	size_t n;
};

enum head_found { HEAD_NONE, HEAD_FOUND, HEAD_NO_SYMBOL };

/* Parses a cleaned line as a heading. Changes *h only if it returns HEAD_FOUND. */
enum head_found head_parse(struct head *h, const char *line);
/* Returns the column with exactly this name, or HEAD_TEXT for an unknown name. */
enum head_column head_name(const char *name);
size_t head_count(const struct head *h, enum head_column column);

/* --- a row --- */

/*
 * Columns and their positions: the bytes start to end of a line, or the text between separators.
 */
struct grid {
	enum head_column column[HEAD_MAX];
	size_t start[HEAD_MAX], end[HEAD_MAX];
	size_t n; /* 0 if no positions are known */
	char separator;
};

struct row_reader {
	const struct text *text; /* current position, for messages */
	struct head head;	 /* n is 0 before the first heading */
	struct grid grid;
	bool marked;	 /* the text's rows have level marks */
	size_t percents; /* number of percentages in the first row of a text without a heading */
	struct arena *strings;
};

/* ROW_UNMARKED is a row with a share but no level mark among marked rows, as in call chains. */
enum row_found { ROW_NONE, ROW_FOUND, ROW_UNMARKED };

/*
 * Reads a row and changes `line`. Returns enum row_found, or -errno with an error that names the
 * line.
 */
int row_read(struct row_reader *r, char *line, struct flat_row *row);

/*
 * Stores a field of the columns samples, command and shared object. Ignores other columns. Returns
 * 0 or -errno.
 */
int row_field(struct row_reader *r, struct flat_row *row, enum head_column column,
	      const char *field);

/* Returns the level mark in `s`, such as "[k]" at the start of a word, or NULL. */
char *row_mark(const char *s);

/* --- columns by position --- */

/*
 * The positions of a table's columns, from the dotted line below the heading or from the separator
 * of -t. With positions, columns may stand in any order. If a copy lost the positions,
 * perf_report_row.c cuts rows by their look.
 */

/*
 * Fills the grid from the heading and the dotted line below it. Returns false if the lines are
 * something else.
 */
bool grid_from_dots(struct grid *g, const char *heading, const char *dots);
/* Fills the grid from the heading of `perf report -t`. */
bool grid_from_separated(struct grid *g, const char *heading);

/*
 * Reads a row like row_read(), but leaves `line` unchanged. Returns GRID_MISFIT if the row does
 * not fit the columns' positions, as in an indented copy.
 */
enum { GRID_MISFIT = ROW_UNMARKED + 1 };
int grid_row(struct row_reader *r, const char *line, struct flat_row *row);

#endif
