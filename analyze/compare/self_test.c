// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/self_test.h"

#include "analyze/compare/figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The false alarms of one table. */
struct alarms {
	const char *variant, *table, *side;
	double attainable; /* as a share */
	size_t rows, base, new;
	double alarms, claims, of; /* splits with one in any row; all splits */
	size_t splits, halves, alternate;
};

struct alarms_list {
	struct alarms *list;
	size_t n, cap;
};

/* Returns the share of splits with a false alarm. Its n is 0 where the runs are too few. */
static struct estimate alarms_rate(const struct alarms *k)
{
	if (!(k->of > 0))
		return (struct estimate){.value = NAN};
	return stats_proportion((unsigned)lround(k->alarms / k->of * (double)k->splits),
				(unsigned)k->splits, 0.95);
}

static const char *alarms_result(const struct alarms *k, const struct comparison *c)
{
	return alarms_rate(k).lo > c->rule.alpha ? "too often" : "ok";
}

/* Returns the runs of one variant that a self-test needs. */
static size_t alarms_runs_needed(const struct comparison *c, size_t rows)
{
	return 2 * verdict_runs_needed(&c->rule, rows);
}

/* Sets Bonferroni's bound, which is Holm's first step. */
static void alarms_set_attainable(struct alarms *k, const struct comparison *c)
{
	double level = stats_mann_whitney_level(k->base, k->new, c->rule.alpha / (double)k->rows);

	k->attainable = fmin(c->rule.alpha, (double)k->rows * level);
}

static void alarms_add_row(struct table *t, const struct comparison *c, const struct alarms *k,
			   struct outcome *out)
{
	struct estimate rate = alarms_rate(k);
	bool tested = k->of > 0;
	struct value *row = table_row(t);
	const char *result =
		tested ? alarms_result(k, c)
		       : arena_printf(&t->arena, "needs %zu runs", alarms_runs_needed(c, k->rows));

	table_set(t, row, "variant", value_str(t, k->variant));
	table_set(t, row, "table", value_str(t, k->table));
	table_set(t, row, "side", value_str(t, k->side));
	table_set(t, row, "alarm", value_str(t, "any row"));
	table_set(t, row, "rows", value_int((int64_t)k->rows));
	table_set(t, row, "base_runs", value_int((int64_t)k->base));
	table_set(t, row, "new_runs", value_int((int64_t)k->new));
	table_set(t, row, "result", value_str(t, result));
	outcome_count(out, tested && rate.lo > c->rule.alpha ? VERDICT_WORSE : VERDICT_NONE,
		      k->side, arena_printf(&t->arena, "%s of %s", k->table, k->variant));
	if (!tested)
		return;
	table_set(t, row, "splits", value_int((int64_t)k->splits));
	table_set(t, row, "rate_pct",
		  value_estimate(t, 100 * k->alarms / k->of, 100 * rate.lo, 100 * rate.hi));
	table_set(t, row, "attainable_pct", value_real(100 * k->attainable));
	table_set(t, row, "nominal_pct", value_real(100 * c->rule.alpha));
	table_set(t, row, "claims_pct", value_real(100 * k->claims / k->of));
	table_set(t, row, "halves", value_int((int64_t)k->halves));
	table_set(t, row, "alternate", value_int((int64_t)k->alternate));
}

/* --- metrics: the primary figures of all sides, with Holm's correction --- */

struct figure_splits {
	struct shown_figure *figures;
	struct stats_halves **tests;
	double *p;
	size_t n;
};

/* Starts the tests of the figures with as many runs as the first, the throughput or the rate. */
static void figure_splits_init(struct figure_splits *l, const struct figures *f,
			       const struct comparison *c, struct splits *s)
{
	size_t n = figures_primary(f, c, &l->figures), i;

	splits_make(s, n ? l->figures[0].side->of[l->figures[0].figure][BASE].n : 0, c->splits);
	l->tests = xcalloc(n + 1, sizeof(*l->tests));
	l->p = xcalloc(n + 1, sizeof(*l->p));
	l->n = 0;
	for (i = 0; i < n && s->n; i++) {
		const struct figure_runs *all = &l->figures[i].side->of[l->figures[i].figure][BASE];

		if (all->n < s->runs)
			continue;
		l->figures[l->n] = l->figures[i];
		l->tests[l->n++] = stats_halves_new(all->x, s->runs, s->base);
	}
}

static void figure_splits_free(struct figure_splits *l)
{
	while (l->n)
		stats_halves_free(l->tests[--l->n]);
	free(l->figures);
	free(l->tests);
	free(l->p);
}

