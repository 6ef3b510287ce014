// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table `metrics`: the figures of both ends with verdicts, one row each. The list of the
 * figures is analyze/figures/figures.def. Throughput, CPU, power and scores are those of the
 * measure `roi`, run by run; copying and system calls those of the passes profile and syscalls. A
 * figure that one end lacks is an empty cell; a figure that both lack has no row.
 */
#include "analyze/compare/compare.h"

#include "analyze/compare/gate.h"
#include "analyze/compare/diff.h"

#include <errno.h>
#include <math.h>

/* What is better, by `better` + 1. */
static const char *const directions[] = {"less", NULL, "more"};

static const struct column columns[] = {
	{MEMBER(struct metrics_row, side), .type = V_STR},
	{MEMBER(struct metrics_row, metric), .type = V_STR},
	{MEMBER(struct metrics_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct metrics_row, base), .type = V_REAL, .digits = 3,
	 .what = "over the runs, by the estimator"},
	{MEMBER(struct metrics_row, new), .type = V_REAL, .digits = 3},
	{"change_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "change",
	 .what = "100 x (new / base - 1)"},
	{MEMBER(struct metrics_row, p), .type = V_REAL, .digits = 4,
	 .what = "exact Mann-Whitney, two-sided; with a verdict: Holm's correction"},
	{MEMBER(struct metrics_row, better), .type = V_STR,
	 .what = "more, less, or empty: neither"},
	{MEMBER(struct metrics_row, verdict), .type = V_STR,
	 .what = "better, worse, ~ or too few runs; empty: secondary, not judged"},
	{MEMBER(struct metrics_row, base_runs), .type = V_INT},
	{MEMBER(struct metrics_row, new_runs), .type = V_INT},
	{MEMBER(struct metrics_row, scope), .type = V_STR, .what = SCOPE_WHAT},
};

struct value figure_change_value(struct table *t, const struct change *k)
{
	const struct estimate *r = &k->ratio;

	return value_estimate(t, 100 * (r->value - 1), 100 * (r->lo - 1), 100 * (r->hi - 1));
}

static bool figure_has_zero(const struct figure_runs *s)
{
	return array_find(x, s->x, s->n, !(*x > 0));
}

/*
 * Returns all ratios that the test of the verdict does not reject at `alpha`, so that interval and
 * p agree. With too few runs for a verdict on `tests`, returns a bootstrap interval, from which no
 * claim follows. A base run of 0 has no ratio, so that no interval is known. A difference divided
 * by the base's median is no substitute: it can fall below -100 %.
 */
static struct estimate figure_interval(const struct comparison *c, const struct figure_runs *base,
				       const struct figure_runs *new, double alpha, size_t tests)
{
	double p;
	struct estimate e = stats_test_ratio(base->x, base->n, new->x, new->n, alpha, &p);

	if (!verdict_possible(&c->rule, base->n, new->n, tests) && !figure_has_zero(base))
		return stats_boot_ratio(c->estimator, base->x, base->n, new->x, new->n, 0.95);
	return e;
}

static enum verdict figure_judge(const struct comparison *c, int better,
				 const struct figure_runs *base, const struct figure_runs *new,
				 const struct change *change, size_t tests)
{
	struct estimate shift; /* differences work with zeros, too */
	enum verdict v;
	double p;

	if (isnan(change->base) || isnan(change->new) || !better)
		return VERDICT_NONE;
	if (!verdict_possible(&c->rule, base->n, new->n, tests))
		return VERDICT_FEW;
	v = verdict_of(&c->rule, better, change->base, change->new, change->p);
	if (v == VERDICT_SAME)
		return v;
	shift = stats_test_shift(base->x, base->n, new->x, new->n, c->rule.alpha, &p);
	if (verdict_opposed(&shift, 0, change->new - change->base))
		return VERDICT_SAME;
	v = verdict_beside_others(v, fmax(base->others, new->others));
	return verdict_after_drift(&c->rule, v, change->new - change->base, base->x, base->n,
				   new->x, new->n);
}

struct change figure_change(const struct comparison *c, int better, const struct figure_runs *base,
			    const struct figure_runs *new)
{
	struct change k = {.base = figure_runs_value(base, c->estimator),
			   .new = figure_runs_value(new, c->estimator),
			   .p = stats_mann_whitney(base->x, base->n, new->x, new->n)};

	figure_correct(c, better, base, new, k.p, 1, &k);
	return k;
}

void figure_correct(const struct comparison *c, int better, const struct figure_runs *base,
		    const struct figure_runs *new, double p, size_t tests, struct change *k)
{
	double alpha = c->rule.alpha * (p > 0 ? k->p / p : 1);

	k->p = p;
	k->verdict = figure_judge(c, better, base, new, k, tests);
	k->ratio = figure_interval(c, base, new, alpha, tests);
	k->ratio.value = k->base != 0 ? k->new / k->base : NAN;
	/* The interval is that of single runs. Outliers can pull the change out of it. */
	if (k->ratio.value < k->ratio.lo || k->ratio.value > k->ratio.hi)
		k->ratio.lo = k->ratio.hi = NAN;
}

