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
#include "analyze/probes/power/table.h"
#include "analyze/figures/scores.h"
#include "analyze/scope/placement.h"
#include "analyze/costs/basis.h"
#include "analyze/evidence/zerocopy.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column roi_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR, .what = "of the plan, or total for all of them"},
	{"throughput_gbps", "Gbit/s", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "throughput, T in the scores"},
	{"cpu_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "CPU use, C in the scores; 100 = one CPU"},
	{"power_w", "W", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "power, P in the scores"},
	{"roi_c", NULL, V_REAL, .digits = 4, .spread = SPREAD_RANGE, .what = "T^n / C"},
	{"roi_p", NULL, V_REAL, .digits = 4, .spread = SPREAD_RANGE, .what = "T^n / P^m"},
	{"power_source", .type = V_STR, .what = "measured, imported, given or modelled"},
	{"power_kind", .type = V_STR, .what = "wall, platform or package"},
	{"runs", .type = V_INT, .what = "repeats in the estimates"},
};

/* Figures of one repeat. A missing figure is NAN. */
struct roi_score {
	double t, c, p, roi_c, roi_p;
};

static const struct {
	const char *column;
	size_t offset;
	const char *absent; /* why the figure is missing, for a capture */
	const char *option; /* why the figure is missing, for numbers on the command line */
	const char *over;   /* divisor of a score, else NULL */
} figures[] = {
	{"throughput_gbps", offsetof(struct roi_score, t),
	 "the workload did not report its bytes (zcost capture --units)", "--throughput is missing",
	 NULL},
	{"cpu_pct", offsetof(struct roi_score, c), "CPU time was not collected",
	 "--cpu-pct is missing", NULL},
	{"power_w", offsetof(struct roi_score, p),
	 "no power source: import a meter's readings with 'zcost analyze --power-csv', or use --power-model",
	 "--power is missing, and --power-model with --cpu-pct as well", NULL},
	{"roi_c", offsetof(struct roi_score, roi_c), "it needs throughput and CPU use",
	 "it needs --cpu-pct", "cpu_pct"},
	{"roi_p", offsetof(struct roi_score, roi_p), "it needs throughput and power",
	 "it needs --power, or --power-model with --cpu-pct", "power_w"},
};

struct roi_scores {
	struct roi_score *s;
	size_t n, cap;
	enum power_source source;
	const char *kind;
	bool shared;
};

static void roi_exponents(const struct query *q, double *n, double *m)
{
	*n = q->roi_n > 0 ? q->roi_n : 2;
	*m = q->roi_m > 0 ? q->roi_m : 1;
}

static void roi_compute(const struct query *q, struct roi_score *s)
{
	double n, m;

	roi_exponents(q, &n, &m);
	s->roi_c = s->c > 0 ? pow(s->t, n) / s->c : NAN;
	s->roi_p = s->p > 0 ? pow(s->t, n) / pow(s->p, m) : NAN;
}

static void roi_add_score(struct store *s, const struct query *q, const struct run *const sides[],
			  int n, struct roi_scores *list)
{
	struct power power = power_of(s, q, sides, n);
	struct roi_score one = {.t = n > 1 ? transfer_rate(s, sides[0], "throughput")
					   : figure_metric(s, sides[0], "throughput"),
				.p = power.watts};
	int i;

	for (i = 0; i < n; i++)
		one.c += busy_of_cpus(q) ? cpu_pct_unshared(s, sides, i)
					 : figure_metric(s, sides[i], busy_metric(q));
	roi_compute(q, &one);
	for (i = 0; i < n; i++)
		if (sent_datagrams(s, sides[i]))
			one.roi_c = one.roi_p = NAN;
	array_grow(list->s, list->n, list->cap);
	list->s[list->n++] = one;
	if (power.source > list->source) {
		list->source = power.source;
		list->kind = power.kind;
	}
	list->shared |= power.shared;
}

static struct estimate roi_estimate(const struct roi_scores *list, size_t offset, enum estimator e)
{
	double *x = xcalloc(list->n + 1, sizeof(*x)), v;
	struct estimate result = {NAN, NAN, NAN, NAN, 0, 0};
	size_t n = 0, i;

