/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of all tables. Reports, comparisons and charts all get their figures through
 * measure_run, so that they cannot disagree.
 */
#ifndef ZC_TABLES_H
#define ZC_TABLES_H

#include "analyze/scope/measure.h"

const struct measure *measure_find(const char *name); /* NULL for an unknown name */
const struct measure *measure_at(size_t i);	      /* NULL past the last */
/* Returns m, or the table that the query's --by selects instead. */
const struct measure *measure_by(const struct measure *m, const struct query *q);

/* Initialises and fills `t`, the table of that name. The caller frees `t`, also after an error. */
int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err);

#endif
