// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/measure.h"

#include "analyze/measures/costs.h"
#include "analyze/measures/functions_flat.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static const struct cost_table functions = {
	.keys = {BY_SYMBOL, BY_DSO}, .nkeys = 2, .totals = true, .limit = 30};

#define FUNCTION_COLUMNS                                                                       \
	{"symbol", .type = V_STR, .what = "the function"},                                     \
		{"dso", .type = V_STR, .what = "kernel, module or library that holds it"},     \
		{"samples", .type = V_INT, .what = "samples with it as the leaf"},             \
		{"self_share", "%", V_REAL, .digits = 2, .what = "its own share"},             \
		{"total_share", "%", V_REAL, .digits = 2, .what = "share with what it calls"}, \
		{"self_ns",                                                                    \
		 "ns",                                                                         \
		 V_REAL,                                                                       \
		 .digits = 1,                                                                  \
		 .spread = SPREAD_HALF,                                                        \
		 .what = "self_share x basis"},                                                \
	{                                                                                      \
		"total_ns", "ns", V_REAL, .digits = 1, .spread = SPREAD_HALF,                  \
					  .what = "total_share x basis"                        \
	}

static const struct column functions_columns[] = {FUNCTION_COLUMNS};
static const struct column by_comm[] = {{"comm", .type = V_STR}, FUNCTION_COLUMNS};

static int functions_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	bool comm = q->by && strstr(q->by, "comm");

	if (!q->flat)
		return cost_table_run(&functions, s, q, t, err);
	t->columns = comm ? by_comm : functions_columns;
	t->ncolumns = comm ? (int)array_size(by_comm) : (int)array_size(functions_columns);
	return functions_from_flat(q->flat, q, t, err);
}

const struct measure measure_functions = {
	.name = "functions",
	.what = "cost of each function: self, and with what it calls",
	MEASURE_COLUMNS(functions_columns),
	COST_OPTIONS(""),
	.spare = "samples total_share dso self_share",
	.flags = MEASURE_COSTS,
	.collectors = "perf cpu workload",
	.run = functions_run,
};
