/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a table for people, shared by the writers of text, markdown, HTML and commit
 * messages.
 *
 * struct people has every cell as a string. A value and its interval are one cell, "3.68 [3.51 ..
 * 3.90]" or "42.0 +-1.3". It leaves out a column without any measured value and names it in
 * `absent`, unless it is a column of words. Machine formats write all columns.
 */
#ifndef ZC_TABLE_LAYOUT_H
#define ZC_TABLE_LAYOUT_H

#include "lib/table.h"

/* The place of a column. Only a narrow page moves a column out of its rows. */
enum people_place { IN_ROWS, SAID_ONCE, IN_SECTION, LEFT_OUT };

struct people_column {
	const char *name;
	bool left;  /* strings are left-aligned, numbers are right-aligned */
	bool whole; /* never shortened: for numbers and for words with figures */
	int value;  /* index of the table's column */
	int full;   /* width of the widest cell in characters */
	int width;  /* width on the page */
	enum people_place place;
	int block; /* the block of a page with the column, from 0 */
};

struct people {
	struct people_column *columns;
	int ncolumns;
	char **cells; /* rows x ncolumns */
	size_t rows;
	char *absent; /* "power_w, roi_p", or NULL */
	struct arena arena;
};

void people_of(struct people *p, const struct table *t);
const char *people_cell(const struct people *p, size_t row, int column);
/* Returns the number of characters: the bytes that start a UTF-8 character. */
int people_width_of(const char *s);
void people_free(struct people *p);

/*
 * --- a page of text ---
 *
 * Fits a table into the width of a page. It takes these steps until the table fits, and never cuts
 * a figure:
 * 1. Print words that are equal in all rows once, above the table. Shorten gaps and names.
 * 2. Put rows into sections under the names with which they begin.
 * 3. Leave out the columns that the table can spare (table.least).
 * 4. Print the columns in blocks below each other. Each block begins with the columns that name the
 *    rows. If these leave no room, they stand above each row. A later block has only the rows with
 *    figures in it.
 */

struct sheet {
	struct people p; /* the columns have their widths on this page */
	const struct table *t;
	int width;	 /* 0: no limit */
	int indent;	 /* blanks before each row */
	int gap;	 /* blanks between columns */
	int section;	 /* the number of columns that stand above their rows */
	int keys;	 /* the number of columns with which each block begins */
	int blocks;	 /* at least 1 */
	bool prose;	 /* the last column has sentences, which wrap */
	struct str once; /* "side receiver", or empty */
	struct str left_out;
};

/* A page without sections always prints words that are equal in all rows once. */
void sheet_of(struct sheet *sh, const struct table *t, int width, int indent, bool sections);
void sheet_free(struct sheet *sh);

/* Returns whether a new section begins at this row. */
bool sheet_starts_section(const struct sheet *sh, size_t row);

/* Appends the two ends of a name around "..", `width` characters in all. The head is the longer. */
void fit_short(struct str *out, const char *s, int width);

/* --- the writers --- */

/* Writes a table as text of `width` characters a line. 0 is no limit. */
void table_write_text(const struct table *t, int width, FILE *out);

/* Writes a table for the commit message of a patch: 72 columns, ASCII, no tabs. */
void table_write_commit(const struct table *t, FILE *out);
/* Write the results of a gate: table_gate.c. */
void table_write_ktap(const struct table *t, FILE *out);
void table_write_junit(const struct table *t, FILE *out);

/* Returns "T²/C → 3" as "T^2/C -> 3". A character without a spelling becomes '?', and a control
 * character other than newline becomes a blank. */
char *ascii_of(struct arena *a, const char *s);

#endif