/* Returns whether compare would claim that the halves of the first `n` runs differ. */
static bool figure_split_claims(const struct comparison *c, const struct shown_figure *of,
				size_t tests, size_t n, uint64_t base, double p)
{
	const struct figure_runs *all = &of->side->of[of->figure][BASE];
	struct figure_runs half[ENDS] = {{.pooled = NAN}, {.pooled = NAN}};
	struct change k = {.p = p};
	size_t i;
	int e;

	for (e = 0; e < ENDS; e++)
		half[e].x = xcalloc(all->n + 1, sizeof(double));
	for (i = 0; i < n; i++) {
		e = base >> i & 1 ? BASE : NEW;
		half[e].x[half[e].n++] = all->x[i];
	}
	k.base = figure_runs_value(&half[BASE], c->estimator);
	k.new = figure_runs_value(&half[NEW], c->estimator);
	figure_correct(c, figure_kinds[of->figure].better, &half[BASE], &half[NEW], p, tests, &k);
	for (e = 0; e < ENDS; e++)
		free(half[e].x);
	return verdict_is_claim(k.verdict);
}

/* Judges one split. Returns the number of figures with p below alpha. */
static size_t figures_judge_split(const struct figure_splits *l, const struct comparison *c,
				  size_t runs, uint64_t base, bool *claim)
{
	size_t i, alarms = 0;

	*claim = false;
	for (i = 0; i < l->n; i++)
		l->p[i] = stats_halves_p(l->tests[i], base);
	stats_holm(l->p, l->n);
	for (i = 0; i < l->n; i++) {
		if (!(l->p[i] < c->rule.alpha))
			continue;
		alarms++;
		*claim |= figure_split_claims(c, &l->figures[i], l->n, runs, base, l->p[i]);
	}
	return alarms;
}

static void alarms_count_figures(struct alarms *k, const struct comparison *c,
				 const struct figure_splits *l, const struct splits *s)
{
	bool claim;
	size_t i;

	if (!verdict_possible(&c->rule, k->base, k->new, l->n))
		return;
	k->halves = figures_judge_split(l, c, s->runs, splits_first_half(s), &claim);
	k->alternate = figures_judge_split(l, c, s->runs, splits_alternate(s), &claim);
	for (i = 0; i < s->n; i++) {
		k->alarms += figures_judge_split(l, c, s->runs, s->of[i], &claim) > 0;
		k->claims += claim;
	}
	k->of = (double)s->n;
	k->splits = s->n;
}

static int self_test_metrics(struct alarms_list *all, struct table *notes,
			     const struct comparison *c, struct error *err)
{
	struct alarms k = {
		.variant = c->end[BASE].variant, .table = "metrics", .side = c->side[BASE]};
	struct figure_splits l;
	struct figures f;
	struct splits s;
	int ret = figures_read(&f, c, notes, err);

	if (ret)
		return ret;
	figure_splits_init(&l, &f, c, &s);
	k.base = s.base;
	k.new = s.runs - s.base;
	k.rows = l.n;
	alarms_count_figures(&k, c, &l, &s);
	alarms_set_attainable(&k, c);
	if (s.runs)
		array_add(all->list, all->n, all->cap, k);
	figure_splits_free(&l);
	splits_free(&s);
	figures_free(&f);
	return 0;
}

/* --- lists of costs: Holm's correction keeps the rate of any alarm in the table --- */

/* Judges one split; returns whether any row has p below alpha. */
static bool alarms_judge_split(const struct split_list *l, const struct comparison *c,
			       uint64_t base, struct alarms *k, size_t *alarms)
{
	bool any = false, claim = false;
	struct diff d;
	size_t i;

	*alarms = 0;
	diff_split(&d, l, base);
	diff_judge(&d, &c->rule);
	for (i = 0; i < d.n; i++) {
		bool alarm = d.possible && d.rows[i].p < c->rule.alpha;

		*alarms += alarm;
		any |= alarm;
		claim |= verdict_is_claim(d.rows[i].verdict);
	}
	k->rows = d.tests;
	k->claims += claim;
	diff_free(&d);
	return any;
}

static void alarms_count_splits(struct alarms *k, const struct comparison *c,
				const struct split_list *l, const struct splits *s)
{
	struct alarms ignored = {0};
	size_t i, alarms;

	alarms_judge_split(l, c, splits_first_half(s), k, &k->halves);
	k->claims = 0;
	if (!verdict_possible(&c->rule, k->base, k->new, k->rows))
		return;
	alarms_judge_split(l, c, splits_alternate(s), &ignored, &k->alternate);
	for (i = 0; i < s->n; i++)
		k->alarms += alarms_judge_split(l, c, s->of[i], k, &alarms);
	k->of = (double)s->n;
	k->splits = s->n;
}

static void alarms_count_list(struct alarms *k, const struct comparison *c, const struct diff *all)
{
	struct split_list l;
	struct splits s;

	splits_make(&s, all->nruns[BASE], c->splits);
	k->base = s.base;
	k->new = s.runs - s.base;
	split_list_init(&l, all, &s);
	if (s.n)
		alarms_count_splits(k, c, &l, &s);
	alarms_set_attainable(k, c);
	split_list_free(&l);
	splits_free(&s);
}

