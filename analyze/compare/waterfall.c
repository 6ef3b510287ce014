// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps from BASE's cost to NEW's: first the rows that got cheaper, then those that got more
 * expensive, the largest step first. All figures are multiples of the last printed digit, and a row
 * "(rounding)" has the rest. So the printed column adds up in every format.
 */
#include "analyze/compare/compare.h"

#include "analyze/compare/diff.h"

#include <math.h>

enum { STEPS = 12 };

static const struct column columns[] = {
	{MEMBER_NAMED("step", struct costs_row, key), .type = V_STR},
	{MEMBER(struct costs_row, delta_ns), "ns", V_REAL, .digits = 2, .spread = SPREAD_HALF,
	 .stem = "delta", .what = "what the step adds"},
	{MEMBER(struct costs_row, total_ns), "ns", V_REAL, .digits = 2, .what = "after it"},
	{MEMBER(struct costs_row, sampling_error), "ns", V_REAL, .digits = 2, .optional = true,
	 .what = "of delta_ns, where an end has one run: half of 95 %"},
	{MEMBER(struct costs_row, p), .type = V_REAL, .digits = 4,
	 .what = "exact Mann-Whitney, two-sided, Holm's correction"},
	{MEMBER(struct costs_row, verdict), .type = V_STR,
	 .what = "better, worse, ~ or too few runs; empty: not tested"},
	{MEMBER(struct costs_row, state), .type = V_STR,
	 .what = "new or vanished: no sample at one end; empty: both"},
};

struct waterfall {
	struct table *t;
	const struct diff_row **steps; /* the steps of the diff, sorted */
	size_t n;
	double scale; /* 100: figures are multiples of 0.01 */
	long long at; /* the running total, in 1 / scale */
};

static int waterfall_order(const void *a, const void *b)
{
	const struct diff_row *x = *(const struct diff_row *const *)a;
	const struct diff_row *y = *(const struct diff_row *const *)b;

	return descending(!!signbit(x->delta), !!signbit(y->delta))
		       ?: descending(fabs(x->delta), fabs(y->delta)) ?: strcmp(x->key, y->key);
}

static long long waterfall_round(const struct waterfall *w, double x)
{
	return llround(x * w->scale);
}

/* Adds a row of a step, or of an end without `delta`. */
static void waterfall_add_row(struct waterfall *w, struct costs_row row, const long long *delta)
{
	w->at += delta ? *delta : 0;
	row.delta_ns.value = delta ? (double)*delta / w->scale : NAN;
	row.total_ns = (double)w->at / w->scale;
	table_add(w->t, struct costs_row, &row);
}

/* Adds a row that has no test. */
static void waterfall_add_untested(struct waterfall *w, const char *name, const long long *delta)
{
	waterfall_add_row(
		w,
		(struct costs_row){
			.key = name, .delta_ns.half = NAN, .sampling_error = NAN, .p = NAN},
		delta);
}

static void waterfall_add_step(struct waterfall *w, const struct diff_row *r)
{
	const char *name = r->key2 ? arena_printf(&w->t->arena, "%s %s", r->key, r->key2) : r->key;
	long long delta = waterfall_round(w, r->delta);

	waterfall_add_row(w,
			  (struct costs_row){.key = name,
					     .delta_ns.half = r->delta_ci,
					     .sampling_error = r->delta_sampling,
					     .p = diff_p(r),
					     .verdict = verdict_name(r->verdict),
					     .state = cost_state(r)},
			  &delta);
}

/* Chooses the largest rows of the diff that the printed digits show. */
static void waterfall_choose_steps(struct waterfall *w, const struct comparison *c,
				   const struct diff *d)
{
	size_t limit = c->limit > 0 ? (size_t)c->limit : STEPS;

	if (limit > d->n)
		limit = d->n;
	w->steps = xcalloc(limit + 1, sizeof(*w->steps));
	for (w->n = 0; w->n < limit && waterfall_round(w, d->rows[w->n].delta); w->n++)
		w->steps[w->n] = &d->rows[w->n];
	array_sort(w->steps, w->n, waterfall_order);
}

static void waterfall_add_end(struct waterfall *w, const struct comparison *c, enum end e)
{
	waterfall_add_untested(
		w,
		arena_printf(&w->t->arena, "%s %s", e == BASE ? "base:" : "new:", c->end[e].label),
		NULL);
}

static void waterfall_add_all(struct waterfall *w, const struct comparison *c,
			      const struct cost_list *l)
{
	const struct diff *d = &l->d;
	double others = 0;
	long long left;
	char *name;

	waterfall_choose_steps(w, c, d);
	w->at = waterfall_round(w, d->total[BASE]);
	waterfall_add_end(w, c, BASE);
	for (size_t i = 0; i < w->n; i++)
		waterfall_add_step(w, w->steps[i]);
	for (size_t i = w->n; i < d->n; i++)
		others += d->rows[i].delta;
	if (w->n < d->n) {
		name = arena_printf(&w->t->arena, "(%zu other %s)", d->n - w->n, l->spec->measure);
		left = waterfall_round(w, others);
		waterfall_add_untested(w, name, &left);
	}
	left = waterfall_round(w, d->total[NEW]) - w->at;
	if (left)
		waterfall_add_untested(w, "(rounding)", &left);
	waterfall_add_end(w, c, NEW);
	free(w->steps);
}

static int compare_waterfall(const struct comparison *c, struct table *t, struct outcome *out,
			     struct error *err)
{
	struct waterfall w = {.t = t};
	struct cost_list l;
	int ret, digits;

	ret = cost_list_read(&l, c, diff_spec_find(c->by ? c->by : "components"), t, err);
	if (ret)
		return ret;
	digits = cost_digits(&l);
	w.scale = pow(10, digits);
	cost_columns(t, l.unit, digits);
	table_title(t, "%s%s%s, ns per %s: from %s to %s", l.spec->measure,
		    *l.side ? " of the " : "", l.side, l.unit, c->end[BASE].label,
		    c->end[NEW].label);
	waterfall_add_all(&w, c, &l);
	cost_list_add_notes(&l, c, t);
	cost_list_outcome(&l, out);
	diff_free(&l.d);
	return 0;
}

const struct compare_table comparison_waterfall = {
	COMPARE_NAMES("waterfall"), .what = "from BASE's cost to NEW's, step by step (--by)",
	MEASURE_COLUMNS(columns),   OPT_COST_LIST("by"),
	.spare = "state",	    .run = compare_waterfall,
};
