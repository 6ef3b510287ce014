// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of comparisons, and the three that are lists of costs: one engine, three sets of
 * columns. */
#include "analyze/compare/compare.h"

#include "analyze/compare/diff.h"
#include "analyze/compare/movements.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct compare_table tables[] = {
	{"metrics", "throughput, CPU, scores, copying and system calls (default)", compare_metrics,
	 false},
	{"functions", "ns per unit of work in every function", compare_functions, true},
	{"components", "ns per unit of work in every component", compare_components, true},
	{"contexts", "in user space, system calls, softirq, hardirq", compare_contexts, true},
	{"modules", "in the kernel, its modules, programs and libraries", compare_modules, true},
	{"syscalls", "ns per KiB in, and calls per MiB of, every system call", compare_syscalls,
	 false},
};

const struct compare_table *compare_table_at(size_t i)
{
	return i < array_size(tables) ? &tables[i] : NULL;
}

const struct compare_table *compare_table_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(tables); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

#define COST_COLUMNS                                                                       \
	{"base_ns", "ns", V_REAL, 2, "cost in BASE, ns per unit of work"},                 \
		{"new_ns", "ns", V_REAL, 2, "cost in NEW"},                                \
		{"delta_ns", "ns", V_REAL, 2, "new_ns - base_ns: adds up to the total's"}, \
	{                                                                                  \
		"delta_ci", "ns", V_REAL, 2, "half of its 95 % interval"                   \
	}
#define TEST_COLUMNS                                                                          \
	{"verdict", NULL, V_STR, 0, "better, worse, ~ or too few runs; empty: not tested"},   \
		{"delta_lo", "ns", V_REAL, 2, "interval of the test, that agrees with p"},    \
		{"delta_hi", "ns", V_REAL, 2, NULL},                                          \
		{"p", NULL, V_REAL, 4, "exact Mann-Whitney, two-sided, Holm's correction"},   \
	{                                                                                     \
		"state", NULL, V_STR, 0, "new or vanished: no sample at one end; empty: both" \
	}
#define KEY(name)                          \
	{                                  \
		name, NULL, V_STR, 0, NULL \
	}
#define PROFILED .value = "self_ns", .ci = "self_ns_ci", .samples = "samples"

static const struct column function_columns[] = {KEY("symbol"), KEY("dso"), COST_COLUMNS,
						 TEST_COLUMNS};
const struct diff_spec function_spec = {
	.measure = "functions", .key = "symbol", .key2 = "dso", PROFILED};

static const struct column component_columns[] = {KEY("component"), COST_COLUMNS, TEST_COLUMNS};
const struct diff_spec component_spec = {.measure = "components", .key = "component", PROFILED};

static const struct column context_columns[] = {KEY("context"), COST_COLUMNS, TEST_COLUMNS};
const struct diff_spec context_spec = {.measure = "contexts", .key = "context", PROFILED};

static const struct column module_columns[] = {KEY("module"), COST_COLUMNS, TEST_COLUMNS};
const struct diff_spec module_spec = {.measure = "modules", .key = "module", PROFILED};

static const struct column syscall_columns[] = {
	KEY("syscall"),
	COST_COLUMNS,
	{"base_calls", "1/MiB", V_REAL, 3, "calls per MiB in BASE"},
	{"new_calls", "1/MiB", V_REAL, 3, "calls per MiB in NEW"},
	{"delta_calls", "1/MiB", V_REAL, 3, NULL},
	TEST_COLUMNS,
};
const struct diff_spec syscall_spec = {.measure = "syscalls",
				       .key = "syscall",
				       .value = "ns_per_kib",
				       .count = "calls_per_mib",
				       .syscalls = true};

const struct diff_spec *diff_spec_find(const char *table)
{
	static const struct diff_spec *const all[] = {&function_spec, &component_spec,
						      &context_spec, &module_spec, &syscall_spec};
	size_t i;

	for (i = 0; i < array_size(all); i++)
		if (!strcmp(all[i]->measure, table))
			return all[i];
	return NULL;
}

static const char *state_of(const struct diff_row *r)
{
	return r->seen[BASE] == r->seen[NEW] ? NULL : r->seen[NEW] ? "new" : "vanished";
}

