/* SPDX-License-Identifier: GPL-2.0-only */
/* The gate of compare, --fail-on: its rules, the rows with a verdict, and the result. */
#ifndef ZC_COMPARE_GATE_H
#define ZC_COMPARE_GATE_H

#include "analyze/compare/figure_runs.h"

/* A rule of --fail-on: rows that match `name` fail if they are worse by `percent` or more. */
struct gate_rule {
	char *name;	/* a glob of ROW or of "SIDE ROW"; NULL: every row with a verdict */
	double percent; /* share of the base */
	bool used;	/* a row has the name */
	bool tested;	/* such a row has a verdict */
};

/* Starts as zeros. */
struct gate {
	struct gate_rule *rules;
	size_t n, cap;
	bool by_name; /* rows that are added now are checked by a rule with a name alone */
	struct table rows;
	unsigned checked, failed, verdicts[VERDICT_OTHERS + 1]; /* gated rows, by gate_judge */
};

void gate_free(struct gate *g);

/* Adds the rule "worse" or "NAME>PERCENT%". Returns false if the text is neither. */
bool gate_add_rule(struct gate *g, const char *text);
/* Returns the first rule that asks for less than `percent`, or NULL. */
const struct gate_rule *gate_rule_below(const struct gate *g, double percent);

/* Adds a row; the texts are copied. The side may be "". Without a gate nothing happens. */
void gate_add_row(struct gate *g, const char *side, const char *name, const char *unit,
		  const struct change *change);

/* Returns the name of a rule that no row has, or NULL. */
const char *gate_missing(struct gate *g);
/* Sets the results of the rows, and counts them. Without a rule every row is checked. */
void gate_judge(struct gate *g);
/* Prints the rows that failed, or why the gate could not tell. Returns an exit status, `otherwise`
 * if the gate passes. `needed` is the number of runs a side that verdicts take. */
int gate_print(const struct gate *g, size_t needed, int otherwise);

#endif
