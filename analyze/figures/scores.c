// SPDX-License-Identifier: GPL-2.0-only
/*
 * scores: the cost of a byte or of another unit of work, for each side and the total. The total
 * cost of a unit of work is the sum of the sides' costs in the same repeat, each times the side's
 * part of the transfer. Joules count a shared host once. The total of a ratio is the ratio of the
 * sums. Sides that share a CPU have no total of figures measured by CPU, because the total would
 * count that CPU twice. A score with a missing input is absent, and a note names the input and how
 * to get it.
 */
#include "analyze/figures/figures.h"

#include <errno.h>

static const struct column scores_columns[] = {
	{MEMBER_NAMED("variant", struct scores_row, block.variant), .type = V_STR},
	{MEMBER_NAMED("side", struct scores_row, block.side), .type = V_STR,
	 .what = "of the plan, or total for all of them"},
	{MEMBER(struct scores_row, score), .type = V_STR},
	{MEMBER(struct scores_row, value), .type = V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{MEMBER(struct scores_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct scores_row, better), .type = V_STR, .what = "lower or higher"},
	{MEMBER(struct scores_row, runs), .type = V_INT, .what = "runs that measured it"},
	{MEMBER(struct scores_row, scope), .type = V_STR, .what = SCOPE_WHAT},
};

void score_print_unit(struct str *s, const struct query *q, const struct figure_value *v)
{
	figure_print_unit(s, q, v->id, true);
	str_puts(s, v->source == POWER_MODELLED ? ", modelled" : "");
}

static void scores_put_row(struct table *t, const struct query *q, const struct figure_value *v)
{
	const struct figure_kind *k = &figure_kinds[v->id];
	freed(str_free) struct str unit = {0};

	score_print_unit(&unit, q, v);
	table_add(t, struct scores_row,
		  &(struct scores_row){.block = {v->variant, v->side},
				       .score = k->name,
				       .unit = unit.buf,
				       .value = v->e,
				       .better = k->better > 0 ? "higher" : "lower",
				       .scope = scope_of(q, k->scope),
				       .runs = (int64_t)v->e.n});
	if (v->kind)
		note_add_block(&t->notes, v, score_power_kind, k->name, v->kind);
	if (v->shared && v->source != POWER_MODELLED)
		note_add_block(&t->notes, v, power_of_host);
}

int scores_read(struct store *s, const struct query *q, struct figure_list *l, struct table *t,
		struct error *err)
{
	int rc = figure_list_read(l, s, q, IN_SCORES, IN_SCORES, err);

	for (size_t i = 0; i < l->n && !rc; i++)
		if (l->list[i].n && figure_is_wanted(&l->list[i], q))
			scores_put_row(t, q, &l->list[i]);
	if (!rc) {
		if (power_is_modelled(q))
			note_add(&t->notes, power_modelled, q->model_idle, q->model_per_cpu);
		figure_list_note_absent(l, t);
		figure_list_notes(l, t);
		rc = busy_notes(s, q, NULL, t, err);
	}
	return rc;
}

static int scores_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(figure_list_free) struct figure_list l = {0};

	return scores_read(s, q, &l, t, err);
}

const struct measure measure_scores = {
	.name = "scores",
	.what = "cost per unit of work: time, cycles, joules, system calls",
	MEASURE_COLUMNS(scores_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "unit workload-only "},
	.spare = "runs better scope",
	.flags = MEASURE_TOTAL,
	.run = scores_run,
};

/*
 * rates: the CPU time of one unit of work at each rate, 1e9 / rate on one CPU, and its difference
 * from the first rate. The difference is absolute, because one percentage of a rate is another
 * time at each rate.
 */

static const struct column rates_columns[] = {
	{"rate", "1/s", V_REAL, .digits = 1, .what = "units of work per second"},
	{"ns", "ns", V_REAL, .digits = 2, .what = "CPU time per unit of work, on one CPU"},
	{"delta_ns", "ns", V_REAL, .digits = 2, .what = "difference of ns from the first row"},
};

static int rates_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	(void)s;
	if (!q->nrates)
		return error_set(err, EINVAL, "table 'rates' needs --rate R,R...");
	for (int i = 0; i < q->nrates; i++) {
		struct value *row = table_row(t);

		table_set(t, row, "rate", value_real(q->rates[i]));
		table_set(t, row, "ns", value_real(1e9 / q->rates[i]));
		if (i)
			table_set(t, row, "delta_ns",
				  value_real(1e9 / q->rates[i] - 1e9 / q->rates[0]));
	}
	return 0;
}

const struct measure measure_rates = {
	.name = "rates",
	.what = "CPU time per unit of work at each rate, and the differences: --rate A,B",
	MEASURE_COLUMNS(rates_columns),
	.options = {[SOURCE_NUMBERS] = "rate"},
	.flags = MEASURE_RATES,
	.run = rates_run,
};
