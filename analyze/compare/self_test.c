// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/compare.h"

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

/* --- the splits: ways to split runs into halves --- */

enum { RUNS_MAX = 64 };

/* Returns choose(n, k). */
static double splits_count(size_t n, size_t k)
{
	double all = 1;
	size_t i;

	for (i = 0; i < k; i++)
		all = all * (double)(n - i) / (double)(i + 1);
	return all;
}

/* Returns the next larger number with the same number of bits set. */
static uint64_t splits_next(uint64_t v)
{
	uint64_t low = v & -v, ripple = v + low;

	return ripple | ((v ^ ripple) >> 2) / low;
}

/* Lists every split. With equal halves, a split and its mirror are one pair: lists that with run 0.
 */
static void splits_fill_all(struct splits *s)
{
	bool mirrored = s->base * 2 == s->runs;
	uint64_t v = (1ULL << s->base) - 1, end = 1ULL << s->runs;

	for (; v < end; v = splits_next(v))
		if (!mirrored || v & 1)
			s->of[s->n++] = v;
}

static uint64_t splits_draw(struct prng *r, size_t runs, size_t base)
{
	uint64_t v = 0;
	size_t left = base, i;

	for (i = 0; i < runs; i++)
		if (prng_below(r, runs - i) < left) {
			v |= 1ULL << i;
			left--;
		}
	return v;
}

void splits_make(struct splits *s, size_t runs, size_t most)
{
	struct prng r;
	double all;

	*s = (struct splits){.runs = runs < RUNS_MAX ? runs : RUNS_MAX - 1};
	s->base = s->runs / 2;
	if (!s->base)
		return;
	all = splits_count(s->runs, s->base) / (s->base * 2 == s->runs ? 2 : 1);
	s->every = all <= (double)most;
	s->of = xcalloc(most + 1, sizeof(*s->of));
	if (s->every) {
		splits_fill_all(s);
		return;
	}
	prng_seed(&r, STATS_SEED);
	while (s->n < most)
		s->of[s->n++] = splits_draw(&r, s->runs, s->base);
}

void splits_free(struct splits *s)
{
	free(s->of);
	*s = (struct splits){0};
}

uint64_t splits_first_half(const struct splits *s)
{
	return (1ULL << s->base) - 1;
}

uint64_t splits_alternate(const struct splits *s)
{
	return 0x5555555555555555ULL & ((1ULL << s->runs) - 1);
}

/* --- figures and rows of costs, split so --- */

/* A primary figure, or a row of a list of costs that is tested. */
struct split_series {
	double *x; /* the figure or cost of each run */
	struct stats_halves *test;
	int better; /* the better direction of a figure; 0: a cost */
};

struct split_list {
	struct split_series *of;
	size_t n, cap;
	double *p;
};

static void split_list_add(struct split_list *l, const struct splits *s, const double *runs,
			   int better)
{
	double *x = xcalloc(s->runs + 1, sizeof(*x));
	size_t i;

	for (i = 0; i < s->runs; i++)
		x[i] = stats_significant(runs[i]);
	array_add(l->of, l->n, l->cap,
		  (struct split_series){x, stats_halves_new(x, s->runs, s->base), better});
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
}

/* Returns whether compare would claim that the halves of a row of costs differ. */
static bool cost_split_claims(const struct comparison *c, const struct figure_runs half[ENDS],
			      double p)
{
	struct diff d = {.possible = true, .nruns = {half[BASE].n, half[NEW].n}};
	struct diff_row row = {.p = p};
	int e;

	for (e = 0; e < ENDS; e++) {
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
			 const struct splits *s, uint64_t base)
{
	const struct split_series *of = &l->of[at];
	struct figure_runs half[ENDS] = {{.pooled = NAN}, {.pooled = NAN}};
	size_t i;
	bool claim;
	int e;

	for (e = 0; e < ENDS; e++)
		half[e].x = xcalloc(s->runs + 1, sizeof(double));
	for (i = 0; i < s->runs; i++) {
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
static size_t split_judge(const struct split_list *l, const struct comparison *c,
			  const struct splits *s, uint64_t base, bool *claim)
{
	size_t i, alarms = 0;

	*claim = false;
	for (i = 0; i < l->n; i++)
		l->p[i] = stats_halves_p(l->of[i].test, base);
	stats_holm(l->p, l->n);
	for (i = 0; i < l->n; i++) {
		if (!(l->p[i] < c->rule.alpha))
			continue;
		alarms++;
		*claim |= split_claims(c, l, i, s, base);
	}
	return alarms;
}

/* Judges all splits, and adds the false alarms to `all`. */
static void alarms_count(struct alarms_list *all, struct alarms *k, const struct comparison *c,
			 const struct split_list *l, const struct splits *s)
{
	bool claim;
	size_t i;

	k->base = s->base;
	k->new = s->runs - s->base;
	k->rows = l->n;
	if (s->n && verdict_possible(&c->rule, k->base, k->new, l->n)) {
		k->halves = split_judge(l, c, s, splits_first_half(s), &claim);
		k->alternate = split_judge(l, c, s, splits_alternate(s), &claim);
		for (i = 0; i < s->n; i++) {
			k->alarms += split_judge(l, c, s, s->of[i], &claim) > 0;
			k->claims += claim;
		}
		k->of = (double)s->n;
		k->splits = s->n;
	}
	alarms_set_attainable(k, c);
	array_add(all->list, all->n, all->cap, *k);
}

/* Tests the primary figures of all sides. They have as many runs as the first, the throughput or
 * the rate. */
static int self_test_metrics(struct alarms_list *all, struct table *notes,
			     const struct comparison *c, struct error *err)
{
	struct alarms k = {
		.variant = c->end[BASE].variant, .table = "metrics", .side = c->side[BASE]};
	struct shown_figure *list;
	struct split_list l = {0};
	struct figures f;
	struct splits s;
	size_t n, i;
	int ret = figures_read(&f, c, notes, err);

	if (ret)
		return ret;
	n = figures_primary(&f, c, &list);
	splits_make(&s, n ? list[0].side->of[list[0].figure][BASE].n : 0, c->splits);
	for (i = 0; i < n && s.n; i++) {
		const struct figure_runs *of = &list[i].side->of[list[i].figure][BASE];

		if (of->n >= s.runs)
			split_list_add(&l, &s, of->x, figure_kinds[list[i].figure].better);
	}
	if (s.runs)
		alarms_count(all, &k, c, &l, &s);
	split_list_free(&l);
	splits_free(&s);
	free(list);
	figures_free(&f);
	return 0;
}

static void self_test_costs(struct alarms_list *all, struct alarms *k, const struct comparison *c,
			    const struct diff *d)
{
	struct split_list l = {0};
	struct splits s;
	double total = 0;
	size_t i;

	splits_make(&s, d->nruns[BASE], c->splits);
	for (i = 0; i < d->n; i++)
		total += stats_mean(d->rows[i].runs[BASE], s.runs);
	for (i = 0; i < d->n && s.n; i++)
		if (stats_mean(d->rows[i].runs[BASE], s.runs) >= FAMILY_SHARE * total)
			split_list_add(&l, &s, d->rows[i].runs[BASE], 0);
	alarms_count(all, k, c, &l, &s);
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
	if (!ret && d.nruns[BASE])
		self_test_costs(all, &k, c, &d);
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
