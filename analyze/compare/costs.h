/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of costs: the rows of both ends, and the notes below them. */
#ifndef ZC_COMPARE_COSTS_H
#define ZC_COMPARE_COSTS_H

#include "analyze/compare/diff.h"

/* A judged diff, its measure, side and unit. */
struct cost_list {
	struct diff d;
	const struct diff_spec *spec;
	const char *side;
	const char *unit; /* unit of work, as "KiB" */
};

/* Reads both ends and adds notes to `t`. Returns -ENODATA where no end has a row. On error `l` is
 * empty. */
int cost_list_read(struct cost_list *l, const struct comparison *c, const struct diff_spec *spec,
		   struct table *t, struct error *err);
void cost_list_free(struct cost_list *l);

/* Returns digits after the point: at least two, and enough for four digits of the smaller total. */
int cost_digits(const struct cost_list *l);
/* Sets the digits of all columns in ns. */
void cost_columns(struct table *t, int digits);

/* Adds the notes below the rows: movements, sum, the rules of the verdicts. */
void cost_list_add_notes(const struct cost_list *l, const struct comparison *c, struct table *t);

/* Returns "new", "vanished", or NULL. */
const char *cost_state(const struct diff_row *r);

void cost_list_outcome(const struct cost_list *l, struct outcome *out);

/* --- movements.c: the largest movements, as notes and as a detail table --- */

struct movement {
	const char *side, *unit; /* unit of work, as "KiB" */
	const struct diff_row *row;
};

struct movements {
	struct movement *list;
	size_t n, cap;
	size_t untested; /* the longest list with too few runs, though two or more at each end */
};

/* Adds all rows of a judged diff. The diff must outlive `m`. */
void movements_add(struct movements *m, const char *side, const struct diff *d, const char *unit);

/*
 * Adds the five largest movements to `t`, as notes and as its detail table "movements". Where no
 * movement is beyond its error, one note says so instead. Where more runs could tell, or where no
 * error is known, a note says that first. `thing` is the word for a row: "component". Returns the
 * number of the rows, which the list has first.
 */
size_t movements_add_notes(struct movements *m, const struct comparison *c, struct table *t,
			   const char *thing);
void movements_free(struct movements *m);

#endif
