// SPDX-License-Identifier: GPL-2.0-only
/* Lists of costs: functions, components and others, in ns per unit of work at both ends. */
#include "analyze/compare/diff.h"

#include "analyze/compare/gate.h"

#include <errno.h>
#include <math.h>

/* --- columns and measures --- */

#define COST_COLUMNS                                                                  \
	{MEMBER(struct costs_row, base_ns), "ns", V_REAL, .digits = 2,                \
	 .what = "cost in BASE, ns per unit of work"},                                \
		{MEMBER(struct costs_row, new_ns), "ns", V_REAL, .digits = 2,         \
		 .what = "cost in NEW"},                                              \
		{MEMBER(struct costs_row, delta_ns),                                  \
		 "ns",                                                                \
		 V_REAL,                                                              \
		 .digits = 2,                                                         \
		 .spread = SPREAD_HALF,                                               \
		 .stem = "delta",                                                     \
		 .what = "new_ns - base_ns: adds up to the total's"},                 \
	{                                                                             \
		MEMBER(struct costs_row, sampling_error), "ns", V_REAL,               \
			.digits = 2, .optional = true,                                \
			.what = "of delta_ns, where an end has one run: half of 95 %" \
	}
#define TEST_COLUMNS                                                                 \
	{MEMBER(struct costs_row, verdict), .type = V_STR,                           \
	 .what = "better, worse, ~ or too few runs; empty: not tested"},             \
		{MEMBER(struct costs_row, p), .type = V_REAL, .digits = 4,           \
		 .what = "exact Mann-Whitney, two-sided, Holm's correction"},        \
	{                                                                            \
		MEMBER(struct costs_row, state),                                     \
			.type = V_STR,                                               \
			.what = "new or vanished: no sample at one end; empty: both" \
	}
#define KEY(name, of)                                                   \
	{                                                               \
		MEMBER_NAMED(name, struct costs_row, of), .type = V_STR \
	}
#define COUNT(name, i) MEMBER_NAMED(name, struct costs_row, counts[i])
static const struct column functions_columns[] = {KEY("symbol", key), KEY("dso", key2),
						  COST_COLUMNS, TEST_COLUMNS};
const struct diff_spec functions_spec = {.measure = "functions", .key = "symbol", .key2 = "dso"};

static const struct column components_columns[] = {KEY("component", key), COST_COLUMNS,
						   TEST_COLUMNS};
const struct diff_spec components_spec = {.measure = "components", .key = "component"};

static const struct column contexts_columns[] = {KEY("context", key), COST_COLUMNS, TEST_COLUMNS};
static const struct diff_spec contexts_spec = {.measure = "contexts", .key = "context"};

static const struct column modules_columns[] = {KEY("module", key), COST_COLUMNS, TEST_COLUMNS};
static const struct diff_spec modules_spec = {.measure = "modules", .key = "module"};

static const struct column groups_columns[] = {
	KEY("group", key),
	COST_COLUMNS,
	{COUNT("base_total_ns", 0), "ns", V_REAL, .digits = 2,
	 .what = "with what its functions call, in BASE"},
	{COUNT("new_total_ns", 1), "ns", V_REAL, .digits = 2, .what = "in NEW"},
	{COUNT("delta_total_ns", 2), "ns", V_REAL, .digits = 2,
	 .what = "the difference; not tested"},
	TEST_COLUMNS,
};
static const struct diff_spec groups_spec = {.measure = "groups", .key = "group", .groups = true};

static const struct column syscalls_columns[] = {
	KEY("syscall", key),
	COST_COLUMNS,
	{COUNT("base_calls", 0), "1/MiB", V_REAL, .digits = 3,
	 .what = "calls per MiB in BASE, or per --unit"},
	{COUNT("new_calls", 1), "1/MiB", V_REAL, .digits = 3, .what = "calls per MiB in NEW"},
	{COUNT("delta_calls", 2), "1/MiB", V_REAL, .digits = 3},
	TEST_COLUMNS,
};
const struct diff_spec syscalls_spec = {.measure = "syscalls", .key = "syscall", .syscalls = true};

