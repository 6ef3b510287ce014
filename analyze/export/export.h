/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exports a capture's store or a bare perf.data in a format of other tools. A new
 * format is a file here with its `const struct format`, a row in commands/export.c, and a test.
 */
#ifndef ZC_EXPORT_H
#define ZC_EXPORT_H

#include "analyze/figures/tables.h"
#include "lib/output.h"

#include <stdio.h>

struct export
{
	struct store *store; /* without a store, q->bare.profile is what there is */
	const struct query *q;
	const char *path;	 /* NULL or "-": standard output */
	const char *table;	 /* csv: one of the store's tables; NULL: all, into a folder */
	bool count_samples;	 /* weights are numbers of samples; else periods added up */
	struct comparison *ends; /* the ends of a format of two ends, open; store is NULL */
	struct table notes;	 /* losses and warnings, and whether the result is lossy; no rows */
	struct sink out;	 /* export_open's */
};

/* The options of formats with costs per unit of work. */
#define OPT_EXPORT_RUNS "variant side run workload-only unit basis " OPT_SLICE OPT_SAMPLES
#define OPT_EXPORT_FILE "unit basis rate units seconds busy-ns " OPT_RECORDING OPT_SAMPLES

/* A format. Its own file defines it, the list in commands/export.c names it. */
struct format {
	const char *name, *what;
	const char *options[SOURCES]; /* as in struct measure */
	bool two_ends;		      /* takes BASE and NEW */
	bool binary;		      /* no text: a terminal does not get it */
	int (*write)(struct export *x, struct error *err);
};

/* Opens the output; called when the first bytes are ready, so that a failure leaves a file alone.
 */
static inline FILE *export_open(struct export *x, struct error *err)
{
	sink_open(&x->out, x->path, err);
	return x->out.f;
}

#endif