	for (i = 0; i < list->n; i++) {
		memcpy(&v, (const char *)&list->s[i] + offset, sizeof(v));
		if (!isnan(v))
			x[n++] = v;
	}
	if (n)
		result = stats_estimate(e, x, n, 0.95);
	free(x);
	return result;
}

static void roi_put_scores(struct table *t, const char *variant, const char *side,
			   const struct roi_scores *list, enum estimator est)
{
	struct value *row = table_row(t);
	struct estimate e;
	size_t i;

	table_set(t, row, "variant", value_str(t, variant));
	table_set(t, row, "side", value_str(t, side));
	for (i = 0; i < array_size(figures); i++) {
		e = roi_estimate(list, figures[i].offset, est);
		put_estimate(t, row, figures[i].column, &e);
	}
	table_set(t, row, "power_source", value_str(t, power_source_names[list->source]));
	table_set(t, row, "power_kind", value_str(t, list->kind));
	table_set(t, row, "runs", value_int((int64_t)list->n));
}

static void roi_put_side(struct block_table *k)
{
	const struct block_runs *b = k->b;
	struct roi_scores scores = {0};
	int i;

	for (i = 0; i < b->n; i++) {
		const struct run *side[] = {&b->runs[i]};

		roi_add_score(k->s, k->q, side, 1, &scores);
	}
	roi_put_scores(k->t, b->block.variant, b->block.side, &scores, k->list.estimator);
	if (scores.shared && scores.source != POWER_MODELLED)
		note_add_block(&k->t->notes, &b->block, power_of_host);
	free(scores.s);
}

/* Adds a note on shared CPUs for the row just added. */
static void roi_note_shared(struct table *t, const char *variant, const char *cpus)
{
	bool known = table_cell(t, t->rows - 1, table_column(t, "cpu_pct"))->type != V_NONE;

	if (known)
		note_add_of(&t->notes, variant, "total", total_shares_cpus, cpus);
	else
		note_add_of(&t->notes, variant, "total", total_without_cpu, cpus);
}

/* Adds the total of one variant, of `n` sides. */
static void roi_put_total(struct block_table *k, const struct block_runs *sides, int n)
{
	const struct run **runs = xcalloc((size_t)n, sizeof(*runs));
	struct roi_scores scores = {0};
	char *cpus = NULL;
	int i;

	for (i = 0; i < sides->n; i++) {
		if (!block_runs_same_repeat(sides, n, &sides->runs[i], runs))
			continue;
		roi_add_score(k->s, k->q, runs, n, &scores);
		if (!cpus && busy_of_cpus(k->q))
			cpus = shared_cpus(runs, n);
	}
	roi_put_scores(k->t, sides->block.variant, "total", &scores, k->list.estimator);
	if (!scores.n)
		note_add_of(&k->t->notes, sides->block.variant, "total", total_no_repeat);
	if (cpus)
		roi_note_shared(k->t, sides->block.variant, cpus);
	free(cpus);
	free(scores.s);
	free(runs);
}

/*
 * Returns true if all sides above a total have the figure. roi_put_total() then says why the
 * total has none.
 */
static bool roi_total_explains(const struct table *t, size_t row, int column)
{
	const char *variant = table_cell(t, row, 0)->str;

	if (strcmp(table_cell(t, row, 1)->str, "total") != 0)
		return false;
	while (row-- && !strcmp(table_cell(t, row, 0)->str, variant))
		if (table_cell(t, row, column)->type == V_NONE)
			return false;
	return true;
}

static bool roi_is_udp(struct store *s, const struct block_list *list, const char *variant)
{
	int i, r;

	for (i = 0; i < list->n; i++)
		for (r = 0;
		     r < list->blocks[i].n && !strcmp(list->blocks[i].block.variant, variant); r++)
			if (sent_datagrams(s, &list->blocks[i].runs[r]))
				return true;
	return false;
}

/*
 * Returns why the row lacks the figure, or NULL for datagrams. `list` is NULL for numbers on the
 * command line.
 */
static const char *roi_why_absent(struct store *s, const struct query *q,
				  const struct block_list *list, const struct table *t, size_t row,
				  size_t figure)
{
	const char *over = figures[figure].over;

	if (!list)
		return figures[figure].option;
	if (q->workload_only && !strcmp(figures[figure].column, "cpu_pct"))
		return busy_absent;
	if (over && table_cell(t, row, table_column(t, over))->type != V_NONE &&
	    roi_is_udp(s, list, table_cell(t, row, 0)->str))
		return NULL;
	return figures[figure].absent;
}

