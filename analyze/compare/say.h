/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands below every list of costs: movements, sum, the rules of its verdicts. */
#ifndef ZC_SAY_H
#define ZC_SAY_H

#include "analyze/compare/diff.h"

/* A judged diff and what it is of. */
struct cost_list {
	struct diff d;
	const struct diff_spec *spec;
	const char *side;
	const char *unit; /* of work: "KiB" */
};

/* Reads both ends; -ENODATA where neither has a row. Notes go to `t`. On error nothing is kept. */
int cost_list_read(struct cost_list *l, const struct comparison *c, const struct diff_spec *spec,
		   struct table *t, struct error *err);
void cost_list_free(struct cost_list *l);

/* Digits after the point: at least two, and so many that at least four of the smaller total count.
 */
int cost_digits(const struct cost_list *l);
/* Gives so many to the columns of ns. */
void cost_columns(struct table *t, int digits);

void cost_list_say(const struct cost_list *l, const struct comparison *c, struct table *t);

/* "new", "vanished", or NULL. */
const char *cost_state(const struct diff_row *r);

void cost_list_outcome(const struct cost_list *l, struct outcome *out);

#endif
