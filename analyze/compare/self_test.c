// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/compare.h"

#include "analyze/compare/figure_runs.h"

#include <errno.h>
#include <math.h>

/* --- the table of false alarms --- */

static const struct column columns[] = {
	{"variant", .type = V_STR},
	{"table", .type = V_STR},
	{"side", .type = V_STR},
	{"alarm", .type = V_STR, .what = "what counts: any row of the table"},
	{"rows", .type = V_INT, .what = "that are tested"},
	{"base_runs", .type = V_INT, .what = "of one half"},
	{"new_runs", .type = V_INT, .what = "of the other"},
	{"splits", .type = V_INT},
	{"rate_pct", "%", V_REAL, .digits = 2, .spread = SPREAD_RANGE, .stem = "rate",
	 .what = "splits with p below alpha"},
	{"attainable_pct", "%", V_REAL, .digits = 2,
	 .what = "what the exact test can reach with so many runs"},
	{"nominal_pct", "%", V_REAL, .digits = 2, .what = "alpha"},
	{"claims_pct", "%", V_REAL, .digits = 2,
	 .what = "splits with a verdict better or worse: threshold and all"},
	{"halves", .type = V_INT,
	 .what = "rows with p below alpha, first half of the runs against second"},
	{"alternate", .type = V_INT, .what = "the same, every other run against the rest"},
	{"result", .type = V_STR, .what = "ok, too often, or the runs that the test needs"},
};

/* A self-test of one variant, and the table that receives its rows. */
struct self_test {
	const struct comparison *c;
	struct table *t;
	bool tested; /* the runs of a row could be split */
};

/* --- the splits: ways to split runs into halves --- */

/* Returns the next larger number with the same number of bits set. */
static uint64_t splits_next(uint64_t v)
{
	uint64_t low = v & -v, ripple = v + low;

	return ripple | ((v ^ ripple) >> 2) / low;
}

static uint64_t splits_draw(struct prng *r, size_t runs, size_t base)
{
	uint64_t v = 0;
	size_t left = base;

	for (size_t i = 0; i < runs; i++)
		if (prng_below(r, runs - i) < left) {
			v |= 1ULL << i;
			left--;
		}
	return v;
}

void splits_make(struct splits *s, size_t runs, size_t base, size_t most)
{
	struct prng r;
	double all; /* choose(runs, base), each pair of halves once */
	size_t i;

	*s = (struct splits){.runs = runs < SPLIT_RUNS ? runs : SPLIT_RUNS};
	s->base = base < s->runs / 2 ? base : s->runs / 2;
	if (!s->base)
		return;
	s->first_half = (1ULL << s->base) - 1;
	s->alternate = 0x5555555555555555ULL & ((1ULL << s->runs) - 1);
	for (all = s->base * 2 == s->runs ? 0.5 : 1, i = 0; i < s->base; i++)
		all = all * (double)(s->runs - i) / (double)(i + 1);
	s->every = all <= (double)most;
	s->of = xcalloc(most + 1, sizeof(*s->of));
	/* With equal halves, a split and its mirror are one pair: the list has that with run 0. */
	for (uint64_t v = s->first_half; s->every && v < 1ULL << s->runs; v = splits_next(v))
		if (s->base * 2 != s->runs || v & 1)
			s->of[s->n++] = v;
	prng_seed(&r, STATS_SEED);
	while (!s->every && s->n < most)
		s->of[s->n++] = splits_draw(&r, s->runs, s->base);
}

void splits_free(struct splits *s)
{
	free(s->of);
	*s = (struct splits){0};
}

/* --- figures and rows of costs, split so --- */

/* A primary figure, or a row of a list of costs that is tested. */
struct split_series {
	double *x; /* the figure or cost of each run */
	struct stats_halves *test;
	int better; /* the better direction of a figure; 0: a cost */
};

struct split_list {
	struct splits s;
	struct split_series *of;
	size_t n, cap;
	double *p;
};

