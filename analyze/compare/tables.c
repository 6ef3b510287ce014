// SPDX-License-Identifier: GPL-2.0-only
/* The list of comparisons, and those that are lists of costs: one engine, several columns. */
#include "analyze/compare/compare.h"

#include "analyze/compare/diff.h"
#include "analyze/compare/say.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The list of tables, in the order of --help; the first that a source can make is its default. */
// clang-format off
#define TABLES(row) \
	row(metrics) \
	row(functions) \
	row(components) \
	row(contexts) \
	row(modules) \
	row(groups) \
	row(waterfall) \
	row(syscalls) \
	row(texts) \
	row(self_test)
// clang-format on

#define DECLARATION(name) extern const struct compare_table comparison_##name;
#define ADDRESS(name)	  &comparison_##name,

TABLES(DECLARATION)
static const struct compare_table *const tables[] = {TABLES(ADDRESS)};

const struct compare_table *compare_table_at(size_t i)
{
	return i < array_size(tables) ? tables[i] : NULL;
}

const struct compare_table *compare_table_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(tables); i++)
		if (tables[i]->what && !strcmp(tables[i]->name, name))
			return tables[i];
	return NULL;
}

const struct compare_table *compare_table_for(enum data_source source)
{
	size_t i = 0;

	while (i + 1 < array_size(tables) && !tables[i]->options[source])
		i++;
	return tables[i];
}

void compare_table_init(const struct compare_table *table, struct table *t)
{
	table_init(t, table->table, table->columns, table->ncolumns);
	t->least = table->spare;
}

int compare_table_run(const struct compare_table *table, struct comparison *c, struct table *t,
		      struct outcome *out, struct error *err)
{
	c->table = table;
	compare_table_init(table, t);
	return table->run(c, t, out, err);
}

#define COST_COLUMNS                                                                           \
	{"base_ns", "ns", V_REAL, .digits = 2, .what = "cost in BASE, ns per unit of work"},   \
		{"new_ns", "ns", V_REAL, .digits = 2, .what = "cost in NEW"},                  \
	{                                                                                      \
		"delta_ns", "ns", V_REAL, .digits = 2, .spread = SPREAD_HALF, .stem = "delta", \
					  .what = "new_ns - base_ns: adds up to the total's"   \
	}
#define TEST_COLUMNS                                                                               \
	{"verdict", .type = V_STR, .what = "better, worse, ~ or too few runs; empty: not tested"}, \
		DELTA_BOUNDS,                                                                      \
		{"p", .type = V_REAL, .digits = 4,                                                 \
		 .what = "exact Mann-Whitney, two-sided, Holm's correction"},                      \
	{                                                                                          \
		"state", .type = V_STR,                                                            \
			 .what = "new or vanished: no sample at one end; empty: both"              \
	}
#define KEY(name)                   \
	{                           \
		name, .type = V_STR \
	}
#define PROFILED .value = "self_ns", .samples = "samples"

static const struct column function_columns[] = {KEY("symbol"), KEY("dso"), COST_COLUMNS,
						 TEST_COLUMNS};
const struct diff_spec function_spec = {
	.measure = "functions", .key = "symbol", .key2 = "dso", PROFILED};

static const struct column component_columns[] = {KEY("component"), COST_COLUMNS, TEST_COLUMNS};
const struct diff_spec component_spec = {.measure = "components", .key = "component", PROFILED};

static const struct column context_columns[] = {KEY("context"), COST_COLUMNS, TEST_COLUMNS};
static const struct diff_spec context_spec = {.measure = "contexts", .key = "context", PROFILED};

static const struct column module_columns[] = {KEY("module"), COST_COLUMNS, TEST_COLUMNS};
static const struct diff_spec module_spec = {.measure = "modules", .key = "module", PROFILED};

static const struct column group_columns[] = {
	KEY("group"),
	COST_COLUMNS,
	{"base_total_ns", "ns", V_REAL, .digits = 2,
	 .what = "with what its functions call, in BASE"},
	{"new_total_ns", "ns", V_REAL, .digits = 2, .what = "in NEW"},
	{"delta_total_ns", "ns", V_REAL, .digits = 2, .what = "the difference; not tested"},
	TEST_COLUMNS,
};
static const struct diff_spec group_spec = {
	.measure = "groups", .key = "group", .count = "total_ns", .whole = "contexts", PROFILED};

static const struct column syscall_columns[] = {
	KEY("syscall"),
	COST_COLUMNS,
	{"base_calls", "1/MiB", V_REAL, .digits = 3, .what = "calls per MiB in BASE"},
	{"new_calls", "1/MiB", V_REAL, .digits = 3, .what = "calls per MiB in NEW"},
	{"delta_calls", "1/MiB", V_REAL, .digits = 3},
	TEST_COLUMNS,
};
const struct diff_spec syscall_spec = {.measure = "syscalls",
				       .key = "syscall",
				       .value = "ns_per_kib",
				       .count = "calls_per_mib",
				       .syscalls = true};

void outcome_count(struct outcome *out, enum verdict v)
{
	out->worse += v == VERDICT_WORSE;
	out->judged += v != VERDICT_NONE && v != VERDICT_FEW;
	out->unjudged += v == VERDICT_FEW;
}

