// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of merit of both ends, one row each. Throughput, CPU, power and scores are those of
 * the measure `roi`, run by run; copying and system calls those of the passes profile and syscalls.
 * A figure that one end lacks is an empty cell; a figure that both lack has no row.
 */
#include "analyze/compare/compare.h"

#include "analyze/compare/figures.h"
#include "analyze/compare/costs.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is better, by `better` + 1. */
static const char *const directions[] = {"less", NULL, "more"};

static const struct column columns[] = {
	{"side", .type = V_STR},
	{"metric", .type = V_STR},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"base", .type = V_REAL, .digits = 3, .what = "over the runs, by the estimator"},
	{"new", .type = V_REAL, .digits = 3},
	{"change_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "change",
	 .what = "100 x (new / base - 1)"},
	{"p", .type = V_REAL, .digits = 4, .what = "exact Mann-Whitney, two-sided"},
	{"better", .type = V_STR, .what = "more, less, or empty: neither"},
	{"verdict", .type = V_STR, .what = "better, worse, ~ or too few runs; empty: not judged"},
	{"base_runs", .type = V_INT},
	{"new_runs", .type = V_INT},
	{"scope", .type = V_STR, .what = SCOPE_WHAT},
};

static double ratio_percent(double ratio)
{
	return 100 * (ratio - 1);
}

static bool figure_has_zero(const struct figure_runs *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!(s->x[i] > 0))
			return true;
	return false;
}

/*
 * Returns all ratios that the test of the verdict does not reject, so that interval and p agree.
 * With too few runs for a verdict, returns a bootstrap interval, from which no claim follows. A
 * base run of 0 has no ratio, so that no interval is known. A difference divided by the base's
 * median is no substitute: it can fall below -100 %.
 */
static struct estimate figure_interval(const struct comparison *c, const struct figure_runs *base,
				       const struct figure_runs *new)
{
	double p;
	struct estimate e = stats_test_ratio(base->x, base->n, new->x, new->n, c->rule.alpha, &p);

	if (!verdict_possible(&c->rule, base->n, new->n, 1) && !figure_has_zero(base))
		return stats_boot_ratio(c->estimator, base->x, base->n, new->x, new->n, 0.95);
	return e;
}

/* Returns whether test and figures disagree in direction. Differences work with zeros too. */
static bool figure_is_opposed(const struct comparison *c, const struct figure_runs *base,
			      const struct figure_runs *new, double change)
{
	double p;
	struct estimate e = stats_test_shift(base->x, base->n, new->x, new->n, c->rule.alpha, &p);

	return verdict_opposed(&e, 0, change);
}

static enum verdict figure_judge(const struct comparison *c, int better,
				 const struct figure_runs *base, const struct figure_runs *new,
				 const struct change *change, size_t tests)
{
	enum verdict v;

	if (isnan(change->base) || isnan(change->new) || !better)
		return VERDICT_NONE;
	if (!verdict_possible(&c->rule, base->n, new->n, tests))
		return VERDICT_FEW;
	v = verdict_of(&c->rule, better, change->base, change->new, change->p);
	if (v == VERDICT_SAME || figure_is_opposed(c, base, new, change->new - change->base))
		return VERDICT_SAME;
	return verdict_after_drift(&c->rule, v, change->new - change->base, base->x, base->n,
				   new->x, new->n);
}

struct change figure_change(const struct comparison *c, int better, const struct figure_runs *base,
			    const struct figure_runs *new)
{
	struct change k = {.base = figure_value(base, c->estimator),
			   .new = figure_value(new, c->estimator)};

	figure_correct(c, better, base, new, stats_mann_whitney(base->x, base->n, new->x, new->n),
		       1, &k);
	k.ratio = figure_interval(c, base, new);
	k.ratio.value = k.base != 0 ? k.new / k.base : NAN;
	/* The interval is that of single runs. Outliers can pull the change out of it. */
	if (k.ratio.value < k.ratio.lo || k.ratio.value > k.ratio.hi)
		k.ratio.lo = k.ratio.hi = NAN;
	return k;
}