/* --- all figures --- */

static bool figure_runs_equal(const struct figure_runs *a, const struct figure_runs *b)
{
	return a->n == b->n && a->n && !memcmp(a->x, b->x, a->n * sizeof(*a->x));
}

/* Copies the change to sides with the same runs: the same figure, as the receiver's throughput is
 * that of the total. It is tested once. */
static void figures_repeat_change(const struct figures *f, const struct shown_figure *of)
{
	const struct figure_runs *ends = of->side->of[of->figure], *other;

	for (size_t i = 0; i < f->n; i++) {
		other = f->side[i].of[of->figure];
		if (figure_runs_equal(&ends[BASE], &other[BASE]) &&
		    figure_runs_equal(&ends[NEW], &other[NEW]))
			f->side[i].change[of->figure] = of->side->change[of->figure];
	}
}

/* Judges the primary figures, with Holm's correction over those that can be better or worse. */
static void figures_judge_primary(const struct figures *f, const struct comparison *c,
				  struct outcome *out)
{
	autofree struct shown_figure *list = NULL;
	size_t n = figures_primary(f, c, &list);
	autofree double *p = xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++) {
		bool withheld = figure_is_withheld(list[i].side->of[list[i].figure]);

		p[i] = withheld ? NAN : list[i].side->change[list[i].figure].p;
		out->tests += !withheld;
	}
	stats_holm(p, n);
	for (size_t i = 0; i < n; i++) {
		enum figure_id k = list[i].figure;
		const struct figure_runs *of = list[i].side->of[k];
		struct change *change = &list[i].side->change[k];

		figure_correct(c, figure_kinds[k].better, &of[BASE], &of[NEW],
			       isnan(p[i]) ? change->p : p[i], out->tests, change);
		figures_repeat_change(f, &list[i]);
		freed(str_free) struct str unit = {0};

		figure_print_unit(&unit, &c->query, k, true);
		gate_add_row(out->gate, list[i].side->side, figure_kinds[k].name, unit.buf, change);
		if (!out->runs[BASE] || of[BASE].n + of[NEW].n < out->runs[BASE] + out->runs[NEW]) {
			out->runs[BASE] = of[BASE].n;
			out->runs[NEW] = of[NEW].n;
		}
	}
}

void figures_judge(struct figures *f, const struct comparison *c, struct outcome *out)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		for (enum figure_id k = 0; k < FIGURES; k++) {
			const struct figure_runs *of = f->side[i].of[k];

			f->side[i].change[k] = figure_change(c, 0, &of[BASE], &of[NEW]);
		}
	figures_judge_primary(f, c, out);
}

bool figure_is_tested(const struct comparison *c, const struct shown_figure *r)
{
	const struct figure_runs *of = r->side->of[r->figure];

	return r->side->change[r->figure].verdict != VERDICT_FEW &&
	       verdict_possible(&c->rule, of[BASE].n, of[NEW].n, 1);
}

static void metrics_add_row(struct table *t, const struct comparison *c,
			    const struct shown_figure *r)
{
	const struct side_figures *side = r->side;
	const struct figure_kind *m = &figure_kinds[r->figure];
	const struct change *k = &side->change[r->figure];
	struct value *cells;
	char *name = arena_printf(&t->arena, "%s%s", m->name,
				  r->figure == FIGURE_COPY ? work_word(side->copy_unit) : "");
	freed(str_free) struct str unit = {0};

	figure_print_unit(&unit, &c->query, r->figure, !strcmp(m->unit, "1"));
	str_puts(&unit, side->modelled[r->figure] ? ", modelled" : "");
	cells = table_add(t, struct metrics_row,
			  &(struct metrics_row){.side = side->side,
						.metric = name,
						.unit = unit.buf,
						.base = k->base,
						.new = k->new,
						.p = figure_is_tested(c, r) ? k->p : NAN,
						.scope = scope_of(&c->query, m->scope),
						.better = directions[m->better + 1],
						.verdict = verdict_name(k->verdict),
						.base_runs = (int64_t)side->of[r->figure][BASE].n,
						.new_runs = (int64_t)side->of[r->figure][NEW].n});
	table_set(t, cells, "change_pct", figure_change_value(t, k));
}

/*
 * Notes that a row has a bootstrap interval, because its runs are too few for the exact one, and
 * that a row has no interval although both ends have several runs.
 */
static void metrics_note_intervals(struct table *t, const struct comparison *c,
				   const struct figures *f)
{
	bool bootstrap = false, none = false;

	for (const struct shown_figure *r = f->rows; r < f->rows + f->nrows; r++) {
		const struct change *k = &r->side->change[r->figure];
		const struct figure_runs *of = r->side->of[r->figure];

		bootstrap |= !figure_is_tested(c, r) && !isnan(k->ratio.lo);
		none |= of[BASE].n > 1 && of[NEW].n > 1 && isnan(k->ratio.lo);
	}
	if (bootstrap)
		note_add(&t->notes, compare_bootstrap, STATS_ROUNDS,
			 (unsigned long long)STATS_SEED);
	if (none)
		note_add(&t->notes, compare_zero_base);
}

