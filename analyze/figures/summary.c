// SPDX-License-Identifier: GPL-2.0-only
/* summary: one line for each variant and side: throughput, costs, and zero copy or not. */
#include "analyze/costs/basis.h"
#include "analyze/scope/runs.h"
#include "analyze/costs/costs.h"
#include "analyze/evidence/limits.h"
#include "analyze/probes/power/table.h"
#include "analyze/evidence/zerocopy.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More notes than this would bury the figures. */
enum { SOME_BLOCKS = 16 };

/* Columns for workloads that count other units than bytes. */
#define COST_OF(unit, kind) "ns/" unit, V_REAL, .digits = 1, .spread = kind
#define OF_UNITS(unit, count)                                                \
	{"rate_" count, "1/s", V_REAL, .digits = 1, .spread = SPREAD_RANGE}, \
		{"ns_per_" unit, COST_OF(unit, SPREAD_RANGE)},               \
	{                                                                    \
		"copy_ns_per_" unit, COST_OF(unit, SPREAD_HALF)              \
	}

static const struct column summary_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"runs", .type = V_INT, .what = "runs in the estimates"},
	{"throughput_gbps", "Gbit/s", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .stem = "throughput"},
	{"cpu_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "cpu",
	 .what = "CPU use of the side's CPUs, of all programs, or of the workload alone; 100 = one CPU"},
	{"ns_per_kib", "ns/KiB", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "that CPU time per KiB"},
	{"copy_ns_per_kib", "ns/KiB", V_REAL, .digits = 1, .spread = SPREAD_HALF,
	 .what = "part of ns_per_kib in functions that copy data (profile)"},
	OF_UNITS("packet", "packets"),
	OF_UNITS("message", "messages"),
	{"zero_copy_share", "%", V_REAL, .digits = 1,
	 .what = "share of sends or bytes without a copy, the lowest of all sources"},
	{"power_w", "W", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{"power_source", .type = V_STR, .what = "measured, imported or modelled"},
	{"power_kind", .type = V_STR, .what = "wall, platform or package"},
};

/* A column that is estimated over the runs. */
struct summary_rate {
	const char *column, *metric; /* metric NULL: CPU use */
	const char *unit;	     /* only for work counted in this unit */
	bool cost;		     /* the figure is busy time per unit of the metric */
};

struct summary_rate_of {
	const struct summary_rate *rate;
	const char *busy; /* busy_metric() */
};

struct summary_watts {
	const struct query *q;
	enum power_source source;
	const char *kind;
};

static double summary_watts(struct store *s, const struct run *r, const void *arg)
{
	struct summary_watts *w = (struct summary_watts *)arg;
	struct power p = power_of(s, w->q, &r, 1);

	if (p.source > w->source) {
		w->source = p.source;
		w->kind = p.kind;
	}
	return p.watts;
}

static size_t summary_put_power(struct store *s, const struct query *q,
				const struct block_list *list, const struct block_runs *b,
				struct table *t, struct value *row)
{
	struct summary_watts w = {q, POWER_NONE, NULL};
	struct estimate e = scope_estimate(s, b->runs, b->n, list->estimator, summary_watts, &w);

	put_estimate(t, row, "power_w", &e);
	table_set(t, row, "power_source", value_str(t, power_source_names[w.source]));
	table_set(t, row, "power_kind", value_str(t, w.kind));
	return e.n;
}

static double summary_rate(struct store *s, const struct run *r, const void *arg)
{
	const struct summary_rate_of *k = arg;
	double x = figure_metric(s, r, k->rate->metric ?: k->busy);

	return k->rate->cost ? figure_metric(s, r, k->busy) * 1e7 / x : x;
}

static const struct summary_rate rates[] = {
	{"throughput_gbps", "throughput", NULL, false},
	{"cpu_pct", NULL, NULL, false},
	{"ns_per_kib", "rate_kib", NULL, true},
	{"rate_packets", "rate_packets", "packet", false},
	{"ns_per_packet", "rate_packets", "packet", true},
	{"rate_messages", "rate_messages", "message", false},
	{"ns_per_message", "rate_messages", "message", true},
};

/* Fills the rates and adds a note on figures that some runs lack, such as "cpu_pct 1". */
static size_t summary_put_rates(struct store *s, const struct query *q,
				const struct block_list *list, const struct block_runs *b,
				struct table *t, struct value *row)
{
	struct str fewer = {0};
	size_t most = 0, i;

	for (i = 0; i < array_size(rates); i++) {
		const struct summary_rate_of of = {&rates[i], busy_metric(q)};
		struct estimate e;

		if (rates[i].unit && !work_is_in(s, q, b->runs, b->n, rates[i].unit))
			continue;
		e = scope_estimate(s, b->runs, b->n, list->estimator, summary_rate, &of);
		put_estimate(t, row, rates[i].column, &e);
		most = e.n > most ? e.n : most;
		if (e.n && e.n < (size_t)b->n)
			str_printf(&fewer, "%s%s %zu", fewer.len ? ", " : "", rates[i].column, e.n);
	}
	if (fewer.len)
		note_add_block(&t->notes, &b->block, fewer_runs, fewer.buf, b->n);
	str_free(&fewer);
	return most;
}

static bool summary_has_note(const struct table *t, enum note_id id)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (note_is(&t->notes.note[i], id))
			return true;
	return false;
}

static int summary_put_copy(struct store *s, const struct query *q, const struct block *b,
			    struct table *t, struct value *row, struct error *err)
{
	struct basis_value basis;
	struct cost copy;
	char column[48];
	struct error none = {0};
	int rc = copy_cost(s, q, b, NULL, &copy, &basis, &none);

