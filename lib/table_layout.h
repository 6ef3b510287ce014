/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout of a table for people, shared by the writers of text, markdown and commit messages.
 *
 * struct people has every cell as a string. A value and its interval are one cell, "3.68 [3.51 ..
 * 3.90]" or "42.0 +-1.3". It leaves out a column without any measured value and names it in
 * `absent`, unless it is a column of words. Machine formats write all columns.
 */
#ifndef ZC_TABLE_LAYOUT_H
#define ZC_TABLE_LAYOUT_H

#include "lib/str.h"
#include "lib/table.h"

/* The place of a column. Only a narrow page moves a column out of its rows. */
enum people_place { IN_ROWS, SAID_ONCE, IN_SECTION, SPARED };

struct people_column {
	const char *name;
	bool left;     /* strings are left-aligned, numbers are right-aligned */
	bool whole;    /* never shortened: for numbers and for words with figures */
	int value;     /* index of the table's column */
	bool interval; /* the values may be estimates */
	int width;     /* width of the widest cell in characters */
	enum people_place place;
	bool bare; /* cells omit their intervals */
	bool key;  /* each part of the table begins with this column */
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
/* Sets whether the column's cells omit intervals, and updates the column's width. */
void people_set_bare(struct people *p, const struct table *t, int column, bool bare);
const char *people_cell(const struct people *p, size_t row, int column);
/* Returns the number of characters: the bytes that start a UTF-8 character. */
int people_width_of(const char *s);
void people_free(struct people *p);

/*
 * --- a narrow page (table_fit.c) ---
 *
 * A page may shorten names and hide columns. It never cuts a figure.
 */

/* Returns the width of a line of the shown columns, with `gap` blanks between two of them. */
int fit_width(const struct people *p, int gap);

/* Shortens the widest names, to no less than `least`, until a line has `width` characters. Returns
 * whether it does. */
bool fit_names(struct people *p, int gap, int width, int least);

/* Hides columns with the same word in each row and adds them to `once`: "side receiver". */
void fit_hide_constant(struct people *p, struct str *once);

/* Appends the two ends of a name around "..", `width` characters in all. The head is the longer. */
void fit_short(struct str *out, const char *s, int width);
void fit_put_short(FILE *out, const char *s, int width);

/*
 * --- a page of text (table_sheet.c) ---
 *
 * Fits a table into the width of a page. It takes these steps until the table fits:
 * 1. Print words that are equal in all rows once, above the table.
 * 2. Shorten gaps and names.
 * 3. Put rows into sections under the names with which they begin.
 * 4. Leave out the columns that the table can spare (table.least).
 * 5. Print all columns, in parts below each other. Each part begins with the same few key columns,
 *    which distinguish all rows. The columns that the table can spare come last.
 * 6. If the keys leave no room, or no keys distinguish the rows, print each row as a list of lines.
 */

struct sheet {
	struct people p; /* the columns have their widths on this page */
	const struct table *t;
	int width;	 /* 0: no limit */
	int gap;	 /* blanks between columns */
	int section;	 /* the number of columns that stand above their rows */
	int keys;	 /* the number of key columns; 0: one part has all columns */
	bool prose;	 /* the last column has sentences, which wrap */
	bool as_lists;	 /* a row is a line for each column */
	struct str once; /* "side receiver", or empty */
	struct str left_out;
	int *natural; /* the widths of the full cells */
};

void sheet_of(struct sheet *sh, const struct table *t, int width);
void sheet_free(struct sheet *sh);

/* Returns whether a new section begins at this row. */
bool sheet_starts_section(const struct sheet *sh, size_t row);

/*
 * --- the keys of a sheet in parts (table_keys.c): the fewest columns from the left that
 * distinguish all rows ---
 */

/* Returns whether the keys, shortened to their widths, distinguish all rows. */
bool sheet_is_distinct(const struct sheet *sh);

/* Marks the keys. Returns false if no columns distinguish all rows, and marks all names then. */
bool sheet_choose_keys(struct sheet *sh);

/* Unmarks the words that are not needed to distinguish rows. Returns whether it unmarked any. */
bool sheet_spare_keys(struct sheet *sh);

/* Puts the keys first and sets sh->keys. Puts the columns that the table can spare last. */
void sheet_arrange(struct sheet *sh);

/* --- the writers --- */

/* Writes a table as text of `width` characters a line. 0 is no limit. */

void table_write_text(const struct table *t, int width, FILE *out);

/* Writes a table for the commit message of a patch: 72 columns, ASCII, no tabs. */
void table_write_commit(const struct table *t, FILE *out);

/* Returns "T²/C → 3" as "T^2/C -> 3". A character without a spelling becomes '?', and a control
 * character other than newline becomes a blank. */
char *ascii_of(struct arena *a, const char *s);

#endif
