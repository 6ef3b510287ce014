/* SPDX-License-Identifier: GPL-2.0-only */
/* Where and how results are written: --format, -o, --width, and the file behind them. */
#ifndef ZC_OUTPUT_H
#define ZC_OUTPUT_H

#include "lib/table.h"

#include <argp.h>

struct output {
	enum table_format format;
	const char *path; /* without a path it is standard output */
	bool verbose;	  /* print all notes */
	bool has_gate;	  /* the command takes ktap and junit; set before parsing */
	bool width_given;
	int width; /* characters of a line; 0: no limit */
};

/* A child for `struct argp`. Its input is a struct output. */
extern const struct argp output_argp;

/* Returns the width of the terminal `fd`: COLUMNS, or its size, or 80. Returns 0 if it is none. */
int output_terminal_width(int fd);

/* Writes the table as the options ask. */
int output_table(const struct output *o, struct table *t, struct error *err);

/*
 * A file or standard output for results. Unlike a plain stream it remembers why a write failed. The
 * file gets its name when it is complete; until then an older one of that name stays.
 */
struct sink {
	FILE *f;	  /* NULL while it is not open */
	char *buffer;	  /* the buffer of `f` */
	const char *path; /* not copied; NULL or "-": standard output */
	char *tmp;	  /* what a regular file is called until it is complete */
	int fd, failure;  /* errno of the first write that failed */
};

/* `path` must live as long as the sink. */
int sink_open(struct sink *s, const char *path, struct error *err);

/*
 * Writes the rest and closes. If the writer failed (`rc` is negative) or a write failed, the file
 * is removed. Returns `rc`, or -errno of the write.
 */
int sink_close(struct sink *s, int rc, struct error *err);

#endif
