/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A result as data: columns, rows of values, and notes. Every command that prints figures fills one
 * of these; the writers turn any table into any format. A value that is missing is V_NONE and
 * prints as an empty field (text and markdown: "-"; JSON: null), never as 0. Text and markdown are
 * for people: they join a value with its interval and leave empty columns out (table_people.h).
 *
 * The table owns copies of all strings. Columns are static and belong to the caller, or, where
 * they are made at run time, stay alive as long as the table.
 */
#ifndef ZC_TABLE_H
#define ZC_TABLE_H

#include "lib/arena.h"
#include "lib/error.h"
#include "lib/note.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum value_type { V_NONE, V_STR, V_INT, V_REAL };

struct value {
	enum value_type type;
	union {
		const char *str;
		int64_t integer;
		double real;
	};
};

/*
 * A column: `name` as in tsv and json; `digits` after the point for V_REAL in text and markdown.
 * A V_STR column with STANDS_RIGHT as its digits holds numbers that are written already, one with
 * STAYS_WHOLE words that are not shortened: figures, units, addresses are in them.
 */
enum { STANDS_RIGHT = 1, STAYS_WHOLE = 2 };
struct column {
	const char *name;
	const char *unit; /* "ns/KiB", "%": text headers and JSON meta only; may be NULL */
	enum value_type type;
	int digits;
	const char *what; /* one line for --help and documents; may be NULL */
};

struct table {
	const char *name;  /* "functions" */
	const char *title; /* one line above the text and markdown forms, owned; may be NULL */
	const struct column *columns;
	int ncolumns;
	struct value *cells; /* rows x ncolumns */
	size_t rows, cap;
	struct notes notes;   /* text, md and json carry them; tsv and csv: stderr */
	bool verbose;	      /* writers print all notes */
	struct table *detail; /* what the notes say in words, as data, owned: json only; or NULL */
	/* "samples dso": what a narrow terminal may do without, the least missed first; or NULL */
	const char *least;
	bool lossy; /* data incomplete or lossy: the command exits 4 */
	struct arena arena;
};

enum table_format { FORMAT_TEXT, FORMAT_TSV, FORMAT_CSV, FORMAT_JSON, FORMAT_MD, FORMAT_COMMIT };

void table_init(struct table *t, const char *name, const struct column *columns, int ncolumns);
/* One line: a newline in a name becomes a blank. */
void table_title(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds these lines below; the caller made sure that no name in them has a newline. */
void table_title_lines(struct table *t, const char *lines);
/*
 * The notes as lines of text, ended by NULL: merged, results first, then the worst; without
 * `verbose` at most NOTES_SHOWN others and a line that counts the rest.
 */
char **table_note_texts(const struct table *t);
void table_note_texts_free(char **texts);
/* Makes t->detail; json has it under its name. */
struct table *table_detail(struct table *t, const char *name, const struct column *columns,
			   int ncolumns);
void table_free(struct table *t);

/* A new row of V_NONE; valid until the next table_row. */
struct value *table_row(struct table *t);
struct value *table_cell(const struct table *t, size_t row, int column);
int table_column(const struct table *t, const char *name); /* -1: there is none */
/* Into the row's column of that name; a table without such a column ignores it. */
void table_set(const struct table *t, struct value *row, const char *column, struct value v);

struct value value_none(void);
struct value value_str(struct table *t, const char *s); /* copies; NULL gives V_NONE */
struct value value_int(int64_t n);
struct value value_real(double x); /* NaN and infinities give V_NONE */

int table_format_parse(const char *name, enum table_format *format); /* -EINVAL */
/*
 * Writes the table (tsv and csv: notes go to stderr). `width`: characters of a line of text, 0 for
 * as many as it takes; the other formats do without. 0 or -errno.
 */
int table_write_wide(const struct table *t, enum table_format format, int width, FILE *out);
int table_write(const struct table *t, enum table_format format, FILE *out);

#endif