static void put_row(struct table *t, const struct diff_spec *spec, const struct diff_row *r)
{
	struct value *row = table_row(t);

	table_set(t, row, spec->key, value_str(t, r->key));
	if (spec->key2)
		table_set(t, row, spec->key2, value_str(t, r->key2));
	table_set(t, row, "base_ns", value_real(r->cost[BASE]));
	table_set(t, row, "new_ns", value_real(r->cost[NEW]));
	table_set(t, row, "delta_ns", value_real(r->delta));
	table_set(t, row, "delta_ci", value_real(r->delta_ci));
	table_set(t, row, "base_calls", value_real(r->count[BASE]));
	table_set(t, row, "new_calls", value_real(r->count[NEW]));
	table_set(t, row, "delta_calls", value_real(r->count[NEW] - r->count[BASE]));
	table_set(t, row, "verdict", value_str(t, verdict_name(r->verdict)));
	table_set(t, row, "delta_lo", value_real(r->lo));
	table_set(t, row, "delta_hi", value_real(r->hi));
	table_set(t, row, "p", isnan(r->lo) ? value_none() : value_real(r->p));
	table_set(t, row, "state", value_str(t, state_of(r)));
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

static unsigned put_rows(struct table *t, const struct comparison *c, const struct diff_spec *spec,
			 const struct diff *d, size_t standard)
{
	size_t limit = c->limit > 0 ? (size_t)c->limit : standard, i;
	unsigned worse = 0;

	if (c->all || limit >= d->n)
		limit = d->n;
	for (i = 0; i < d->n; i++) {
		worse += d->rows[i].verdict == VERDICT_WORSE;
		if (i < limit)
			put_row(t, spec, &d->rows[i]);
	}
	if (limit < d->n)
		put_others(t, spec, d, limit);
	return worse;
}

static void say_sum(struct table *t, const struct comparison *c, const struct diff *d,
		    const char *unit)
{
	double delta = d->total[NEW] - d->total[BASE];

	table_note(t, "sum: %.2f (%s) %+.2f = %.2f (%s) ns per %s; the rows add up to it",
		   d->total[BASE], c->end[BASE].label, delta, d->total[NEW], c->end[NEW].label,
		   unit);
}

static void say_rule(struct table *t, const struct comparison *c, const struct diff *d)
{
	if (d->possible && d->tests) {
		table_note(t,
			   "verdict: exact Mann-Whitney over %zu and %zu runs, p < %g after Holm's "
			   "correction over the %zu rows of at least 1 %% of the total (others are "
			   "not tested), and a change above %g %%",
			   d->nruns[BASE], d->nruns[NEW], c->rule.alpha, d->tests,
			   100 * c->rule.threshold);
		table_note(t,
			   "[..]: the tested rows' intervals, %.4g to %.4g %%, each at the level "
			   "that Holm's correction tests its row at: it holds 0 unless p < %g",
			   100 * d->level[0], 100 * d->level[1], c->rule.alpha);
	} else {
		table_note(t,
			   "too few runs: %zu and %zu can give no verdict on %zu rows of at least "
			   "1 %% of the total; %zu a side could",
			   d->nruns[BASE], d->nruns[NEW], d->tests,
			   verdict_runs_needed(&c->rule, d->tests));
	}
	table_note(t,
		   "+-: half of a 95 %% interval of what is not tested, the wider of sampling "
		   "error and, with two runs and more on each side, of that between runs (Welch)");
}

static void say_zero(struct table *t, const struct diff *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->n; i++)
		n += !d->rows[i].seen[BASE] || !d->rows[i].seen[NEW];
	if (n)
		table_note(t,
			   "0 in a profile that has no sample of a function is measured: its "
			   "sampling error is 3/n of the total (%zu such rows)",
			   n);
}

static int list_costs(const struct comparison *c, struct table *t, const struct diff_spec *spec,
		      size_t standard, unsigned *worse, struct error *err)
{
	const char *unit, *side;
	struct movements m = {0};
	struct diff d;
	int ret = compare_side(c, &side, err);

	if (!ret)
		ret = diff_read_ends(&d, c, side, spec, t, err);
	if (ret)
		return ret;
	if (!d.n) {
		diff_free(&d);
		return error_set(err, ENODATA, "neither %s nor %s has a sample of that in its %s",
				 c->end[BASE].label, c->end[NEW].label, side);
	}
	unit = spec->syscalls || !d.unit ? "KiB" : d.unit;
	table_title(t, "%s of the %s, ns per %s: %s against %s", spec->measure, side, unit,
		    c->end[NEW].label, c->end[BASE].label);
	*worse = put_rows(t, c, spec, &d, standard);
	movements_add(&m, side, &d, unit);
	movements_say(&m, c, t, spec->key);
	movements_free(&m);
	say_sum(t, c, &d, unit);
	say_rule(t, c, &d);
	if (spec->samples)
		say_zero(t, &d);
	diff_free(&d);
	return 0;
}

int compare_functions(const struct comparison *c, struct table *t, unsigned *worse,
		      struct error *err)
{
	table_init(t, "compare functions", function_columns, array_size(function_columns));
	return list_costs(c, t, &function_spec, 30, worse, err);
}

int compare_components(const struct comparison *c, struct table *t, unsigned *worse,
		       struct error *err)
{
	table_init(t, "compare components", component_columns, array_size(component_columns));
	return list_costs(c, t, &component_spec, SIZE_MAX, worse, err);
}

int compare_contexts(const struct comparison *c, struct table *t, unsigned *worse,
		     struct error *err)
{
	table_init(t, "compare contexts", context_columns, array_size(context_columns));
	return list_costs(c, t, &context_spec, SIZE_MAX, worse, err);
}

int compare_modules(const struct comparison *c, struct table *t, unsigned *worse, struct error *err)
{
	table_init(t, "compare modules", module_columns, array_size(module_columns));
	return list_costs(c, t, &module_spec, SIZE_MAX, worse, err);
}

int compare_syscalls(const struct comparison *c, struct table *t, unsigned *worse,
		     struct error *err)
{
	table_init(t, "compare syscalls", syscall_columns, array_size(syscall_columns));
	return list_costs(c, t, &syscall_spec, SIZE_MAX, worse, err);
}
