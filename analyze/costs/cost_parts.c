// SPDX-License-Identifier: GPL-2.0-only
/* Tables of costs by one part of the code: components, contexts, modules. */
#include "analyze/costs/costs.h"

#define PART_COLUMNS(part)                                                                      \
	{                                                                                       \
		{part, .type = V_STR}, {"samples", .type = V_INT, .what = "number of samples"}, \
			{"self_share", "%", V_REAL, .digits = 2,                                \
			 .what = "share of all samples' weights"},                              \
			COST_COLUMN("self"),                                                    \
	}

static const struct column components_columns[] = PART_COLUMNS("component");
static const struct column contexts_columns[] = PART_COLUMNS("context");
static const struct column modules_columns[] = PART_COLUMNS("module");

static int components_run(struct store *s, const struct query *q, struct table *t,
			  struct error *err)
{
	static const struct cost_table by = {.keys = {BY_COMPONENT}, .nkeys = 1};

	return cost_table_run(&by, s, q, t, err);
}

static int contexts_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	static const struct cost_table by = {.keys = {BY_CONTEXT}, .nkeys = 1};

	return cost_table_run(&by, s, q, t, err);
}

static int modules_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	static const struct cost_table by = {.keys = {BY_MODULE}, .nkeys = 1};

	return cost_table_run(&by, s, q, t, err);
}

const struct measure measure_components = {
	.name = "components",
	.what = "cost of groups of functions: data copy, TCP/IP, skb, ...",
	MEASURE_COLUMNS(components_columns),
	COST_OPTIONS(""),
	.spare = "samples self_share",
	.flags = MEASURE_COSTS,
	.collectors = "perf cpu workload",
	.run = components_run,
};

const struct measure measure_contexts = {
	.name = "contexts",
	.what = "cost in user space, syscalls, softirq, hardirq",
	MEASURE_COLUMNS(contexts_columns),
	COST_OPTIONS(""),
	.spare = "samples self_share",
	.flags = MEASURE_COSTS,
	.run = contexts_run,
};

const struct measure measure_modules = {
	.name = "modules",
	.what = "cost in the kernel, its modules, programs and libraries",
	MEASURE_COLUMNS(modules_columns),
	COST_OPTIONS(""),
	.spare = "samples self_share",
	.flags = MEASURE_COSTS,
	.run = modules_run,
};
