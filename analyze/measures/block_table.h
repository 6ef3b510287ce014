/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of one row, or a few, for each (variant, side): what they have in common. */
#ifndef ZC_BLOCK_TABLE_H
#define ZC_BLOCK_TABLE_H

#include "analyze/measures/scope.h"

struct block_runs {
	struct block block;
	struct run *runs; /* of the pass that figures come from */
	int n;
};

struct block_list {
	struct block_runs *blocks;
	int n;
	enum estimator estimator;
};

/* All blocks that the query asks for with their runs. */
int block_list_read(struct block_list *list, struct store *s, const struct query *q,
		    enum purpose purpose, struct error *err);
void block_list_free(struct block_list *list);

/* Notes: the estimator, and the warnings and losses of the runs. */
void block_list_notes(const struct block_list *list, struct store *s, struct table *t);

/* Fills the column, where the table has it; one run has no interval. */
void put_estimate(struct table *t, struct value *row, const char *column, const struct estimate *e);

#endif