	if (rc == -ENODATA && q->workload_only) {
		if (!summary_has_note(t, NOTE_workload_copy))
			note_add(&t->notes, workload_copy, none.text);
		return 0;
	}
	if (rc)
		return error_set(err, -rc, "%s", none.text);
	if (!basis.unit)
		return 0;
	snprintf(column, sizeof(column), "copy_ns_per_%s", work_word(basis.unit));
	table_set(t, row, column, value_half(t, copy.ns, copy.ns_ci));
	return 0;
}

/* The evidence of one variant, for all of its sides. */
struct summary_evidence {
	const char *variant;
	struct evidence e[MAX_EVIDENCE];
	int n;
	bool own; /* a share is by the workload's own account */
};

static int summary_read_evidence(struct store *s, const struct query *q, const char *variant,
				 struct summary_evidence *all, struct error *err)
{
	int n, i;

	if (all->variant && !strcmp(all->variant, variant))
		return 0;
	n = zero_copy_evidence(s, q, variant, all->e, err);
	all->variant = variant;
	all->n = n < 0 ? 0 : n;
	for (i = 0; i < n; i++)
		if (!isnan(all->e[i].zero_copy))
			all->own |= all->e[i].source == BY_WORKLOAD;
	return n < 0 ? n : 0;
}

static int summary_put_block(struct store *s, const struct query *q, const struct block_list *list,
			     const struct block_runs *b, struct summary_evidence *all,
			     struct table *t, struct error *err)
{
	struct value *row = block_row(t, &b->block);
	size_t with_rates, with_power;
	int rc = summary_read_evidence(s, q, b->block.variant, all, err);

	if (!rc && !q->figures_only)
		rc = summary_put_copy(s, q, &b->block, t, row, err);
	with_rates = summary_put_rates(s, q, list, b, t, row);
	table_set(t, row, "zero_copy_share",
		  value_real(100 * zero_copy_share(all->e, all->n, b->block.side)));
	with_power = summary_put_power(s, q, list, b, t, row);
	table_set(t, row, "runs", value_int(with_rates > with_power ? with_rates : with_power));
	return rc;
}

static bool summary_counts_in(struct store *s, const struct query *q, const struct block_list *list,
			      const char *unit)
{
	int i;

	for (i = 0; i < list->n; i++)
		if (work_is_in(s, q, list->blocks[i].runs, list->blocks[i].n, unit))
			return true;
	return false;
}

/* Moves the columns of the unit that --unit names before those of other units. */
static void summary_move_unit(const char *unit, struct column *list, int n)
{
	int to = 3, i; /* behind variant, side, runs */

	for (i = to; i < n; i++) {
		struct column c = list[i];

		if (!strstr(c.name, unit))
			continue;
		memmove(&list[to + 1], &list[to], (size_t)(i - to) * sizeof(*list));
		list[to++] = c;
	}
}

/* Leaves out the columns of units that no workload counts. */
static void summary_choose_columns(struct store *s, const struct query *q,
				   const struct block_list *list, struct table *t)
{
	static const char *const others[] = {"packet", "message"};
	struct column *kept = arena_alloc(&t->arena, sizeof(summary_columns));
	bool other_unit = q->unit && strcmp(q->unit, "KiB") != 0;
	size_t i, k;
	int n = 0;

	for (i = 0; i < array_size(summary_columns); i++) {
		if (other_unit && !strcmp(summary_columns[i].name, "copy_ns_per_kib"))
			continue;
		for (k = 0; k < array_size(others); k++)
			if (strstr(summary_columns[i].name, others[k]) &&
			    !summary_counts_in(s, q, list, others[k]))
				break;
		if (k == array_size(others))
			kept[n++] = summary_columns[i];
	}
	if (other_unit)
		summary_move_unit(q->unit, kept, n);
	t->columns = kept;
	t->ncolumns = n;
}

/* Adds the plan's description of each variant if the variants are few. */
static void summary_note_variants(struct store *s, const struct block_list *list, struct table *t)
{
	const char *variant, *what;
	int i;

	if (list->n > SOME_BLOCKS)
		note_add(&t->notes, summary_variants);
	for (i = 0; i < list->n && list->n <= SOME_BLOCKS; i++) {
		variant = list->blocks[i].block.variant;
		if (i && !strcmp(variant, list->blocks[i - 1].block.variant))
			continue;
		what = store_variant_what(s, variant);
		if (what && *what)
			note_add_of(&t->notes, variant, NULL, variant_what, what);
	}
}

static int summary_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct summary_evidence evidence = {0};
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i;

	if (!rc)
		summary_choose_columns(s, q, &list, t);
	for (i = 0; i < list.n && !rc; i++)
		rc = summary_put_block(s, q, &list, &list.blocks[i], &evidence, t, err);
	if (!rc)
		rc = clocks_note(s, t, err);
	if (!rc) {
		power_note_kinds(s, q, t);
		if (evidence.own)
			note_add(&t->notes, whole_run, "zero_copy_share");
		summary_note_variants(s, &list, t);
		block_list_notes(&list, s, t);
		rc = limits_note(s, q, t, err);
	}
	if (!rc)
		rc = busy_notes(s, q, NULL, t, err);
	if (!rc)
		rc = cost_note_workload(s, q, t, err);
	for (i = 0; i < list.n && !rc; i++) /* the cost of copying is from the profiles */
		rc = scope_profile_notes(s, q, &list.blocks[i].block, t, err);
	block_list_free(&list);
	return rc;
}

const struct measure measure_summary = {
	.name = "summary",
	.what = "one line for each variant and side: throughput, CPU, cost, zero copy",
	MEASURE_COLUMNS(summary_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "unit workload-only "},
	.spare = "runs power_source",
	.collectors = "workload",
	.run = summary_run,
};
