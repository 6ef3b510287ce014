/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measure fills one table from the store (or from bare files that the query carries). A new table
 * is one file with its `const struct measure`, its row in the list in measure.c, and a test.
 * Reports, comparisons and charts all get their figures through measure_run, so that they cannot
 * disagree.
 */
#ifndef ZC_MEASURE_H
#define ZC_MEASURE_H

#include "analyze/model/notes.h"
#include "analyze/model/query.h"
#include "analyze/store/store.h"
#include "lib/alloc.h"
#include "lib/table.h"

/* What a feature's figures are made from: a capture, or a bare perf.data, text or given numbers. */
enum data_source { SOURCE_CAPTURE, SOURCE_PERF, SOURCE_TEXT, SOURCE_NUMBERS, SOURCES };

/* Options that several features take (analyze/commands/options_table.c), for their lists. */
#define OPT_SLICE     "from to jobs "
#define OPT_RUNS      "variant side run estimator " OPT_SLICE
#define OPT_SAMPLES   "cpu comm event "
#define OPT_MODEL     "power-model power-kind "
#define OPT_RECORDING OPT_SLICE "kallsyms vmlinux inline symfs buildid-dir "
#define OPT_DONE      "units seconds busy-ns cycles instructions "

enum measure_flags {
	MEASURE_COSTS = 1,	 /* figures are costs of code, out of profiles */
	MEASURE_TRACEPOINTS = 2, /* reads the tracepoints of a perf.data, not its profile */
	MEASURE_FUNCTION = 4,	 /* the argument after the table's name is a function */
	MEASURE_RATES = 8,	 /* --rate may list several rates */
};

/* A table. Its own file defines it, the list in measure.c names it, nothing else knows it. */
struct measure {
	const char *name, *what;
	const struct column *columns;
	int ncolumns;
	/* The options it takes, "variant side run", for each source; NULL: that is no source.
	 * Options that the table refuses itself, with a better reason, are among them. */
	const char *options[SOURCES];
	/* Columns that a narrow terminal leaves out, the least important first. Costs and evidence
	 * are never among them; "value[]" is the interval of the column "value". NULL: it wraps
	 * instead. */
	const char *spare;
	/* The collectors that its figures are made from, "perf cpu workload": a loss of another one
	 * does not concern them. NULL: any may. */
	const char *collectors;
	unsigned int flags;
	/* What --by turns it into; by_key NULL: with any key. */
	const struct measure *by;
	const char *by_key;
	int (*run)(struct store *, const struct query *, struct table *, struct error *);
};
#define MEASURE_COLUMNS(list) .columns = list, .ncolumns = (int)array_size(list)

const struct measure *measure_find(const char *name); /* or NULL */
const struct measure *measure_at(size_t i);	      /* NULL past the last */
/* The measure itself, or what the query's --by turns it into. */
const struct measure *measure_by(const struct measure *m, const struct query *q);

/* Fills `t` (initialised here, freed by the caller also after an error). */
int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err);

#endif
