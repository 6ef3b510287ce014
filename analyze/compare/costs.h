/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of costs: the rows of both ends, and the notes below them. */
#ifndef ZC_COMPARE_COSTS_H
#define ZC_COMPARE_COSTS_H

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

void cost_list_add_notes(const struct cost_list *l, const struct comparison *c, struct table *t);

/* "new", "vanished", or NULL. */
const char *cost_state(const struct diff_row *r);

void cost_list_outcome(const struct cost_list *l, struct outcome *out);

/* --- movements.c: the largest movements, as notes and as a detail table --- */

struct movement {
	const char *side, *unit; /* of work: "KiB" */
	const struct diff_row *row;
};

struct movements {
	struct movement *list;
	size_t n, cap;
	size_t untested; /* rows of a list that its runs, two and more a side, are too few to test
			  */
};

/* Adds all rows of a judged diff, which must live until movements_free. */
void movements_add(struct movements *m, const char *side, const struct diff *d, const char *unit);

/*
 * Notes of `t`, and its detail "movements": the five largest. When none of the five is beyond the
 * error of its measurement it says just that, but where more runs might have told it how many these
 * are, and where none has a known error that; `thing` is the word for a row, "component".
 */
void movements_add_notes(struct movements *m, const struct comparison *c, struct table *t,
			 const char *thing);
void movements_free(struct movements *m);

#endif
