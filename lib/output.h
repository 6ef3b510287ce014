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
#include <stdio.h>

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

/*
 * Where results go: a file, or standard output. A stream forgets why it could not write; this one
 * does not, and what is only half there is removed.
 */

struct sink {
	FILE *f;	  /* NULL: not open */
	const char *path; /* the caller's; NULL or "-": standard output */
	int fd, failure;  /* errno of the first write that failed */
};

/* `path` must live as long as the sink. */
int sink_open(struct sink *s, const char *path, struct error *err);

/*
 * Writes the rest. `rc`, negative where the writer failed, is handed back; with it, or where not
 * all could be written, a file is removed.
 */
int sink_close(struct sink *s, int rc, struct error *err);

#endif
