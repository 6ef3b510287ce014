// SPDX-License-Identifier: GPL-2.0-only
/* The tables of costs, each with the keys of its rows. */
#include "analyze/costs/costs.h"

#include <errno.h>

static const struct cost_table tables[] = {
	{.name = "functions", .keys = {BY_SYMBOL, BY_DSO}, .nkeys = 2, .totals = true, .limit = 30},
	{.name = "components", .keys = {BY_COMPONENT}, .nkeys = 1},
	{.name = "contexts", .keys = {BY_CONTEXT}, .nkeys = 1},
	{.name = "modules", .keys = {BY_MODULE}, .nkeys = 1},
	{.name = "groups", .keys = {BY_COMPONENT}, .nkeys = 1, .totals = true, .groups = true},
	{.name = "callers",
	 .keys = {BY_SYMBOL, BY_DSO},
	 .nkeys = 2,
	 .relation = TALLY_CALLERS,
	 .limit = 30},
	{.name = "callees",
	 .keys = {BY_SYMBOL, BY_DSO},
	 .nkeys = 2,
	 .relation = TALLY_CALLEES,
	 .limit = 30},
};

const struct cost_table *cost_table_find(const char *name)
{
	return array_find(table, tables, array_size(tables), !strcmp(table->name, name));
}

#define COST_MEASURE .flags = MEASURE_COSTS, .collectors = "perf cpu workload"

static const struct column functions_columns[] = {
	{COST_KEY("symbol", BY_SYMBOL), .what = "the function"},
	{COST_KEY("dso", BY_DSO), .what = "kernel, module or library with the function"},
	COST_SAMPLES("samples with the function as the leaf"),
	COST_SHARE(self, "share of the function alone"),
	COST_SHARE(total, "share of the function and its callees"),
	COST_COLUMN(self),
	COST_COLUMN(total),
};

const struct measure measure_functions = {
	.name = "functions",
	.what = "cost of each function: self, and total with its callees",
	MEASURE_COLUMNS(functions_columns),
	COST_OPTIONS("children"),
	.spare = "samples total_share dso self_share",
	COST_MEASURE,
	.run = cost_table_run,
};

/* --- by one part of the code --- */

#define PART_COLUMNS(part, key)                                                               \
	{                                                                                     \
		{COST_KEY(part, key)}, COST_SAMPLES("number of samples"),                     \
			COST_SHARE(self, "share of all samples' weights"), COST_COLUMN(self), \
	}

static const struct column components_columns[] = PART_COLUMNS("component", BY_COMPONENT);
static const struct column contexts_columns[] = PART_COLUMNS("context", BY_CONTEXT);
static const struct column modules_columns[] = PART_COLUMNS("module", BY_MODULE);

#define PART_MEASURE(part, columns, more, about)                                               \
	{                                                                                      \
		.name = (part), .what = (about), MEASURE_COLUMNS(columns), COST_OPTIONS(more), \
		.spare = "samples self_share", COST_MEASURE, .run = cost_table_run,            \
	}

const struct measure measure_components =
	PART_MEASURE("components", components_columns, "children",
		     "cost of groups of functions: data copy, TCP/IP, skb, ...");
const struct measure measure_contexts = PART_MEASURE(
	"contexts", contexts_columns, "", "cost in user space, syscalls, softirq, hardirq");
const struct measure measure_modules =
	PART_MEASURE("modules", modules_columns, "children",
		     "cost in the kernel, its modules, programs and libraries");

/* --- by the user's groups --- */

/*
 * A group counts as one function: self adds up its functions, and total counts a sample once if any
 * of them is in its call chain.
 */
static const struct column groups_columns[] = {
	{COST_KEY("group", BY_COMPONENT), .what = "name of the group"},
	COST_SAMPLES("samples with one of its functions as the leaf"),
	COST_SHARE(self, "share of the group's functions alone"),
	COST_SHARE(total, "share with any of them in the call chain"),
	COST_COLUMN(self),
	COST_COLUMN(total),
};

const struct measure measure_groups = {
	.name = "groups",
	.what = "cost of your own groups of functions: --group 'alloc=build_skb,kmem_cache_*'",
	MEASURE_COLUMNS(groups_columns),
	COST_OPTIONS("children group"),
	.spare = "samples total_share self_share",
	COST_MEASURE,
	.run = cost_table_run,
};

/* --- the direct callers and callees of a function: the rows add up to its total --- */

static const struct column relative_columns[] = {
	{"symbol", .type = V_STR, .what = "the caller or callee"},
	{COST_KEY("dso", BY_DSO), .what = "kernel, module or library with the caller or callee"},
	{"samples", .type = V_INT},
	COST_SHARE(total, "share of samples through both"),
	COST_COLUMN(total),
};

static int relatives_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	int rc;

	if (!q->symbol)
		return error_set(err, EINVAL,
				 "%s of which function? zcost report %s FUNCTION [CAPTURE]",
				 t->name, t->name);
	rc = cost_table_run(s, q, t, err);
	if (rc || t->rows || q->comm || q->dso || q->cpus)
		return rc;
	return error_set(
		err, ENOENT,
		"no sample of these runs has a function '%s' in its call chain; 'zcost report functions --all' lists the functions",
		q->symbol);
}

#define RELATIVES OPT_SAMPLES "by dso components component-set limit all unit basis in "

#define RELATIVES_MEASURE                                                           \
	MEASURE_COLUMNS(relative_columns),                                          \
		.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only " RELATIVES, \
			    [SOURCE_PERF] = OPT_RECORDING OPT_DONE RELATIVES},      \
		.spare = "samples dso", .flags = MEASURE_COSTS | MEASURE_FUNCTION,  \
		.collectors = "perf cpu workload", .run = relatives_run

const struct measure measure_callers = {
	.name = "callers",
	.what = "cost of a FUNCTION by its direct callers",
	RELATIVES_MEASURE,
};

const struct measure measure_callees = {
	.name = "callees",
	.what = "cost of a FUNCTION by its direct callees, and of itself",
	RELATIVES_MEASURE,
};
