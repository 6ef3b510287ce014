// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/block_table.h"

#include "analyze/measures/power.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int block_list_read(struct block_list *list, struct store *s, const struct query *q,
		    enum purpose purpose, struct error *err)
{
	struct block *blocks = NULL;
	int n, i, rc;

	*list = (struct block_list){0};
	rc = scope_estimator(s, q, &list->estimator, err);
	if (!rc && q->power_kind)
		rc = power_kind_check(q->power_kind, err);
	if (rc)
		return rc;
	n = scope_blocks(s, q, &blocks, err);
	if (n < 0)
		return n;
	list->blocks = xcalloc((size_t)n + 1, sizeof(*list->blocks));
	for (i = 0; i < n; i++) {
		struct block_runs *b = &list->blocks[list->n++];

		b->block = blocks[i];
		b->n = scope_runs(s, q, &blocks[i], purpose, &b->runs, err);
		if (b->n < 0) {
			rc = b->n;
			b->n = 0;
			break;
		}
	}
	free(blocks);
	return rc;
}

void block_list_free(struct block_list *list)
{
	int i;

	for (i = 0; i < list->n; i++)
		free(list->blocks[i].runs);
	free(list->blocks);
	*list = (struct block_list){0};
}

/* What so few runs can say. */
static void note_interval(const struct block_list *list, struct table *t)
{
	static const char *const intervals[] = {
		[EST_MEDIAN] = "median; its interval is between order statistics, 95 % from 6 runs "
			       "on, min..max below",
		[EST_MIDDLE] = "mean of the runs but the first and the last; its interval is "
			       "Student's, 95 %",
		[EST_MEAN] = "mean; its interval is Student's, 95 %",
	};
	int most = 0, i;

	for (i = 0; i < list->n; i++)
		most = list->blocks[i].n > most ? list->blocks[i].n : most;
	if (!most)
		return;
	if (most > 1)
		note_add(&t->notes, over_runs, intervals[list->estimator]);
	else
		note_add(&t->notes, one_run);
}

void block_list_notes(const struct block_list *list, struct store *s, struct table *t)
{
	const char *doubt = NULL;
	int i;

	note_interval(list, t);
	for (i = 0; i < list->n; i++) {
		const struct block_runs *b = &list->blocks[i];

		doubt = doubt ? doubt : scope_doubt(b->runs, b->n);
		if (!b->n)
			note_add_of(&t->notes, b->block.variant, b->block.side, no_usable_run);
		scope_notes(s, b->runs, b->n, t);
	}
	if (doubt)
		note_add(&t->notes, no_measure_pass, doubt);
	scope_capture_notes(s, t);
}

void put_estimate(struct table *t, struct value *row, const char *column, const struct estimate *e)
{
	table_set(t, row, column,
		  e->n < 2 ? value_real(e->value) : value_estimate(t, e->value, e->lo, e->hi));
}
