/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the columns of a perf report table stand: by the dotted line below the heading, or by the
 * separator of -t. With it any column may stand anywhere; where a copy has lost it, rows are taken
 * apart by what they look like (perf_report_row.c). For perf_report.c only.
 */
#ifndef ZC_PERF_REPORT_GRID_H
#define ZC_PERF_REPORT_GRID_H

#include "analyze/ingest/perf_report_row.h"

/* From the heading and the dotted line below it. False: these are no such lines. */
bool grid_from_dots(struct grid *g, const char *heading, const char *dots);
/* From the heading of `perf report -t`. */
bool grid_from_separated(struct grid *g, const char *heading);

/*
 * As row_read; GRID_MISFIT: the line is a row, but not of these columns' places (a copy that was
 * indented). Leaves `line` as it is.
 */
enum { GRID_MISFIT = ROW_UNMARKED + 1 };
int grid_row(struct row_reader *r, const char *line, struct flat_row *row);

#endif
