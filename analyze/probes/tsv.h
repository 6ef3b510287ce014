/* SPDX-License-Identifier: GPL-2.0-only */
/* A table in a text file: a heading, a separator, columns that are found by name. */
#ifndef ZC_TSV_H
#define ZC_TSV_H

#include "lib/error.h"

#include <stddef.h>
#include <stdint.h>

struct tsv {
	const char *path;
	char *buf;
	char **names;
	char **cells; /* rows x ncolumns; fields that a line lacks are "" */
	int ncolumns;
	size_t rows;
	size_t bad; /* lines with too few fields, which are left out, and rows that a reader cannot
		       use */
};

/*
 * Reads a regular file. With `separator` 0 it is the first tab, semicolon or comma of the heading.
 * Empty lines and lines that begin with '#' are skipped. An empty file is -ENODATA.
 */
int tsv_read(struct tsv *t, const char *path, char separator, struct error *err);
/* The same for a path that the user typed, which may be a pipe. */
int tsv_read_named(struct tsv *t, const char *path, char separator, struct error *err);
void tsv_free(struct tsv *t);

int tsv_column(const struct tsv *t, const char *name); /* returns -1 where there is none */
const char *tsv_cell(const struct tsv *t, size_t row, int column);
const char *tsv_text(const struct tsv *t, size_t row, const char *column); /* "" for no column */

/* Checks that all columns of "NAME NAME ..." exist, or returns -EBADMSG with the first that is
 * missing. */
int tsv_require(const struct tsv *t, const char *columns, struct error *err);

/* Parse a number that is the whole text; false for anything else, also for an empty text. */
bool parse_u64(const char *text, uint64_t *n);
bool parse_real(const char *text, double *x);
/* Returns a number from 0 on, or NAN for any other text. */
double real_or_nan(const char *text);
/* Adds "7:120,8:3", buckets with their counts; false on any other text. */
bool parse_hist(const char *text, uint64_t *hist, size_t buckets);

#endif
