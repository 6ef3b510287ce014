// SPDX-License-Identifier: GPL-2.0-only
/* summary: one line for each variant and side: throughput, costs, and zero copy or not. */
#include "analyze/figures/figures.h"

#include "analyze/costs/basis.h"
#include "analyze/costs/costs.h"
#include "analyze/evidence/limits.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/scope/runs.h"

#include <errno.h>
#include <math.h>

// clang-format off
/* Columns for workloads that count other units than bytes. */
#define COST_OF(unit, kind) "ns/" unit, V_REAL, .digits = 1, .spread = kind
#define COLUMNS_OF_UNIT(id, unit, units)                                     \
	{FIGURE_COLUMN("rate_" units, RATE_##id), "1/s", V_REAL, .digits = 1, \
	 .spread = SPREAD_RANGE},                                            \
	{FIGURE_COLUMN("ns_per_" unit, NS_PER_##id), COST_OF(unit, SPREAD_RANGE)}, \
	{"copy_ns_per_" unit, COST_OF(unit, SPREAD_HALF)},

static const struct column summary_columns[] = {
	BLOCK_COLUMNS(struct figure_row),
	{MEMBER(struct figure_row, runs), .type = V_INT, .what = "runs in the estimates"},
	{FIGURE_COLUMN("throughput_gbps", THROUGHPUT), "Gbit/s", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .stem = "throughput"},
	{FIGURE_COLUMN("cpu_pct", CPU), "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "cpu",
	 .what = "CPU use of the side's CPUs, of all programs, or of the workload alone; 100 = one CPU"},
	{FIGURE_COLUMN("ns_per_kib", NS_PER_KIB), "ns/KiB", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "that CPU time per KiB"},
	{"copy_ns_per_kib", "ns/KiB", V_REAL, .digits = 1, .spread = SPREAD_HALF,
	 .what = "part of ns_per_kib in functions that copy data (profile)"},
	WORK_UNITS(COLUMNS_OF_UNIT)
	{MEMBER(struct figure_row, zero_copy_share), "%", V_REAL, .digits = 1,
	 .what = "share of sends or bytes without a copy, the lowest of all sources"},
	{FIGURE_COLUMN("power_w", POWER), "W", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{MEMBER(struct figure_row, power_source), .type = V_STR, .what = "measured, imported or modelled"},
	{MEMBER(struct figure_row, power_kind), .type = V_STR, .what = "wall, platform or package"},
};
// clang-format on

/* Fills the row, and adds a note on figures that some runs lack, such as "cpu_pct 1". */
static void summary_fill_row(const struct figure_list *l, const struct block_runs *b,
			     struct table *t, struct figure_row *row)
{
	freed(str_free) struct str fewer = {0};

	for (size_t i = 0; i < l->n; i++) {
		const struct figure_value *v = &l->list[i];

		if (v->sides != b)
			continue;
		row->of[v->id] = v->e;
		row->runs = (int64_t)v->n > row->runs ? (int64_t)v->n : row->runs;
		if (v->id == FIGURE_POWER) {
			row->power_source = power_source_names[v->source];
			row->power_kind = v->kind;
		} else if (v->n && v->n < (size_t)b->n) {
			str_printf(&fewer, "%s%s %zu", fewer.len ? ", " : "", figure_column(v->id),
				   v->n);
		}
	}
	if (fewer.len)
		note_add_block(&t->notes, &b->block, fewer_runs, fewer.buf, b->n);
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
		for (size_t i = 0; i < t->notes.n; i++)
			if (note_is(&t->notes.note[i], NOTE_workload_copy))
				return 0;
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
	int n;

	if (all->variant && !strcmp(all->variant, variant))
		return 0;
	n = zero_copy_evidence(s, q, variant, true, all->e, err);
	all->variant = variant;
	all->n = n < 0 ? 0 : n;
	for (int i = 0; i < n; i++)
		if (!isnan(all->e[i].zero_copy))
			all->own |= all->e[i].source == BY_WORKLOAD;
	return n < 0 ? n : 0;
}

static int summary_put_block(const struct figure_list *l, const struct block_runs *b,
			     struct summary_evidence *all, struct summary_side *side,
			     struct table *t, struct error *err)
{
	struct figure_row row = figure_row_of(&b->block);
	int rc = summary_read_evidence(l->s, l->q, b->block.variant, all, err);
	struct value *cells;

	summary_fill_row(l, b, t, &row);
	row.zero_copy_share = 100 * zero_copy_share(all->e, all->n, b->block.side);
	cells = table_add(t, struct figure_row, &row);
	if (!rc && !l->q->figures_only)
		rc = summary_put_copy(l->s, l->q, &b->block, t, cells, err);
	*side = (struct summary_side){(size_t)row.runs, row.zero_copy_share / 100};
	return rc;
}

/* Returns whether some block has figures of this unit of work. */
static bool summary_counts_in(const struct figure_list *l, const char *unit)
{
	for (size_t i = 0; i < l->n; i++)
		if (figure_kinds[l->list[i].id].work &&
		    !strcmp(figure_kinds[l->list[i].id].work, unit))
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
static void summary_choose_columns(const struct figure_list *l, struct table *t)
{
	const char *unit = l->q->unit && strcmp(l->q->unit, "KiB") ? l->q->unit : NULL;
	struct column *kept = arena_alloc(&t->arena, sizeof(summary_columns));
	bool left_out;
	int n = 0;

	for (size_t i = 0; i < array_size(summary_columns); i++) {
		const struct column *c = &summary_columns[i];

		left_out = unit && !strcmp(c->name, "copy_ns_per_kib");
		for (size_t k = 1; k < WORK_KINDS && work_kinds[k].rate; k++)
			left_out |= strstr(c->name, work_kinds[k].word) &&
				    !summary_counts_in(l, work_kinds[k].unit);
		if (!left_out)
			kept[n++] = *c;
	}
	if (unit)
		summary_move_unit(unit, kept, n);
	t->columns = kept;
	t->ncolumns = n;
}

int summary_read(struct store *s, const struct query *q, struct summary *all, struct table *t,
		 struct error *err)
{
	struct summary_evidence evidence = {0};
	struct figure_list *l = &all->figures;
	int rc = figure_list_read(l, s, q, IN_SUMMARY, 0, err);
	const struct block_list *list = &l->blocks[FOR_FIGURES];

	all->sides = xcalloc((size_t)list->n + 1, sizeof(*all->sides));
	if (!rc)
		summary_choose_columns(l, t);
	for (int i = 0; i < list->n && !rc; i++)
		rc = summary_put_block(l, &list->blocks[i], &evidence, &all->sides[i], t, err);
	rc = rc ?: clocks_note(s, t, err);
	if (!rc) {
		power_note_kinds(s, q, t);
		if (evidence.own)
			note_add(&t->notes, whole_run, "zero_copy_share");
		figure_list_notes(l, t);
		rc = limits_note(s, q, t, err);
	}
	rc = rc ?: busy_notes(s, q, NULL, t, err);
	for (int i = 0; i < list->n && !rc; i++) /* the cost of copying is from the profiles */
		rc = scope_profile_notes(s, q, &list->blocks[i].block, t, err);
	return rc;
}

void summary_free(struct summary *all)
{
	free(all->sides);
	figure_list_free(&all->figures);
}

static int summary_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(summary_free) struct summary all = {0};

	return summary_read(s, q, &all, t, err);
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