/* Tests one list; a side without a profile has none. */
static int self_test_list(struct alarms_list *all, struct table *notes, const struct comparison *c,
			  const struct diff_spec *spec, const char *side, struct error *err)
{
	struct alarms k = {.variant = c->end[BASE].variant, .table = spec->measure, .side = side};
	struct error none = {0};
	struct diff d;
	int ret;

	diff_init(&d);
	ret = diff_read(&d, c, BASE, side, spec, notes, &none);
	if (!ret && d.nruns[BASE]) {
		alarms_count_list(&k, c, &d);
		array_add(all->list, all->n, all->cap, k);
	}
	diff_free(&d);
	return ret && ret != -ENODATA ? error_set(err, -ret, "%s", none.text) : 0;
}

static int self_test_lists(struct alarms_list *all, struct table *notes, const struct comparison *c,
			   struct error *err)
{
	const struct diff_spec *const only[] = {c->table ? c->table->spec : NULL};
	static const struct diff_spec *const both[] = {&components_spec, &functions_spec};
	const struct diff_spec *const *specs = c->table ? only : both;
	const char **sides;
	int n = store_sides(c->end[BASE].store, &sides, err), i, ret = n < 0 ? n : 0;
	size_t k, nspecs = c->table ? 1 : array_size(both);

	for (k = 0; k < nspecs; k++)
		for (i = 0; i < n && !ret; i++)
			if (!c->side[BASE] || !strcmp(c->side[BASE], sides[i]))
				ret = self_test_list(all, notes, c, specs[k], sides[i], err);
	free(sides);
	return ret;
}

/* --- all variants of a capture --- */

static void self_test_note_rules(struct table *t, const struct comparison *c)
{
	note_add(
		&t->notes, self_test_rule,
		arena_printf(
			&t->arena,
			"each variant's runs are compared with themselves: split into halves every way there is, or %zu times at random (seed %#llx), and judged as base and new are",
			c->splits, (unsigned long long)STATS_SEED));
	note_add(
		&t->notes, self_test_rule,
		arena_printf(
			&t->arena,
			"rate: p < %g though nothing changed; attainable: what an exact test of so few runs can reach (Holm's correction keeps the alarm of any row below its level); claims: with the threshold of %g %%",
			c->rule.alpha, 100 * c->rule.threshold));
	note_add(
		&t->notes, self_test_rule,
		"a random split hides drift: halves counts the rows in which the first half of the runs differs from the second, alternate those in which every other run differs from the rest");
}

/* Tests the variant at both ends. */
static int self_test_tables(struct alarms_list *all, struct table *notes,
			    const struct comparison *c, struct error *err)
{
	bool figures = !c->table || c->table->of_figures, lists = !c->table || !figures;
	int ret = figures ? self_test_metrics(all, notes, c, err) : 0;

	return ret || !lists ? ret : self_test_lists(all, notes, c, err);
}

/* Adds the rows of a variant. Sets *tested if the runs of one of them can be split. */
static int self_test_variant(struct comparison *c, const char *variant, struct table *t,
			     struct outcome *out, bool *tested, struct error *err)
{
	struct alarms_list all = {0};
	int ret, e;
	size_t i;

	for (e = 0; e < ENDS; e++)
		c->end[e].variant = variant;
	ret = compare_estimator(c, err);
	if (!ret)
		ret = self_test_tables(&all, t, c, err);
	for (i = 0; i < all.n && !ret; i++) {
		alarms_add_row(t, c, &all.list[i], out);
		*tested |= all.list[i].splits > 0;
	}
	free(all.list);
	return ret;
}

const struct compare_table comparison_self_test = {
	COMPARE_NAMES("self-test"),
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_NUMBERS] = "side variant threshold estimator unit basis workload-only"},
	.spare = "base_runs new_runs nominal_pct rows",
};

static int self_test_variants(struct comparison *c, const char *only, struct table *t,
			      struct outcome *out, bool *tested, struct error *err)
{
	const char **names = NULL;
	int n = store_variants(c->end[BASE].store, &names, err), i, ret = n < 0 ? n : 0;

	for (i = 0; i < n && !ret; i++)
		if (str_matches(only, names[i]))
			ret = self_test_variant(c, names[i], t, out, tested, err);
	free(names);
	return ret;
}

int compare_self_test(struct comparison *c, const char *capture, const char *variant,
		      struct table *t, struct outcome *out, struct error *err)
{
	const char *ref = variant ? variant : "*";
	bool tested = false;
	int ret;

	c->splits = SPLITS;
	compare_table_init(&comparison_self_test, t);
	table_title(t, "false alarms of compare on %s", capture);
	ret = compare_open(c, capture, ref, ref, err);
	if (!ret)
		ret = compare_close(c, self_test_variants(c, variant, t, out, &tested, err), err);
	if (!ret && !t->rows)
		ret = error_set(err, ENODATA, "%s has no runs to split", capture);
	self_test_note_rules(t, c);
	if (!ret && !tested) {
		note_add(&t->notes, self_test_none);
		t->lossy = true;
	}
	return ret;
}

bool compare_self_tests(const struct compare_table *table)
{
	return table->of_figures || (table->spec && !table->spec->groups);
}
