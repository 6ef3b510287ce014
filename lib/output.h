/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options every command with results shares: --format, -o, --width. An argp child. Text on a
 * terminal has its width: COLUMNS, else what the terminal says, else 80; in a file or a pipe as
 * many characters as it takes.
 */
#ifndef ZC_OUTPUT_H
#define ZC_OUTPUT_H

#include "lib/error.h"
#include "lib/table.h"

#include <argp.h>

struct output {
	enum table_format format;
	const char *path; /* NULL: standard output */
	bool verbose;	  /* all notes */
	bool width_given;
	int width; /* as given; 0: as many as it takes */
};

/* Use as a child in `struct argp`; its input is a struct output. */
extern const struct argp output_argp;

/* Characters of a line where `fd` is a terminal: COLUMNS, else its own, else 80. 0: it is none. */
int output_terminal_width(int fd);

/* Writes the table where the options say, with as many notes. */
int output_table(const struct output *o, struct table *t, struct error *err);

#endif