void figure_correct(const struct comparison *c, int better, const struct figure_runs *base,
		    const struct figure_runs *new, double p, size_t tests, struct change *k)
{
	k->p = p;
	k->verdict = figure_judge(c, better, base, new, k, tests);
}

static bool figure_is_modelled(const struct side_figures *side, enum figure f)
{
	return side->modelled && (f == FIGURE_POWER || f == FIGURE_ROI_P);
}

/* Appends the unit with the exponents in use: "T^2/P" of "T^n/P^m". */
static void figure_print_unit(struct str *s, const struct query *q, enum figure f)
{
	const char *p = figure_kinds[f].unit;
	double exponent;

	for (; *p; p++) {
		if (*p != '^') {
			str_putc(s, *p);
			continue;
		}
		exponent = *++p == 'n' ? q->roi_n ?: 2 : q->roi_m ?: 1;
		if (exponent != 1)
			str_printf(s, "^%g", exponent);
	}
}

static enum verdict metrics_add_row(struct table *t, const struct comparison *c, enum figure f,
				    const struct side_figures *side)
{
	const struct figure_kind *m = &figure_kinds[f];
	const struct figure_runs *base = &side->of[f][BASE], *new = &side->of[f][NEW];
	struct change k = figure_change(c, m->better, base, new);
	struct value *row = table_row(t);
	char *name = arena_printf(&t->arena, "%s%s", m->name,
				  f != FIGURE_COPY  ? ""
				  : side->copy_unit ? side->copy_unit
						    : "kib");
	struct str unit = {0};

	table_set(t, row, "side", value_str(t, side->side));
	table_set(t, row, "metric", value_str(t, name));
	figure_print_unit(&unit, &c->query, f);
	str_puts(&unit, figure_is_modelled(side, f) ? ", modelled" : "");
	table_set(t, row, "unit", value_str(t, unit.buf));
	str_free(&unit);
	table_set(t, row, "base", value_real(k.base));
	table_set(t, row, "new", value_real(k.new));
	table_set(t, row, "change_pct",
		  value_estimate(t, ratio_percent(k.ratio.value), ratio_percent(k.ratio.lo),
				 ratio_percent(k.ratio.hi)));
	table_set(t, row, "p", k.verdict == VERDICT_FEW ? value_none() : value_real(k.p));
	table_set(t, row, "scope", value_str(t, scope_of(&c->query, m->scope)));
	table_set(t, row, "better", value_str(t, directions[m->better + 1]));
	table_set(t, row, "verdict", value_str(t, verdict_name(k.verdict)));
	table_set(t, row, "base_runs", value_int(base->n));
	table_set(t, row, "new_runs", value_int(new->n));
	return k.verdict;
}

/* Notes that a row has a bootstrap interval, because its runs are too few for the exact one. */
static void metrics_note_bootstrap(struct table *t)
{
	size_t row;

	for (row = 0; row < t->rows; row++) {
		if (!strcmp(table_text(t, row, "verdict"), verdict_name(VERDICT_FEW)) &&
		    !isnan(table_interval(t, row, "change_pct").low)) {
			note_add(&t->notes, compare_bootstrap, STATS_ROUNDS,
				 (unsigned long long)STATS_SEED);
			return;
		}
	}
}

/* Notes that a row has no interval although both ends have several runs. */
static void metrics_note_no_ratio(struct table *t)
{
	size_t row;

	for (row = 0; row < t->rows; row++) {
		if (table_real(t, row, "base_runs") < 2 || table_real(t, row, "new_runs") < 2 ||
		    isnan(table_real(t, row, "base")) || isnan(table_real(t, row, "new")) ||
		    !isnan(table_interval(t, row, "change_pct").low))
			continue;
		note_add(&t->notes, compare_zero_base);
		return;
	}
}

