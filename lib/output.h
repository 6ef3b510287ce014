/* SPDX-License-Identifier: GPL-2.0-only */
/* The options every command with results shares: --format, -o. An argp child. */
#ifndef ZC_OUTPUT_H
#define ZC_OUTPUT_H

#include "lib/error.h"
#include "lib/table.h"

#include <argp.h>

struct output {
	enum table_format format;
	const char *path; /* NULL: standard output */
};

/* Use as a child in `struct argp`; its input is a struct output. */
extern const struct argp output_argp;

/* Writes the table where the options say. */
int output_table(const struct output *o, const struct table *t, struct error *err);

#endif