static void metrics_note_rules(struct table *t, const struct comparison *c, const struct figures *f,
			       const struct outcome *out)
{
	size_t needed = verdict_runs_needed(&c->rule, out->tests);

	note_add(&t->notes, compare_interval, estimator_names[c->estimator], c->rule.alpha);
	metrics_note_intervals(t, c, f);
	note_add(
		&t->notes, compare_verdict, c->rule.alpha, out->tests,
		"primary figures (other rows have the p of a single test: one of 20 has p < 0.05 by chance alone)",
		100 * c->rule.threshold, needed);
	if (out->tests && !verdict_possible(&c->rule, out->runs[BASE], out->runs[NEW], out->tests))
		note_add(&t->notes, compare_few, out->tests, needed, out->runs[BASE],
			 out->runs[NEW]);
}

static bool figure_all_zero(const struct figure_runs *ends)
{
	for (int e = 0; e < ENDS; e++)
		for (size_t i = 0; i < ends[e].n; i++)
			if (ends[e].x[i] != 0)
				return false;
	return true;
}

/*
 * Returns whether the row is left out: no end has the figure, or it is a kind of trouble that no
 * run had. The workload's own retransmits stay where other sockets of the namespace had some.
 */
static bool figure_is_left_out(const struct side_figures *side, enum figure_id f)
{
	const struct figure_runs *ends = side->of[f];

	if ((!ends[BASE].n && !ends[NEW].n) || figure_is_covered(side, f))
		return true;
	if (f == FIGURE_OWN_RETRANSMITS && !figure_all_zero(side->of[FIGURE_RETRANSMITS]))
		return false;
	return figure_kinds[f].trouble && figure_all_zero(ends);
}

static void metrics_add_side(struct table *t, const struct comparison *c, struct figures *f,
			     struct side_figures *side)
{
	const char *asked = c->query.unit && strcmp(c->query.unit, "KiB") ? c->query.unit : NULL;

	for (int place = 0; place < 2 * FIGURES; place++) {
		const struct shown_figure r = {side, place % FIGURES};
		const char *work = figure_kinds[r.figure].work;
		bool first = asked && work && !strcmp(work, asked);

		/* The figures of the unit that --unit names come before the others. */
		if (first != (place < FIGURES) || figure_is_left_out(side, r.figure))
			continue;
		metrics_add_row(t, c, &r);
		array_add(f->rows, f->nrows, f->rows_cap, r);
	}
}

int compare_note_workload(const struct comparison *c, struct table *t, struct error *err)
{
	struct query q;
	int ret = 0;

	for (int e = 0; e < ENDS && !ret; e++) {
		q = compare_query(c, (enum end)e, c->side[BASE]);
		ret = busy_notes(c->end[e].store, &q, c->end[e].label, t, err);
	}
	return ret;
}

static int compare_metrics(const struct comparison *c, struct table *t, struct outcome *out,
			   struct error *err)
{
	struct figures own = {0}, *f = out->figures ?: &own;
	freed(str_free) struct str counts = {0};
	struct movements m = {0};
	int ret;

	table_title(t, "%s against %s", c->end[NEW].label, c->end[BASE].label);
	ret = figures_read(f, c, t, err);
	if (ret)
		return ret;
	figures_judge(f, c, out);
	for (size_t i = 0; i < f->n; i++)
		if (!c->total || !strcmp(f->side[i].side, SIDE_TOTAL))
			metrics_add_side(t, c, f, &f->side[i]);
	if (!t->rows)
		ret = error_set(err, ENODATA, "neither %s nor %s has a figure to compare%s%s",
				c->end[BASE].label, c->end[NEW].label,
				c->side[BASE] || c->total ? " of the " : "",
				c->total	? SIDE_TOTAL
				: c->side[BASE] ? c->side[BASE]
						: "");
	for (size_t i = 0; i < f->n; i++)
		movements_add(&m, f->side[i].side, &f->side[i].components,
			      f->side[i].components.unit);
	if (!m.n)
		note_add(&t->notes, compare_no_profile,
			 c->query.workload_only ? " that names the processes of the workload" : "");
	f->nmoved = movements_add_notes(&m, c, t, "component");
	f->moved = m.list;
	metrics_note_rules(t, c, f, out);
	if (c->query.workload_only) {
		figure_print_counts_of_cpus(&counts);
		note_add(&t->notes, workload_no_part, counts.buf);
	}
	if (f == &own)
		figures_free(f);
	return ret ?: compare_note_workload(c, t, err);
}

const struct compare_table comparison_metrics = {
	COMPARE_NAMES("metrics"),
	.pairs = &comparison_pairs,
	.of_figures = true,
	.what = "throughput, CPU, scores, copying and system calls (default)",
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_CAPTURE] =
			    OPT_VERDICT OPT_MODEL "from to workload-only unit basis roi-n roi-m"},
	.spare = "base_runs new_runs better scope",
	.run = compare_metrics,
};
