/* SPDX-License-Identifier: GPL-2.0-only */
/* Scores of one variant, their inputs, and the input that is missing where a score is absent. */
#ifndef ZC_SCORES_H
#define ZC_SCORES_H

#include "analyze/probes/power/table.h"
#include "analyze/scope/scope.h"
#include "lib/str.h"
#include "lib/table.h"

struct score;

/* The state of one score's computation. */
struct scoring {
	const struct score *score;
	const struct query *q;
	enum power_source source; /* the weakest source used */
	const char *kind;	  /* kind of power; NULL for none or a model */
	bool shared;		  /* the hosts also run sides that the query excludes */
	char *twice;		  /* CPUs that a sum would count twice, or NULL; owned */
};

/* Returns the score of one or both sides of a repeat, or NAN if an input is missing. */
typedef double (*score_fn)(struct store *s, const struct run *const sides[], int n,
			   struct scoring *c);

struct score {
	const char *name, *unit, *better, *scope;
	score_fn figure;
	/* Metrics, or INPUT_CALLS, INPUT_POWER. The cost of work has the rate of that work in
	 * `under`. */
	const char *over, *under;
	double scale;
	enum purpose purpose;	  /* selects the runs */
	bool of_cpus;		  /* measured by CPU, for all processes on the CPU */
	const char *unit_of_work; /* only for work counted in this unit; NULL for any work */
};

/* Says that the CPU time of the workload's processes is missing, and how to get it. */
extern const char busy_absent[];

#define INPUT_CALLS "calls"
#define INPUT_POWER "power"

/*
 * Returns which input no run of a side has and how to get the input, or NULL if each input is in
 * some run.
 */
const char *score_absent(struct store *s, const struct query *q, const struct block_runs *sides,
			 int n, const struct score *k);

#endif