const struct diff_spec *diff_spec_find(const char *name)
{
	const struct compare_table *table = compare_table_find(name);

	return table && table->spec && !table->spec->groups ? table->spec : NULL;
}

/* --- reading, and the notes below the rows --- */

const char *cost_state(const struct diff_row *r)
{
	return r->seen[BASE] == r->seen[NEW] ? NULL : r->seen[NEW] ? "new" : "vanished";
}

int cost_list_read(struct cost_list *l, const struct comparison *c, const struct diff_spec *spec,
		   struct table *t, struct error *err)
{
	int ret = compare_side(c, &l->side, err);

	l->spec = spec;
	ret = ret ?: diff_read_ends(&l->d, c, l->side, spec, t, err);
	if (ret)
		return ret;
	l->unit = l->d.unit		? l->d.unit
		  : !compare_is_bare(c) ? "KiB"
		  : c->query.unit	? c->query.unit
					: "packet";
	if (l->d.n)
		return 0;
	diff_free(&l->d);
	return error_set(err, ENODATA, "neither %s nor %s has such a sample on its %s",
			 c->end[BASE].label, c->end[NEW].label, l->side);
}

int cost_digits(const struct cost_list *l)
{
	double total = fmin(l->d.total[BASE], l->d.total[NEW]);
	int digits = 2;

	while (digits < 6 && total > 0 && total < pow(10, 3 - digits))
		digits++;
	return digits;
}

void cost_columns(struct table *t, const char *unit, int digits)
{
	size_t size = (size_t)t->ncolumns * sizeof(*t->columns);
	struct column *copy = arena_dup(&t->arena, t->columns, size);

	for (int i = 0; i < t->ncolumns; i++) {
		if (copy[i].unit && !strcmp(copy[i].unit, "ns"))
			copy[i].digits = digits;
		if (copy[i].unit && !strcmp(copy[i].unit, "1/MiB") && strcmp(unit, "KiB") != 0)
			copy[i].unit = arena_printf(&t->arena, "1/%s", unit);
	}
	t->columns = copy;
}

/* Adds a cost with its change as a ratio, whose interval is that of the difference. */
static void cost_gate_row(const struct cost_list *l, const struct diff_row *r, struct gate *gate)
{
	double base = r->cost[BASE] > 0 ? r->cost[BASE] : NAN;
	struct change k = {.base = r->cost[BASE],
			   .new = r->cost[NEW],
			   .ratio = {.value = r->cost[NEW] / base,
				     .lo = (r->cost[NEW] - r->delta_ci) / base,
				     .hi = (r->cost[NEW] + r->delta_ci) / base},
			   .verdict = r->verdict};
	autofree char *unit = xasprintf("ns/%s", l->unit);

	gate_add_row(gate, l->side, r->key, unit, &k);
}

void cost_list_outcome(const struct cost_list *l, struct outcome *out)
{
	out->side = *l->side ? l->side : NULL; /* files have no sides */
	snprintf(out->unit, sizeof(out->unit), "%s", l->unit);
	memcpy(out->runs, l->d.nruns, sizeof(out->runs));
	out->tests = l->d.tests;
	for (size_t i = 0; i < l->d.n; i++)
		cost_gate_row(l, &l->d.rows[i], out->gate);
}

void cost_list_add_notes(const struct cost_list *l, const struct comparison *c, struct table *t)
{
	double base = l->d.total[BASE], new = l->d.total[NEW];
	struct movements m = {0};
	int digits = cost_digits(l);

	movements_add(&m, l->side, &l->d, l->unit);
	movements_add_notes(&m, c, t, l->spec->key);
	free(m.list);
	note_add(&t->notes, cost_sum,
		 arena_printf(&t->arena, "sum: %.*f (%s) %+.*f = %.*f (%s) ns per %s; %s", digits,
			      base, c->end[BASE].label, digits, new - base, digits, new,
			      c->end[NEW].label, l->unit,
			      l->spec->groups
				      ? "of all functions; groups may overlap and are a part of it"
				      : "the rows add up to it"));
	if (l->spec->syscalls)
		note_add(&t->notes, syscalls_times, SYSCALLS_TIMES);
	note_add(
		&t->notes, compare_verdict, c->rule.alpha, l->d.tests,
		"rows of at least 1 % of the total (others are not tested), an interval that leaves 0 out (+-: half of 95 %; none where few samples give no error)",
		100 * c->rule.threshold, verdict_runs_needed(&c->rule, l->d.tests));
}