static void split_list_add(struct split_list *l, const double *runs, int better)
{
	double *x = xcalloc(l->s.runs + 1, sizeof(*x));

	for (size_t i = 0; i < l->s.runs; i++)
		x[i] = stats_significant(runs[i]);
	array_add(l->of, l->n, l->cap,
		  (struct split_series){x, stats_halves_new(x, l->s.runs, l->s.base), better});
	l->p = xrealloc(l->p, l->cap * sizeof(*l->p));
}

static void split_list_free(struct split_list *l)
{
	while (l->n) {
		stats_halves_free(l->of[--l->n].test);
		free(l->of[l->n].x);
	}
	free(l->of);
	free(l->p);
	splits_free(&l->s);
}

/* Returns whether compare would claim that the halves of a row of costs differ. */
static bool cost_split_claims(const struct comparison *c, const struct figure_runs half[ENDS],
			      double p)
{
	struct diff d = {.possible = true, .nruns = {half[BASE].n, half[NEW].n}};
	struct diff_row row = {.p = p};

	for (int e = 0; e < ENDS; e++) {
		row.runs[e] = half[e].x;
		row.cost[e] = stats_mean(half[e].x, half[e].n);
		row.seen[e] = true;
	}
	row.delta = row.cost[NEW] - row.cost[BASE];
	diff_judge_row(&d, &c->rule, &row);
	return verdict_is_claim(row.verdict);
}

/* Does the same for a figure, one of `tests`. */
static bool figure_split_claims(const struct comparison *c, const struct figure_runs half[ENDS],
				int better, size_t tests, double p)
{
	struct change k = {.p = p,
			   .base = figure_runs_value(&half[BASE], c->estimator),
			   .new = figure_runs_value(&half[NEW], c->estimator)};

	figure_correct(c, better, &half[BASE], &half[NEW], p, tests, &k);
	return verdict_is_claim(k.verdict);
}

static bool split_claims(const struct comparison *c, const struct split_list *l, size_t at,
			 uint64_t base)
{
	const struct split_series *of = &l->of[at];
	const struct splits *s = &l->s;
	struct figure_runs half[ENDS] = {{.pooled = NAN}, {.pooled = NAN}};
	bool claim;
	int e;

	for (e = 0; e < ENDS; e++)
		half[e].x = xcalloc(s->runs + 1, sizeof(double));
	for (size_t i = 0; i < s->runs; i++) {
		e = base >> i & 1 ? BASE : NEW;
		half[e].x[half[e].n++] = of->x[i];
	}
	claim = of->better ? figure_split_claims(c, half, of->better, l->n, l->p[at])
			   : cost_split_claims(c, half, l->p[at]);
	for (e = 0; e < ENDS; e++)
		free(half[e].x);
	return claim;
}

/* Judges one split. Returns the number of rows with p below alpha. */
static size_t split_judge(const struct split_list *l, const struct comparison *c, uint64_t base,
			  bool *claim)
{
	size_t alarms = 0;

	*claim = false;
	for (size_t i = 0; i < l->n; i++)
		l->p[i] = stats_halves_p(l->of[i].test, base);
	stats_holm(l->p, l->n);
	for (size_t i = 0; i < l->n; i++) {
		if (!(l->p[i] < c->rule.alpha))
			continue;
		alarms++;
		*claim |= split_claims(c, l, i, base);
	}
	return alarms;
}

