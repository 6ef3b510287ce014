/* SPDX-License-Identifier: GPL-2.0-only */
/* What a score is made of; and which part is missing where it is absent (scores_inputs.c). */
#ifndef ZC_SCORES_H
#define ZC_SCORES_H

#include "analyze/measures/block_table.h"
#include "analyze/measures/power.h"

struct score;

/* What a figure is made for. */
struct scoring {
	const struct score *score;
	const struct query *q;
	enum power_source source; /* the weakest of those used */
	const char *kind;	  /* of power; NULL: none used, or a model's */
	bool shared;		  /* the hosts also run sides that are not asked for */
	char *twice;		  /* CPUs that a sum would count twice: so there is none; owned */
};

/* Of the sides of one repeat, one or both; NAN where an input is missing. */
typedef double (*score_fn)(struct store *s, const struct run *const sides[], int n,
			   struct scoring *c);

struct score {
	const char *name, *unit, *better;
	score_fn figure;
	const char *over, *under; /* metrics, or INPUT_CALLS, INPUT_POWER */
	double scale;
	enum purpose purpose;	  /* which runs it comes from */
	bool of_cpus;		  /* measured by CPU, whoever ran there */
	const char *unit_of_work; /* only of runs whose work is counted in it; NULL: of all */
};

#define INPUT_CALLS "calls"
#define INPUT_POWER "power"

/* Which input no run of a side has, and the way out; NULL: each is there in some run. */
const char *score_absent(struct store *s, const struct query *q,
			 const struct block_runs *const sides[], int n, const struct score *k);

#endif
