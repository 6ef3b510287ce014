/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of perf_report*.c: the heading of a perf report table, its columns and its rows. */
#ifndef ZC_PERF_REPORT_ROW_H
#define ZC_PERF_REPORT_ROW_H

#include "analyze/texts/perf_report.h"
#include "analyze/texts/text.h"

/* --- the heading --- */

/* The heading of a perf report table: which columns there are, in order. */

enum head_column {
	HEAD_TOTAL,   /* Children */
	HEAD_SELF,    /* Self, Overhead */
	HEAD_PERCENT, /* sys, usr ...: percentages we do not use */
	HEAD_SAMPLES,
	HEAD_NUMBER, /* Period ...: numbers we do not use */
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
	char separator; /* of `perf report -t`, 0: none */
};

enum head_found { HEAD_NONE, HEAD_FOUND, HEAD_NO_SYMBOL };

/* Whether `line` (cleaned) is a heading; *h changes only with HEAD_FOUND. */
enum head_found head_parse(struct head *h, const char *line);
/* The column of exactly that name; HEAD_TEXT where we do not know it. */
enum head_column head_name(const char *name);
size_t head_count(const struct head *h, enum head_column column);

/* --- a row --- */

/* Columns and their places: the bytes start .. end of a line, or what a separator parts. */
struct grid {
	enum head_column column[HEAD_MAX];
	size_t start[HEAD_MAX], end[HEAD_MAX];
	size_t n; /* 0: no places known */
	char separator;
};

struct row_reader {
	const struct text *text; /* where we are, for messages */
	struct head head;	 /* n is 0: no heading seen */
	struct grid grid;
	bool marked;	 /* the text's rows carry level marks */
	size_t percents; /* without a heading: how many the first row has */
	struct arena *strings;
	struct error *err;
};

/* ROW_UNMARKED: a share without a level mark among rows that have one, as in call chains. */
enum row_found { ROW_NONE, ROW_FOUND, ROW_UNMARKED };

/* enum row_found, or -errno with the line named; cuts `line` up. */
int row_read(struct row_reader *r, char *line, struct flat_row *row);

/* Error: the file, the line, and `what`. */
int row_bad(const struct row_reader *r, const char *what);

/* Samples, command, shared object; of other columns nothing is kept. 0 or -errno. */
int row_field(struct row_reader *r, struct flat_row *row, enum head_column column,
	      const char *field);

/* The level mark in `s`, "[k]" and its kind at a word's start, or NULL. */
char *row_mark(const char *s);

/* --- columns by their places --- */

/*
 * Where the columns of a perf report table stand: by the dotted line below the heading, or by the
 * separator of -t. With it any column may stand anywhere; where a copy has lost it, rows are taken
 * apart by what they look like (perf_report_row.c).
 */

/* From the heading and the dotted line below it. False: these are no such lines. */
bool grid_from_dots(struct grid *g, const char *heading, const char *dots);
/* From the heading of `perf report -t`. */
bool grid_from_separated(struct grid *g, const char *heading);

/*
 * As row_read; GRID_MISFIT: the line is a row, but not of these columns' places (a copy that was
 * indented). Leaves `line` as it is.
 */
enum { GRID_MISFIT = ROW_UNMARKED + 1 };
int grid_row(struct row_reader *r, const char *line, struct flat_row *row);

#endif
