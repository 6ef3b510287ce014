/* SPDX-License-Identifier: GPL-2.0-only */
/* What a score is made of; and which part is missing where it is absent. */
#ifndef ZC_SCORES_H
#define ZC_SCORES_H

#include "analyze/measures/power.h"
#include "analyze/measures/scope.h"
#include "lib/str.h"
#include "lib/table.h"

/* Which scores have no value, for whom, and why: gathered, so that it is said once. */

struct absence {
	char *reason;		  /* NULL: the workload sent datagrams */
	struct str blocks, names; /* "a receiver, b total"; "ipc, cycles_per_byte" */
	size_t nblocks, nnames;
};

struct absences {
	struct absence *list;
	size_t n, cap;
	size_t first; /* of the score at hand */
};

/* The score at hand has no value in this block; reason NULL: the workload sent datagrams. */
void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason);
/* The score at hand is done; `blocks`: how many it was wanted for. */
void absences_next(struct absences *a, size_t blocks);
void absences_say(const struct absences *a, struct table *t);
void absences_free(struct absences *a);

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
