/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table as people read it, for text and markdown: every cell a string. A value and its interval
 * are one cell, "3.68 [3.51 .. 3.90]" or "42.0 +-1.3"; a column in which nothing was measured is
 * left out and, but for words, named in `absent`. Machine formats keep all.
 */
#ifndef ZC_TABLE_PEOPLE_H
#define ZC_TABLE_PEOPLE_H

#include "lib/table.h"

/* Where a column stands; elsewhere than in its rows only on a narrow page: table_fit.h,
 * table_sheet.h. */
enum people_place { IN_ROWS, SAID_ONCE, IN_SECTION, SPARED };

struct people_column {
	const char *name;
	bool left;     /* strings stand left, numbers right */
	bool whole;    /* never shortened: numbers, and words with figures in them */
	int value;     /* column of the table */
	bool interval; /* its values may be estimates */
	int width;     /* characters of the widest cell */
	enum people_place place;
	bool bare; /* its intervals are left out */
	bool key;  /* in parts below each other: each begins with it */
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
/* With `bare` its intervals are left out of the cells; its width is that of what is in them. */
void people_set_bare(struct people *p, const struct table *t, int column, bool bare);
const char *people_cell(const struct people *p, size_t row, int column);
/* Characters that a terminal has for it: bytes that start a UTF-8 character. */
int people_width_of(const char *s);
void people_free(struct people *p);

#endif