static void metrics_note_rules(struct table *t, const struct comparison *c)
{
	note_add(&t->notes, compare_interval, estimator_names[c->estimator], c->rule.alpha);
	metrics_note_bootstrap(t);
	metrics_note_no_ratio(t);
	note_add(&t->notes, compare_verdict, c->rule.alpha, 100 * c->rule.threshold,
		 verdict_runs_needed(&c->rule, 1));
}

static bool figure_all_zero(const struct figure_runs *ends)
{
	size_t i;
	int e;

	for (e = 0; e < ENDS; e++)
		for (i = 0; i < ends[e].n; i++)
			if (ends[e].x[i] != 0)
				return false;
	return true;
}

/*
 * Returns whether the row is left out: no end has the figure, or it is a kind of trouble that no
 * run had. The workload's own retransmits stay where other sockets of the namespace had some.
 */
static bool figure_is_left_out(const struct side_figures *side, enum figure f)
{
	const struct figure_runs *ends = side->of[f];

	if (!ends[BASE].n && !ends[NEW].n)
		return true;
	if (f == FIGURE_OWN_RETRANSMITS && !figure_all_zero(side->of[FIGURE_RETRANSMITS]))
		return false;
	return figure_kinds[f].counter && figure_all_zero(ends);
}

/* Names the last row as worse but not gated. Names beyond the buffer are cut: one name suffices. */
static void outcome_add_aside(struct outcome *out, const struct table *t)
{
	const char *side = table_text(t, t->rows - 1, "side");
	const char *metric = table_text(t, t->rows - 1, "metric");
	size_t at = strlen(out->aside);

	snprintf(out->aside + at, sizeof(out->aside) - at, "%s%s %s", at ? ", " : "", side, metric);
}

static void metrics_add_side(struct table *t, const struct comparison *c,
			     const struct side_figures *side, struct outcome *out)
{
	const char *asked = c->query.unit && strcmp(c->query.unit, "KiB") ? c->query.unit : NULL;
	enum verdict v;
	int place;

	for (place = 0; place < 2 * FIGURES; place++) {
		enum figure f = place % FIGURES;
		bool first = asked && strstr(figure_kinds[f].name, asked);

		/* The figures of the unit that --unit names come before the others. */
		if (first != (place < FIGURES) || figure_is_left_out(side, f))
			continue;
		v = metrics_add_row(t, c, f, side);
		if (figure_kinds[f].gate && !figure_is_modelled(side, f))
			outcome_count(out, v, side->side, table_text(t, t->rows - 1, "metric"));
		else if (v == VERDICT_WORSE)
			outcome_add_aside(out, t);
	}
}

/*
 * Notes the two verdicts on the side's data copy, if exactly one is a claim: the same data, two
 * rules.
 */
static bool metrics_note_copy_differs(struct table *t, size_t row, const struct side_figures *side)
{
	const struct diff_row *r = diff_find(&side->components, COPY_COMPONENT, NULL);
	const char *verdict = table_text(t, row, "verdict");
	bool claim = !strcmp(verdict, verdict_name(VERDICT_BETTER)) ||
		     !strcmp(verdict, verdict_name(VERDICT_WORSE)) ||
		     !strcmp(verdict, verdict_name(VERDICT_COPIED));

	if (!r || claim == verdict_is_claim(r->verdict))
		return false;
	note_add(&t->notes, compare_copy_differs, side->side, *verdict ? verdict : "not tested",
		 table_text(t, row, "metric"), verdict_name(r->verdict) ?: "not tested",
		 side->components.tests);
	return true;
}

/* Notes why this row and the components' "data copy" can differ, or that they do. */
static void metrics_note_copy(struct table *t, const struct figures *f)
{
	const char *name = NULL;
	bool differs = false;
	size_t row, i;

	for (row = 0; row < t->rows; row++) {
		if (!str_starts(table_text(t, row, "metric"), COPY_NAME))
			continue;
		name = name ?: table_text(t, row, "metric");
		for (i = 0; i < f->n; i++)
			if (!strcmp(f->side[i].side, table_text(t, row, "side")))
				differs |= metrics_note_copy_differs(t, row, &f->side[i]);
	}
	if (name && !differs)
		note_add(&t->notes, compare_copy_alone, name);
}

