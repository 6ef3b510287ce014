/* SPDX-License-Identifier: GPL-2.0-only */
/* What is worked out of the histograms of receives and returns: parts of a whole, in percent. */
#ifndef ZC_SIZE_PARTS_H
#define ZC_SIZE_PARTS_H

#include "analyze/measures/block_table.h"

/*
 * The figure_metric of a family; a bucket of a histogram that the run has, and that is not in it,
 * is a known 0.
 */
double size_metric(struct store *s, const struct run *r, const void *name);

/* The rows that a bucket, "recv_size_log2:16", gives: "recv_pct_log2:16". */
void put_size_parts(struct store *s, const struct block_runs *b, enum estimator est,
		    const char *bucket, struct table *t);

/* A row of a table of named figures (families.c); none where no run has it. */
void put_named(struct table *t, const struct block *b, const char *name, const char *unit,
	       const struct estimate *e);

#endif
