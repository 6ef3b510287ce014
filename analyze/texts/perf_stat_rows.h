/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of perf stat's output in any layout. For perf_stat*.c only. */
#ifndef ZC_PERF_STAT_ROWS_H
#define ZC_PERF_STAT_ROWS_H

#include "analyze/texts/perf_stat.h"
#include "analyze/texts/text.h"

struct stat_reader {
	struct text text;
	struct marks marks;
	struct perf_stat *st;
	char separator; /* the separator of -x */
	double time_s;	/* -I: end of the interval; NAN without intervals */
	bool closed;	/* the first block has ended */
};

/*
 * Adds a row to r->st and copies its strings. If `part` is true, the row covers one CPU, thread or
 * interval, and later rows of the event are added to it.
 */
void stat_put(struct stat_reader *r, const struct stat_counter *row, bool part);

/* Parses "<not counted>" or "<not supported>" at *p and moves *p past the text. */
bool stat_absent(const char **p, enum stat_state *state);

/*
 * Returns whether the word is a label such as "CPU3", "S0-D0-C1", "N0" or "bash-123". Sets *cpus
 * if a number of CPUs follows the label.
 */
bool stat_label(const char *word, size_t len, bool *cpus);

/* Parses one cleaned line. Returns 0, or -errno with an error that names the line. */
int stat_text_line(struct stat_reader *r, char *line);
int stat_csv_line(struct stat_reader *r, char *line);
int stat_json_line(struct stat_reader *r, const char *line);

/* Returns the separator if the line is a row of `perf stat -x`, or 0. */
char stat_csv_separator(const char *line);
/* Returns whether the line begins with a count, or with a label and a count. */
bool stat_text_row(const char *line);

#endif
