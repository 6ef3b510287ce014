/* SPDX-License-Identifier: GPL-2.0-only */
/* One row of perf stat's output, in whichever layout. For perf_stat*.c only. */
#ifndef ZC_PERF_STAT_ROWS_H
#define ZC_PERF_STAT_ROWS_H

#include "analyze/texts/perf_stat.h"
#include "analyze/texts/text.h"

struct stat_reader {
	struct text text;
	struct marks marks;
	struct perf_stat *st;
	char separator; /* of -x */
	double time_s;	/* -I: end of the interval; NAN: no intervals */
	bool closed;	/* the first block is over */
	struct error *err;
};

/* Error: the file, the line, and `what`. */
int stat_bad(const struct stat_reader *r, const char *what);

/*
 * Into r->st; strings are copied. `part`: the row is of one CPU, thread or interval, so that the
 * next of the same event is added to it.
 */
void stat_put(struct stat_reader *r, const struct stat_counter *row, bool part);

/* "<not counted>", "<not supported>" at *p, which moves past it. */
bool stat_absent(const char **p, enum stat_state *state);

/* "CPU3", "S0-D0-C1", "N0", "bash-123": a label; *cpus: a number of CPUs follows it. */
bool stat_label(const char *word, size_t len, bool *cpus);

/* One line each, cleaned; 0 or -errno with the line named. */
int stat_text_line(struct stat_reader *r, char *line);
int stat_csv_line(struct stat_reader *r, char *line);
int stat_json_line(struct stat_reader *r, const char *line);

/* Is it a row of `perf stat -x`? Then with which separator, else 0. */
char stat_csv_separator(const char *line);
/* Does it begin like a row: with a count, or with a label and a count? */
bool stat_text_row(const char *line);

#endif
