// SPDX-License-Identifier: GPL-2.0-only
/*
 * roi: the throughput of a side in relation to its costs.
 *
 *   roi_c = T^n / C     T: throughput, Gbit/s    C: CPU use of the side's CPUs added up, percent
 *   roi_p = T^n / P^m   P: watts                 n = 2, m = 1 by default
 *   --workload-only: the C of the workload's processes
 *   total: the T of the transfer, over the C of all sides and the P of all hosts; a CPU or a host
 *          that several sides use counts once
 *
 * Only TCP has scores. For datagrams, T is what the sender sent or what arrived of it.
 *
 * Scores are computed for each repeat and then estimated over the repeats.
 */
#include "analyze/figures/figures.h"

#include <errno.h>
#include <math.h>

static const struct column roi_columns[] = {
	{MEMBER_NAMED("variant", struct figure_row, block.variant), .type = V_STR},
	{MEMBER_NAMED("side", struct figure_row, block.side), .type = V_STR,
	 .what = "of the plan, or total for all of them"},
	{FIGURE_COLUMN("throughput_gbps", THROUGHPUT), "Gbit/s", V_REAL, .digits = 3,
	 .spread = SPREAD_RANGE, .what = "throughput, T in the scores"},
	{FIGURE_COLUMN("cpu_pct", CPU), "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "CPU use, C in the scores; 100 = one CPU"},
	{FIGURE_COLUMN("power_w", POWER), "W", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "power, P in the scores"},
	{FIGURE_COLUMN("roi_c", ROI_C), NULL, V_REAL, .digits = 4, .spread = SPREAD_RANGE,
	 .what = "T^n / C"},
	{FIGURE_COLUMN("roi_p", ROI_P), NULL, V_REAL, .digits = 4, .spread = SPREAD_RANGE,
	 .what = "T^n / P^m"},
	{MEMBER(struct figure_row, power_source), .type = V_STR,
	 .what = "measured, imported, given or modelled"},
	{MEMBER(struct figure_row, power_kind), .type = V_STR, .what = "wall, platform or package"},
	{MEMBER(struct figure_row, runs), .type = V_INT, .what = "repeats in the estimates"},
};

/* The columns, and why numbers on the command line lack one. */
static const struct {
	enum figure_id id;
	const char *absent;
} figures[] = {
	{FIGURE_THROUGHPUT, "--throughput is missing"},
	{FIGURE_CPU, "--cpu-pct is missing"},
	{FIGURE_POWER, "--power is missing, and --power-model with --cpu-pct as well"},
	{FIGURE_ROI_C, "it needs --cpu-pct"},
	{FIGURE_ROI_P, "it needs --power, or --power-model with --cpu-pct"},
};

/* Adds the row of a side or a total, whose throughput is `of`. */
static void roi_put_row(struct table *t, const struct figure_list *l, const struct figure_value *of)
{
	struct figure_row row = figure_row_of(&(struct block){of->variant, of->side});
	const struct figure_value *power = NULL, *v;

	for (size_t i = 0; i < array_size(figures); i++) {
		v = figure_find(l, figures[i].id, of->variant, of->side);
		row.of[v->id] = v->e;
		if (v->id == FIGURE_POWER)
			power = v;
		if (v->id == FIGURE_CPU && v->twice && v->n)
			note_add_block(&t->notes, v, total_shares_cpus, v->twice);
	}
	row.power_source = power_source_names[power->source];
	row.power_kind = power->kind;
	row.runs = (int64_t)of->repeats;
	table_add(t, struct figure_row, &row);
	if (power->shared && power->source != POWER_MODELLED && of->nsides == 1)
		note_add_block(&t->notes, of, power_of_host);
}

/* Notes work that is not counted in bytes. Such work has no throughput T and has other figures. */
static void roi_note_units(const struct figure_list *l, struct table *t)
{
	const struct block_list *list = &l->blocks[FOR_FIGURES];
	freed(str_free) struct str blocks = {0};
	const char *unit = NULL, *own;

	for (int i = 0; i < list->n; i++) {
		own = work_unit(l->s, list->blocks[i].runs, list->blocks[i].n);
		if (!own || !strcmp(own, "KiB") || (unit && strcmp(own, unit)))
			continue;
		unit = own;
		str_printf(&blocks, "%s%s %s", blocks.len ? ", " : "",
			   list->blocks[i].block.variant, list->blocks[i].block.side);
	}
	if (unit)
		note_add(&t->notes, roi_of_datagrams, blocks.buf, unit, unit);
}

static void roi_note_formula(const struct query *q, struct table *t)
{
	double n = roi_exponent_n(q), m = roi_exponent_m(q);
	char power[32] = "P";

	if (m != 1)
		snprintf(power, sizeof(power), "P^%g", m);
	note_add(&t->notes, roi_formula, n, n, power);
	if (power_is_modelled(q))
		note_add(&t->notes, power_modelled, q->model_idle, q->model_per_cpu);
}

/* Computes the scores from numbers on the command line. */
static int roi_run_numbers(const struct query *q, struct table *t, struct error *err)
{
	double cpu = q->cpu_pct > 0 ? q->cpu_pct : NAN, watts = q->power_w > 0 ? q->power_w : NAN;
	bool modelled = isnan(watts) && power_is_modelled(q) && !isnan(cpu);
	double x[array_size(figures)];
	freed(absences_free) struct absences absent = {0};
	struct figure_row row = figure_row_of(&(struct block){"given", "given"});

	if (modelled)
		watts = q->model_idle + q->model_per_cpu * cpu / 100;
	if (isnan(cpu) && isnan(watts))
		return error_set(
			err, EINVAL,
			"table roi needs a divisor: --cpu-pct for roi_c, --power (or --power-model with --cpu-pct) for roi_p");
	x[0] = q->throughput_gbps;
	x[1] = cpu;
	x[2] = watts;
	x[3] = roi_c(q, x[0], cpu);
	x[4] = roi_p(q, x[0], watts);
	for (size_t i = 0; i < array_size(figures); i++) {
		row.of[figures[i].id].value = x[i];
		if (isnan(x[i]))
			absences_add(&absent, figure_column(figures[i].id), "given", "given",
				     figures[i].absent);
		absences_next(&absent, 1);
	}
	if (!isnan(watts))
		row.power_source = power_source_names[modelled ? POWER_MODELLED : POWER_GIVEN];
	row.runs = 1;
	table_add(t, struct figure_row, &row);
	roi_note_formula(q, t);
	absences_add_notes(&absent, t);
	return 0;
}

int roi_read(struct store *s, const struct query *q, struct figure_list *l, struct table *t,
	     struct error *err)
{
	int rc = figure_list_read(l, s, q, IN_ROI, IN_ROI, err);

	for (size_t i = 0; i < l->n && !rc; i++)
		if (l->list[i].id == FIGURE_THROUGHPUT && figure_is_wanted(&l->list[i], q))
			roi_put_row(t, l, &l->list[i]);
	if (!rc) {
		roi_note_formula(q, t);
		figure_list_note_absent(l, t);
		roi_note_units(l, t);
		power_note_kinds(s, q, t);
		figure_list_notes(l, t);
		rc = busy_notes(s, q, NULL, t, err);
	}
	return rc;
}

static int roi_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(figure_list_free) struct figure_list l = {0};

	if (q->throughput_gbps > 0)
		return roi_run_numbers(q, t, err);
	if (!s)
		return error_set(err, EINVAL,
				 "table roi needs a capture, or --throughput for numbers");
	return roi_read(s, q, &l, t, err);
}

const struct measure measure_roi = {
	.name = "roi",
	.what = "scores: throughput^2 over CPU use, and over power",
	MEASURE_COLUMNS(roi_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "workload-only roi-n roi-m",
		    [SOURCE_NUMBERS] = "throughput cpu-pct power power-model roi-n roi-m"},
	.spare = "runs power_source",
	.collectors = "workload cpu power",
	.flags = MEASURE_TOTAL,
	.run = roi_run,
};