/* Notes that the cost of the total at an end is not the sum of the sides' rows. */
static void metrics_note_total(struct table *t, const struct comparison *c, const struct figures *f,
			       enum figure cost, enum end e)
{
	const struct figure_runs *total = &f->side[f->n - 1].of[cost][e];
	double value = figure_value(total, c->estimator), sum = 0;
	size_t i;

	for (i = 0; i + 1 < f->n; i++)
		sum += f->side[i].part[e] * figure_value(&f->side[i].of[cost][e], c->estimator);
	if (total->n && fabs(sum - value) > 0.0005 * value)
		note_add_of(&t->notes, c->end[e].label, NULL, compare_total,
			    figure_kinds[cost].name + strlen("ns_per_"), value,
			    estimator_names[c->estimator], sum);
}

static void metrics_note_totals(struct table *t, const struct comparison *c,
				const struct figures *f)
{
	static const enum figure costs[] = {FIGURE_NS_PER_KIB, FIGURE_NS_PER_PACKET,
					    FIGURE_NS_PER_MESSAGE};
	size_t i;
	int e;

	for (i = 0; f->n > 1 && i < array_size(costs); i++)
		for (e = 0; e < ENDS; e++)
			metrics_note_total(t, c, f, costs[i], (enum end)e);
}

static void metrics_add_movements(struct table *t, const struct comparison *c,
				  const struct figures *f)
{
	struct movements m = {0};
	size_t i;

	for (i = 0; i < f->n; i++)
		movements_add(&m, f->side[i].side, &f->side[i].components,
			      f->side[i].components.unit);
	if (!m.n && c->query.workload_only)
		note_add(&t->notes, compare_no_workload);
	else if (!m.n)
		note_add(&t->notes, compare_no_profile);
	movements_add_notes(&m, c, t, "component");
	movements_free(&m);
}

int compare_note_workload(const struct comparison *c, struct table *t, struct error *err)
{
	struct query q;
	int e, ret = 0;

	for (e = 0; e < ENDS && !ret; e++) {
		q = compare_query(c, (enum end)e, c->side[BASE]);
		ret = busy_notes(c->end[e].store, &q, c->end[e].label, t, err);
	}
	return ret;
}

static int compare_metrics(const struct comparison *c, struct table *t, struct outcome *out,
			   struct error *err)
{
	struct figures f;
	size_t i;
	int ret;

	table_title(t, "%s against %s", c->end[NEW].label, c->end[BASE].label);
	ret = figures_read(&f, c, t, err);
	if (ret)
		return ret;
	for (i = 0; i < f.n; i++)
		if (!c->total || !strcmp(f.side[i].side, SIDE_TOTAL))
			metrics_add_side(t, c, &f.side[i], out);
	if (!t->rows)
		ret = error_set(err, ENODATA, "neither %s nor %s has a figure to compare%s%s",
				c->end[BASE].label, c->end[NEW].label,
				c->side[BASE] || c->total ? " of the " : "",
				c->total	? SIDE_TOTAL
				: c->side[BASE] ? c->side[BASE]
						: "");
	metrics_add_movements(t, c, &f);
	metrics_note_rules(t, c);
	metrics_note_copy(t, &f);
	metrics_note_totals(t, c, &f);
	if (c->query.workload_only)
		note_add(&t->notes, workload_no_part);
	figures_free(&f);
	return ret ?: compare_note_workload(c, t, err);
}

const struct compare_table comparison_metrics = {
	COMPARE_NAMES("metrics"),
	.what = "throughput, CPU, scores, copying and system calls (default)",
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_CAPTURE] =
			    OPT_VERDICT OPT_MODEL "from to workload-only unit basis roi-n roi-m"},
	.spare = "base_runs new_runs better scope",
	.run = compare_metrics,
};