/* --- rows --- */

static void cost_list_add_row(struct table *t, const struct diff_row *r)
{
	table_add(t, struct costs_row,
		  &(struct costs_row){
			  .key = r->key,
			  .key2 = r->key2,
			  .base_ns = r->cost[BASE],
			  .new_ns = r->cost[NEW],
			  .delta_ns = {r->delta, r->delta_ci},
			  .counts = {r->count[BASE], r->count[NEW], r->count[NEW] - r->count[BASE]},
			  .sampling_error = r->delta_sampling,
			  .p = diff_p(r),
			  .verdict = verdict_name(r->verdict),
			  .state = cost_state(r)});
}

/* Adds one row for all rows from `first` on, so that the columns still add up. */
static void cost_list_add_others(struct table *t, const struct diff_spec *spec,
				 const struct diff *d, size_t first)
{
	char *name = arena_printf(&t->arena, "(%zu other %s)", d->n - first, spec->measure);
	struct diff_row others = {.key = name, .delta_ci = NAN, .delta_sampling = NAN};

	for (size_t i = first; i < d->n; i++) {
		for (int e = 0; e < ENDS; e++) {
			others.cost[e] += d->rows[i].cost[e];
			others.count[e] += d->rows[i].count[e];
		}
		others.delta += d->rows[i].delta;
	}
	cost_list_add_row(t, &others);
}

static void cost_list_add_rows(struct table *t, const struct comparison *c,
			       const struct diff_spec *spec, const struct diff *d, size_t standard)
{
	size_t limit = c->limit > 0 ? (size_t)c->limit : standard;

	if (limit >= d->n)
		limit = d->n;
	for (size_t i = 0; i < limit; i++)
		cost_list_add_row(t, &d->rows[i]);
	if (limit < d->n)
		cost_list_add_others(t, spec, d, limit);
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
	cost_columns(t, l.unit, cost_digits(&l));
	cost_list_add_rows(t, c, spec, &l.d, c->table->limit ? c->table->limit : SIZE_MAX);
	cost_list_add_notes(&l, c, t);
	cost_list_outcome(&l, out);
	diff_free(&l.d);
	return 0;
}

/* A table of compare whose rows are the costs of a measure of that name. */
#define COST_TABLE(table_name, text, dropped, ...)             \
	const struct compare_table comparison_##table_name = { \
		COMPARE_NAMES(#table_name),                    \
		.what = text,                                  \
		MEASURE_COLUMNS(table_name##_columns),         \
		.spare = dropped,                              \
		.spec = &table_name##_spec,                    \
		.run = compare_costs,                          \
		__VA_ARGS__,                                   \
	}

COST_TABLE(functions, "ns per unit of work in every function", "state dso", OPT_COST_LIST(""),
	   .limit = 30);
COST_TABLE(components, "ns per unit of work in every component", "state", OPT_COST_LIST(""));
COST_TABLE(contexts, "in user space, system calls, softirq, hardirq", "state", OPT_COST_LIST(""));
COST_TABLE(modules, "in the kernel, its modules, programs and libraries", "state",
	   OPT_COST_LIST(""));
COST_TABLE(groups, "in your own groups of functions (--group)", "state base_total_ns new_total_ns",
	   OPT_COST_LIST("group"));
COST_TABLE(syscalls, "ns per KiB in, and calls per MiB of, every system call, or per --unit",
	   "state delta_calls",
	   .options = {[SOURCE_CAPTURE] = OPT_VERDICT "from to unit comm workload-only limit all"});