/*
 * Adds a note for work that is not counted in bytes. Such work has no throughput T and has other
 * figures.
 */
static void roi_note_units(struct store *s, const struct block_list *list, struct table *t)
{
	struct str blocks = {0};
	const char *unit = NULL, *own;
	int i;

	for (i = 0; i < list->n; i++) {
		own = work_unit(s, list->blocks[i].runs, list->blocks[i].n);
		if (!own || !strcmp(own, "KiB") || (unit && strcmp(own, unit)))
			continue;
		unit = own;
		str_printf(&blocks, "%s%s %s", blocks.len ? ", " : "",
			   list->blocks[i].block.variant, list->blocks[i].block.side);
	}
	if (unit)
		note_add(&t->notes, roi_of_datagrams, blocks.buf, unit, unit);
	str_free(&blocks);
}

/* Adds a note for each score that lacks an input: "power_w is absent for a b: ...". */
static void roi_note_absent(struct store *s, const struct query *q, const struct block_list *list,
			    struct table *t)
{
	struct absences absent = {0};
	size_t i, row;

	for (i = 0; i < array_size(figures); i++) {
		int c = table_column(t, figures[i].column);

		for (row = 0; row < t->rows; row++)
			if (table_cell(t, row, c)->type == V_NONE && !roi_total_explains(t, row, c))
				absences_add(&absent, figures[i].column, table_cell(t, row, 0)->str,
					     table_cell(t, row, 1)->str,
					     roi_why_absent(s, q, list, t, row, i));
		absences_next(&absent, t->rows);
	}
	absences_add_notes(&absent, t);
	absences_free(&absent);
}

static void roi_note_formula(const struct query *q, struct table *t)
{
	char power[32] = "P";
	double n, m;

	roi_exponents(q, &n, &m);
	if (m != 1)
		snprintf(power, sizeof(power), "P^%g", m);
	note_add(&t->notes, roi_formula, n, n, power);
	if (power_is_modelled(q))
		note_add(&t->notes, power_modelled_absent, q->model_idle, q->model_per_cpu);
}

/* Computes the scores from numbers on the command line. */
static int roi_run_numbers(const struct query *q, struct table *t, struct error *err)
{
	struct roi_score one = {q->throughput_gbps, q->cpu_pct > 0 ? q->cpu_pct : NAN,
				q->power_w > 0 ? q->power_w : NAN, NAN, NAN};
	struct roi_scores list = {.s = &one, .n = 1};

	if (isnan(one.p) && power_is_modelled(q)) {
		one.p = q->model_idle + q->model_per_cpu * one.c / 100;
		list.source = isnan(one.p) ? POWER_NONE : POWER_MODELLED;
	} else if (!isnan(one.p)) {
		list.source = POWER_GIVEN;
	}
	roi_compute(q, &one);
	if (isnan(one.roi_c) && isnan(one.roi_p))
		return error_set(
			err, EINVAL,
			"table roi needs a divisor: --cpu-pct for roi_c, --power (or --power-model with --cpu-pct) for roi_p");
	roi_put_scores(t, "given", "given", &list, EST_MEDIAN);
	roi_note_formula(q, t);
	roi_note_absent(NULL, q, NULL, t);
	return 0;
}

static int roi_put_block(struct block_table *k, struct error *err)
{
	int n = block_list_total(&k->list, (int)(k->b - k->list.blocks));

	(void)err;
	roi_put_side(k);
	if (n)
		roi_put_total(k, k->b + 1 - n, n);
	return 0;
}

static void roi_add_notes(struct block_table *k)
{
	roi_note_formula(k->q, k->t);
	roi_note_absent(k->s, k->q, &k->list, k->t);
	roi_note_units(k->s, &k->list, k->t);
	power_note_kinds(k->s, k->q, k->t);
}

static int roi_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	if (q->throughput_gbps > 0)
		return roi_run_numbers(q, t, err);
	if (!s)
		return error_set(err, EINVAL,
				 "table roi needs a capture, or --throughput for numbers");
	return block_table_run(s, q, t, roi_put_block, roi_add_notes, err)
		       ?: busy_notes(s, q, NULL, t, err);
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
