/* SPDX-License-Identifier: GPL-2.0-only */
/* One row of a perf report table. For perf_report.c only. */
#ifndef ZC_PERF_REPORT_ROW_H
#define ZC_PERF_REPORT_ROW_H

#include "analyze/ingest/perf_report.h"
#include "analyze/ingest/perf_report_head.h"
#include "analyze/ingest/text.h"

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

#endif
