/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the tables of measures by the names of their columns. A column or a value that is not
 * there is NaN, "" or no row: never 0.
 */
#ifndef ZC_PLOT_ROWS_H
#define ZC_PLOT_ROWS_H

#include "lib/stats.h"
#include "lib/table.h"

#include <stdbool.h>

/* Reads a cost with its interval, which does not go below 0. The number of runs is that of the
 * column "runs". */
struct estimate row_estimate(const struct table *t, size_t row, const char *column);

/* What its costs are per: "packet" of a column in "ns/packet"; "KiB" where the table does not tell.
 */
const char *row_unit(const struct table *t, const char *column);

/* The first row at or after `from` of this variant and side (NULL: any); -1 past the last. */
long row_find(const struct table *t, size_t from, const char *variant, const char *side);

#endif
