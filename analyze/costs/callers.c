// SPDX-License-Identifier: GPL-2.0-only
/* The direct callers and callees of a function. The rows of a table add up to its total. */
#include "analyze/costs/costs.h"

#include <errno.h>

static const struct column relative_columns[] = {
	{"symbol", .type = V_STR, .what = "the caller or callee"},
	{"dso", .type = V_STR, .what = "kernel, module or library with the caller or callee"},
	{"samples", .type = V_INT},
	{"total_share", "%", V_REAL, .digits = 2, .what = "share of samples through both"},
	COST_COLUMN("total"),
};

static int relatives_run(enum tally_relation relation, struct store *s, const struct query *q,
			 struct table *t, struct error *err)
{
	const struct cost_table relatives = {
		.keys = {BY_SYMBOL, BY_DSO}, .nkeys = 2, .relation = relation, .limit = 30};
	int rc;

	if (!q->symbol)
		return error_set(err, EINVAL,
				 "%s of which function? zcost report %s FUNCTION [CAPTURE]",
				 t->name, t->name);
	rc = cost_table_run(&relatives, s, q, t, err);
	if (rc || t->rows || q->comm || q->dso || q->cpus)
		return rc;
	return error_set(
		err, ENOENT,
		"no sample of these runs has a function '%s' in its call chain; 'zcost report functions --all' lists the functions",
		q->symbol);
}

static int callers_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	return relatives_run(TALLY_CALLERS, s, q, t, err);
}

static int callees_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	return relatives_run(TALLY_CALLEES, s, q, t, err);
}

#define RELATIVES OPT_SAMPLES "by dso components component-set limit all unit basis in "

#define RELATIVES_MEASURE                                                           \
	MEASURE_COLUMNS(relative_columns),                                          \
		.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only " RELATIVES, \
			    [SOURCE_PERF] = OPT_RECORDING OPT_DONE RELATIVES},      \
		.spare = "samples dso", .flags = MEASURE_COSTS | MEASURE_FUNCTION,  \
		.collectors = "perf cpu workload"

const struct measure measure_callers = {
	.name = "callers",
	.what = "cost of a FUNCTION by its direct callers",
	RELATIVES_MEASURE,
	.run = callers_run,
};

const struct measure measure_callees = {
	.name = "callees",
	.what = "cost of a FUNCTION by its direct callees, and of itself",
	RELATIVES_MEASURE,
	.run = callees_run,
};