/* Adds the share of splits with a false alarm, what such a test can attain, and the verdict. */
static void self_test_put_alarms(const struct self_test *w, struct value *row,
				 const struct split_list *l)
{
	const struct comparison *c = w->c;
	const struct splits *s = &l->s;
	double alarms = 0, claims = 0, all = (double)s->n, attainable;
	struct estimate rate;
	struct table *t = w->t;
	bool claim, often;

	for (size_t i = 0; i < s->n; i++) {
		alarms += split_judge(l, c, s->of[i], &claim) > 0;
		claims += claim;
	}
	rate = stats_proportion((unsigned)alarms, (unsigned)s->n, 0.95);
	often = rate.lo > c->rule.alpha;
	/* Bonferroni's bound, which is Holm's first step */
	attainable = (double)l->n * stats_mann_whitney_level(s->base, s->runs - s->base,
							     c->rule.alpha / (double)l->n);
	table_set(t, row, "result", value_str(t, often ? "too often" : "ok"));
	table_set(t, row, "splits", value_int((int64_t)s->n));
	table_set(t, row, "rate_pct",
		  value_estimate(t, 100 * alarms / all, 100 * rate.lo, 100 * rate.hi));
	table_set(t, row, "attainable_pct", value_real(100 * fmin(c->rule.alpha, attainable)));
	table_set(t, row, "nominal_pct", value_real(100 * c->rule.alpha));
	table_set(t, row, "claims_pct", value_real(100 * claims / all));
	table_set(t, row, "halves", value_int((int64_t)split_judge(l, c, s->first_half, &claim)));
	table_set(t, row, "alternate", value_int((int64_t)split_judge(l, c, s->alternate, &claim)));
}

/* Judges all splits of a table. */
static void self_test_add_row(struct self_test *w, const struct split_list *l, const char *table,
			      const char *side)
{
	const struct verdict_rule *rule = &w->c->rule;
	const struct splits *s = &l->s;
	struct table *t = w->t;
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, w->c->end[BASE].variant));
	table_set(t, row, "table", value_str(t, table));
	table_set(t, row, "side", value_str(t, side));
	table_set(t, row, "alarm", value_str(t, "any row"));
	table_set(t, row, "rows", value_int((int64_t)l->n));
	table_set(t, row, "base_runs", value_int((int64_t)s->base));
	table_set(t, row, "new_runs", value_int((int64_t)(s->runs - s->base)));
	if (s->n && verdict_possible(rule, s->base, s->runs - s->base, l->n)) {
		self_test_put_alarms(w, row, l);
		w->tested = true;
	} else {
		table_set(t, row, "result",
			  value_str(t, arena_printf(&t->arena, "needs %zu runs",
						    2 * verdict_runs_needed(rule, l->n))));
	}
}

/* Tests the primary figures of all sides. They have as many runs as the first, the throughput or
 * the rate. */
static int self_test_metrics(struct self_test *w, struct error *err)
{
	const struct comparison *c = w->c;
	autofree struct shown_figure *list = NULL;
	freed(split_list_free) struct split_list l = {0};
	freed(figures_free) struct figures f;
	size_t n, runs;
	int ret = figures_read(&f, c, w->t, err);

	if (ret)
		return ret;
	n = figures_primary(&f, c, &list);
	runs = n ? list[0].side->of[list[0].figure][BASE].n : 0;
	splits_make(&l.s, runs, runs / 2, c->splits);
	for (size_t i = 0; i < n && l.s.n; i++) {
		const struct figure_runs *of = &list[i].side->of[list[i].figure][BASE];

		if (of->n >= l.s.runs)
			split_list_add(&l, of->x, figure_kinds[list[i].figure].better);
	}
	if (l.s.runs)
		self_test_add_row(w, &l, "metrics", c->side[BASE]);
	return 0;
}

/* Tests one list; a side without a profile has none. */
static int self_test_list(struct self_test *w, const struct diff_spec *spec, const char *side,
			  struct error *err)
{
	freed(split_list_free) struct split_list l = {0};
	struct error none = {0};
	freed(diff_free) struct diff d = {0};
	double total = 0;
	int ret;