const struct diff_spec *diff_spec_find(const char *name)
{
	const struct compare_table *table = compare_table_find(name);

	return table && table->spec && !table->spec->whole ? table->spec : NULL;
}

static void put_row(struct table *t, const struct diff_spec *spec, const struct diff_row *r)
{
	static const char *const counts[2][3] = {
		{"base_total_ns", "new_total_ns", "delta_total_ns"},
		{"base_calls", "new_calls", "delta_calls"}};
	struct value *row = table_row(t);

	table_set(t, row, spec->key, value_str(t, r->key));
	if (spec->key2)
		table_set(t, row, spec->key2, value_str(t, r->key2));
	table_set(t, row, "base_ns", value_real(r->cost[BASE]));
	table_set(t, row, "new_ns", value_real(r->cost[NEW]));
	table_set(t, row, "delta_ns", diff_delta(t, r, r->delta));
	table_set(t, row, counts[spec->syscalls][0], value_real(r->count[BASE]));
	table_set(t, row, counts[spec->syscalls][1], value_real(r->count[NEW]));
	table_set(t, row, counts[spec->syscalls][2], value_real(r->count[NEW] - r->count[BASE]));
	table_set(t, row, "verdict", value_str(t, verdict_name(r->verdict)));
	table_set(t, row, "p", isnan(r->lo) ? value_none() : value_real(r->p));
	table_set(t, row, "state", value_str(t, cost_state(r)));
}

/* Rows from `first` on as one, so that the columns still add up. */
static void put_others(struct table *t, const struct diff_spec *spec, const struct diff *d,
		       size_t first)
{
	char *name = xasprintf("(%zu other %s)", d->n - first, spec->measure);
	struct diff_row others = {.key = name, .delta_ci = NAN, .lo = NAN, .hi = NAN};
	size_t i;
	int e;

	for (i = first; i < d->n; i++) {
		for (e = 0; e < ENDS; e++) {
			others.cost[e] += d->rows[i].cost[e];
			others.count[e] += d->rows[i].count[e];
		}
		others.delta += d->rows[i].delta;
	}
	put_row(t, spec, &others);
	free(name);
}

static void put_rows(struct table *t, const struct comparison *c, const struct diff_spec *spec,
		     const struct diff *d, size_t standard)
{
	size_t limit = c->limit > 0 ? (size_t)c->limit : standard, i;

	if (c->all || limit >= d->n)
		limit = d->n;
	for (i = 0; i < limit; i++)
		put_row(t, spec, &d->rows[i]);
	if (limit < d->n)
		put_others(t, spec, d, limit);
}

static int compare_costs(const struct comparison *c, struct table *t, struct outcome *out,
			 struct error *err)
{
	const struct diff_spec *spec = c->table->spec;
	struct cost_list l;
	int ret = cost_list_read(&l, c, spec, t, err);

	if (ret)
		return ret;
	table_title(t, "%s%s%s, ns per %s: %s against %s", spec->measure, *l.side ? " of the " : "",
		    l.side, l.unit, c->end[NEW].label, c->end[BASE].label);
	cost_columns(t, cost_digits(&l));
	put_rows(t, c, spec, &l.d, c->table->limit ? c->table->limit : SIZE_MAX);
	cost_list_say(&l, c, t);
	cost_list_outcome(&l, out);
	cost_list_free(&l);
	return 0;
}

const struct compare_table comparison_functions = {
	COMPARE_NAMES("functions"),
	.what = "ns per unit of work in every function",
	MEASURE_COLUMNS(function_columns),
	OPT_COST_LIST(""),
	.spare = "state dso",
	.spec = &function_spec,
	.limit = 30,
	.run = compare_costs,
};

const struct compare_table comparison_components = {
	COMPARE_NAMES("components"),
	.what = "ns per unit of work in every component",
	MEASURE_COLUMNS(component_columns),
	OPT_COST_LIST(""),
	.spare = "state",
	.spec = &component_spec,
	.run = compare_costs,
};

const struct compare_table comparison_contexts = {
	COMPARE_NAMES("contexts"),
	.what = "in user space, system calls, softirq, hardirq",
	MEASURE_COLUMNS(context_columns),
	OPT_COST_LIST(""),
	.spare = "state",
	.spec = &context_spec,
	.run = compare_costs,
};

const struct compare_table comparison_modules = {
	COMPARE_NAMES("modules"),
	.what = "in the kernel, its modules, programs and libraries",
	MEASURE_COLUMNS(module_columns),
	OPT_COST_LIST(""),
	.spare = "state",
	.spec = &module_spec,
	.run = compare_costs,
};

const struct compare_table comparison_groups = {
	COMPARE_NAMES("groups"),
	.what = "in your own groups of functions (--group)",
	MEASURE_COLUMNS(group_columns),
	OPT_COST_LIST("group"),
	.spare = "state base_total_ns new_total_ns",
	.spec = &group_spec,
	.run = compare_costs,
};

const struct compare_table comparison_syscalls = {
	COMPARE_NAMES("syscalls"),
	.what = "ns per KiB in, and calls per MiB of, every system call",
	MEASURE_COLUMNS(syscall_columns),
	.options = {[SOURCE_CAPTURE] = OPT_VERDICT "from to unit comm limit all"},
	.spare = "state delta_calls",
	.spec = &syscall_spec,
	.run = compare_costs,
};
