/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table as text. Within `width` characters (0: as many as it takes) names are shortened, the
 * columns that the table can spare (table.least) are left out and named below, and what is wider
 * still goes on in further parts below, which begin with the same names; where not even that fits,
 * a row is a list of lines. Figures are never cut.
 */
#ifndef ZC_TABLE_TEXT_H
#define ZC_TABLE_TEXT_H

#include "lib/table.h"

void table_write_text(const struct table *t, int width, FILE *out);

#endif
