/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a table lies on a page of so many characters a line. In this order, until it fits: words that
 * are the same in each row are said once; gaps and names get narrower; rows stand in sections under
 * the names that they begin with; columns that the table can spare (table.least) are left out. What
 * is wider still has all columns, in parts below each other that begin with the same few columns,
 * which tell all rows apart (table_keys.h), and have at their end what the table can spare; and
 * where these leave no room, or rows cannot be told apart, each row is a list of lines. Figures are
 * never cut.
 */
#ifndef ZC_TABLE_SHEET_H
#define ZC_TABLE_SHEET_H

#include "lib/str.h"
#include "lib/table_people.h"

struct sheet {
	struct people p; /* with the columns' widths on this page */
	const struct table *t;
	int width;	 /* 0: any */
	int gap;	 /* blanks between columns */
	int section;	 /* so many columns stand above their rows, hidden in them; 0: none */
	int keys;	 /* so many columns begin each part; 0: one part has all */
	bool prose;	 /* the last column is sentences, which are broken */
	bool as_lists;	 /* a row is a line for each column */
	struct str once; /* "side receiver", or empty */
	struct str left_out;
	int *natural; /* widths as the cells have them */
};

void sheet_of(struct sheet *sh, const struct table *t, int width);
void sheet_free(struct sheet *sh);

/* Is the row's section another than that of the row before? */
bool sheet_starts_section(const struct sheet *sh, size_t row);

#endif