	ret = diff_read(&d, w->c, BASE, side, spec, w->t, &none);
	if (!ret && d.nruns[BASE]) {
		splits_make(&l.s, d.nruns[BASE], d.nruns[BASE] / 2, w->c->splits);
		for (size_t i = 0; i < d.n; i++)
			total += stats_mean(d.rows[i].runs[BASE], l.s.runs);
		for (size_t i = 0; i < d.n && l.s.n; i++)
			if (stats_mean(d.rows[i].runs[BASE], l.s.runs) >= FAMILY_SHARE * total)
				split_list_add(&l, d.rows[i].runs[BASE], 0);
		self_test_add_row(w, &l, spec->measure, side);
	}
	return ret && ret != -ENODATA ? error_set(err, -ret, "%s", none.text) : 0;
}

/* Tests the lists of --table, or components and functions, of each side. */
static int self_test_lists(struct self_test *w, struct error *err)
{
	const struct comparison *c = w->c;
	const struct diff_spec *const specs[] = {c->table ? c->table->spec : &components_spec,
						 c->table ? NULL : &functions_spec};
	autofree const char **sides = NULL;
	int n = store_sides(c->end[BASE].store, &sides, err), ret = n < 0 ? n : 0;

	for (size_t k = 0; k < array_size(specs) && specs[k]; k++)
		for (int i = 0; i < n && !ret; i++)
			if (!c->side[BASE] || !strcmp(c->side[BASE], sides[i]))
				ret = self_test_list(w, specs[k], sides[i], err);
	return ret;
}

/* --- all variants of a capture --- */

static void self_test_note_rules(struct table *t, const struct comparison *c)
{
	note_add(
		&t->notes, table_how,
		arena_printf(
			&t->arena,
			"each variant's runs are compared with themselves: split into halves every way there is, or %zu times at random (seed %#llx), and judged as base and new are",
			c->splits, (unsigned long long)STATS_SEED));
	note_add(
		&t->notes, table_how,
		arena_printf(
			&t->arena,
			"rate: p < %g though nothing changed; attainable: what an exact test of so few runs can reach (Holm's correction keeps the alarm of any row below its level); claims: with the threshold of %g %%",
			c->rule.alpha, 100 * c->rule.threshold));
	note_add(
		&t->notes, table_how,
		"a random split hides drift: halves counts the rows in which the first half of the runs differs from the second, alternate those in which every other run differs from the rest");
}

static int self_test_variant(struct self_test *w, struct comparison *c, const char *variant,
			     struct error *err)
{
	int ret;

	c->end[BASE].variant = c->end[NEW].variant = variant;
	ret = compare_estimator(c, err);
	if (!ret && (!c->table || c->table->of_figures))
		ret = self_test_metrics(w, err);
	if (!ret && !(c->table && c->table->of_figures))
		ret = self_test_lists(w, err);
	return ret;
}

const struct compare_table comparison_self_test = {
	COMPARE_NAMES("self-test"),
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_NUMBERS] = "side variant threshold estimator unit basis workload-only"},
	.spare = "base_runs new_runs nominal_pct rows",
};

static int self_test_variants(struct self_test *w, struct comparison *c, const char *only,
			      struct error *err)
{
	autofree const char **names = NULL;
	int n = store_variants(c->end[BASE].store, &names, err), ret = n < 0 ? n : 0;

	for (int i = 0; i < n && !ret; i++)
		if (str_matches(only, names[i]))
			ret = self_test_variant(w, c, names[i], err);
	return ret;
}

int compare_self_test(struct comparison *c, const char *capture, const char *variant,
		      struct table *t, struct error *err)
{
	const char *ref = variant ? variant : "*";
	struct self_test w = {.c = c, .t = t};
	int ret;

	c->splits = SPLITS;
	compare_table_init(&comparison_self_test, t);
	table_title(t, "false alarms of compare on %s", capture);
	ret = compare_open(c, capture, ref, ref, err);
	ret = ret ?: compare_close(c, self_test_variants(&w, c, variant, err), err);
	if (!ret && !t->rows)
		ret = error_set(err, ENODATA, "%s has no runs to split", capture);
	self_test_note_rules(t, c);
	if (!ret && !w.tested) {
		note_add(&t->notes, self_test_none);
		t->lossy = true;
	}
	return ret;
}
