/* SPDX-License-Identifier: GPL-2.0-only */
/* A table in a text file: one heading, one separator, columns asked for by name. */
#ifndef ZC_TSV_H
#define ZC_TSV_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsv {
	const char *path;
	char *buf;
	char **names;
	char **cells; /* rows x ncolumns; fields that a line lacks are "" */
	int ncolumns;
	size_t rows;
	size_t short_rows; /* lines with too few fields, kept out */
};

/*
 * Reads `path`. `separator` 0: tab, semicolon or comma, whichever the heading holds first, from a
 * file of the user, which may be a pipe. With a separator it is a file of a capture. Empty lines
 * and lines beginning with '#' are passed over. An empty file is -ENODATA.
 */
int tsv_read(struct tsv *t, const char *path, char separator, struct error *err);
void tsv_free(struct tsv *t);

int tsv_column(const struct tsv *t, const char *name); /* -1: there is none */
const char *tsv_cell(const struct tsv *t, size_t row, int column);

/* All of these columns, or -EBADMSG naming the first that is missing. NULL ends the list. */
int tsv_require(const struct tsv *t, struct error *err, ...) __attribute__((sentinel));

/* The whole text is the number; false otherwise, also for an empty one. */
bool parse_u64(const char *text, uint64_t *n);
bool parse_real(const char *text, double *x);

#endif
