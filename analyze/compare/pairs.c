// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the variants of two patterns, pair by pair: 'send+*' with 'splice+*'. A variant of BASE
 * and a variant of NEW are a pair if they have the same settings. Each pair is one row. The figures
 * and verdicts are those of the table of metrics, with Holm's correction over the rows of a metric.
 */
#include "analyze/compare/gate.h"
#include "analyze/evidence/limits.h"

#include <errno.h>
#include <math.h>

struct pair {
	const char *variant[ENDS];
	struct verdict_rule rule;
	struct figures figures;
	struct side_figures *side; /* the total or the only one; NULL where no run succeeded */
};

struct pairs {
	struct pair *list;
	size_t n, cap;
	const char **variants, **settings;
	int nvariants, nsettings;
	struct str alone; /* variants without a partner */
};

#define FOR_PAIR_FIGURES(id)                   \
	for ((id) = 0; (id) < FIGURES; (id)++) \
		if (figure_kinds[id].in & IN_PAIRS)

/* --- which variants are a pair --- */

/* Finds the only variant of NEW with these settings, other than `variant` itself. */
static int pair_find_partner(const struct pairs *p, const struct comparison *c, const char *variant,
			     const char **partner, struct error *err)
{
	const char *pattern = c->end[NEW].label;
	const char *key = store_settings_key(c->end[BASE].store, variant);

	*partner = NULL;
	for (int i = 0; i < p->nvariants; i++) {
		const char *name = p->variants[i];

		if (!str_matches(pattern, name) || !strcmp(name, variant) ||
		    strcmp(store_settings_key(c->end[BASE].store, name), key) != 0)
			continue;
		if (*partner)
			return error_set(
				err, EINVAL,
				"'%s' matches %s and %s, which have the same settings: a pattern must match one variant for each combination of settings",
				pattern, *partner, name);
		*partner = name;
	}
	return 0;
}

static bool pairs_have(const struct pairs *p, const char *variant)
{
	for (size_t i = 0; i < p->n; i++)
		for (int e = 0; e < ENDS; e++)
			if (!strcmp(p->list[i].variant[e], variant))
				return true;
	return false;
}

/* Finds the pairs in the plan's order of BASE, and the variants that have no partner. */
static int pairs_find(struct pairs *p, const struct comparison *c, struct error *err)
{
	const char *partner;
	int ret = 0;

	p->nvariants = store_variants(c->end[BASE].store, &p->variants, err);
	p->nsettings = store_names(c->end[BASE].store, NAMES_SETTING, &p->settings, err);
	if (p->nvariants < 0 || p->nsettings < 0)
		return -err->code;
	for (int i = 0; i < p->nvariants && !ret; i++) {
		const char *name = p->variants[i];

		if (!str_matches(c->end[BASE].label, name) || pairs_have(p, name))
			continue;
		ret = pair_find_partner(p, c, name, &partner, err);
		if (!ret && partner)
			array_add(p->list, p->n, p->cap, (struct pair){.variant = {name, partner}});
	}
	for (int i = 0; i < p->nvariants && !ret; i++)
		for (int e = 0; e < ENDS; e++)
			if (str_matches(c->end[e].label, p->variants[i]) &&
			    !pairs_have(p, p->variants[i])) {
				str_printf(&p->alone, "%s%s", p->alone.len ? ", " : "",
					   p->variants[i]);
				break;
			}
	if (!ret && !p->n)
		ret = error_set(
			err, ENOENT,
			"no variant of '%s' has the settings of a variant of '%s'; 'zcost report variants' lists the settings",
			c->end[NEW].label, c->end[BASE].label);
	return ret;
}

/* --- figures and verdicts --- */

static struct comparison pair_comparison(const struct comparison *c, const struct pair *pair)
{
	struct comparison one = *c;

	for (int e = 0; e < ENDS; e++)
		one.end[e].variant = one.end[e].label = (char *)pair->variant[e];
	one.rule = pair->rule;
	return one;
}

static int pair_read(struct pair *pair, const struct comparison *c, struct table *notes,
		     struct error *err)
{
	struct comparison one;
	freed(str_free) struct str ignored = {0};
	enum figure_id id;
	int ret;

	pair->rule = c->rule;
	one = pair_comparison(c, pair);
	compare_evidence(&one, &ignored);
	ret = compare_drift(&one, &ignored, err);
	pair->rule = one.rule;
	ret = ret ?: figures_read(&pair->figures, &one, notes, err);
	if (ret || !pair->figures.n)
		return ret;
	pair->side = &pair->figures.side[pair->figures.n - 1];
	FOR_PAIR_FIGURES(id)
	{
		const struct figure_runs *of = pair->side->of[id];

		pair->side->change[id] =
			figure_change(&one, figure_kinds[id].better, &of[BASE], &of[NEW]);
	}
	return 0;
}

/* Judges a metric again, with Holm's correction over its rows. Returns the number of rows. */
static size_t pairs_correct(struct pairs *p, const struct comparison *c, enum figure_id id)
{
	autofree double *corrected = xcalloc(p->n + 1, sizeof(*corrected));
	size_t tests = 0;

	for (size_t i = 0; i < p->n; i++) {
		corrected[i] = p->list[i].side ? p->list[i].side->change[id].p : NAN;
		tests += !isnan(corrected[i]);
	}
	stats_holm(corrected, p->n);
	for (size_t i = 0; i < p->n; i++) {
		struct comparison one = pair_comparison(c, &p->list[i]);
		const struct figure_runs *of;

		if (isnan(corrected[i]))
			continue;
		of = p->list[i].side->of[id];
		figure_correct(&one, figure_kinds[id].better, &of[BASE], &of[NEW], corrected[i],
			       tests, &p->list[i].side->change[id]);
	}
	return tests;
}

static int pairs_read(struct pairs *p, const struct comparison *c, struct table *t,
		      struct outcome *out, struct error *err)
{
	size_t tests, apart = 0;
	enum figure_id id;
	int ret = 0;

	for (size_t i = 0; i < p->n && !ret; i++) {
		ret = pair_read(&p->list[i], c, t, err);
		apart += p->list[i].rule.apart;
	}
	FOR_PAIR_FIGURES(id)
	{
		tests = ret ? 0 : pairs_correct(p, c, id);
		out->tests = tests > out->tests ? tests : out->tests;
	}
	if (apart) {
		note_add(&t->notes, compare_pairs_differ, apart, p->n,
			 "the runs of base and new did not take turns: their verdicts need more");
		note_add(&t->notes, compare_apart, c->rule.alpha);
	}
	return ret;
}

/* --- the table --- */

enum { BASE_COLUMN, NEW_COLUMN, CHANGE_COLUMN, P_COLUMN, VERDICT_COLUMN, METRIC_COLUMNS };

static const struct column metric_columns[METRIC_COLUMNS] = {
	[BASE_COLUMN] = {"base", .type = V_REAL, .digits = 3},
	[NEW_COLUMN] = {"new", .type = V_REAL, .digits = 3},
	[CHANGE_COLUMN] = {"change_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	[P_COLUMN] = {"p", .type = V_REAL, .digits = 4},
	[VERDICT_COLUMN] = {"verdict", .type = V_STR, .shape = STAYS_WHOLE},
};

/* The last columns. */
enum { SIDE, VARIANT, RUNS = VARIANT + ENDS, LIMIT = RUNS + ENDS, LAST = LIMIT + ENDS };
static const struct column columns[LAST] = {
	[SIDE] = {"side", .type = V_STR},
	[VARIANT + BASE] = {"base_variant", .type = V_STR},
	[VARIANT + NEW] = {"new_variant", .type = V_STR},
	[RUNS + BASE] = {"base_runs", .type = V_INT},
	[RUNS + NEW] = {"new_runs", .type = V_INT},
	[LIMIT + BASE] = {"base_limit", .type = V_STR},
	[LIMIT + NEW] = {"new_limit", .type = V_STR},
};

static bool pairs_have_figure(const struct pairs *p, enum figure_id id)
{
	return array_find(pair, p->list, p->n,
			  pair->side && (pair->side->of[id][BASE].n || pair->side->of[id][NEW].n));
}

static const char *pair_column(struct arena *a, enum figure_id id, int column)
{
	return arena_printf(a, "%s_%s", figure_kinds[id].name, metric_columns[column].name);
}

/*
 * Sets the columns of an empty table: the settings, then each figure, then what a narrow terminal
 * leaves out.
 */
static void pairs_start_table(const struct pairs *p, const struct comparison *c, struct table *t)
{
	size_t most = (size_t)p->nsettings + FIGURES * METRIC_COLUMNS + LAST;
	struct column *to = arena_alloc(&t->arena, most * sizeof(*to));
	enum figure_id id;

	t->columns = to;
	for (int k = 0; k < p->nsettings; k++)
		*to++ = (struct column){p->settings[k], .type = V_STR, .shape = STANDS_RIGHT};
	FOR_PAIR_FIGURES(id)
	for (int k = 0; k < METRIC_COLUMNS && pairs_have_figure(p, id); k++) {
		*to = metric_columns[k];
		to->name = pair_column(&t->arena, id, k);
		if (k == BASE_COLUMN || k == NEW_COLUMN)
			to->unit = figure_kinds[id].unit;
		if (k == CHANGE_COLUMN)
			to->stem = arena_printf(&t->arena, "%s_change", figure_kinds[id].name);
		to++;
	}
	memcpy(to, columns, sizeof(columns));
	t->ncolumns = (int)(to - t->columns) + LAST;
	table_title(t, "%s against %s, pair by pair", c->end[NEW].label, c->end[BASE].label);
}

static void pair_put_figure(struct table *t, struct value *row, const struct pair *pair,
			    enum figure_id id)
{
	const struct change *k = &pair->side->change[id];
	const struct value cells[METRIC_COLUMNS] = {
		[BASE_COLUMN] = value_real(k->base),
		[NEW_COLUMN] = value_real(k->new),
		[CHANGE_COLUMN] = figure_change_value(t, k),
		[P_COLUMN] = k->verdict == VERDICT_FEW ? value_none() : value_real(k->p),
		[VERDICT_COLUMN] = value_str(t, verdict_name(k->verdict)),
	};

	for (int i = 0; i < METRIC_COLUMNS; i++)
		table_set(t, row, pair_column(&t->arena, id, i), cells[i]);
}

static void pair_put_row(struct table *t, const struct pairs *p, const struct comparison *c,
			 const struct pair *pair, struct outcome *out)
{
	struct value *row = table_row(t), *last = row + t->ncolumns - LAST;
	const struct side_figures *side = pair->side;
	size_t runs[ENDS] = {0};
	enum figure_id id;

	for (int k = 0; k < p->nsettings; k++)
		row[k] = value_str(
			t, store_setting(c->end[BASE].store, pair->variant[BASE], p->settings[k]));
	FOR_PAIR_FIGURES(id)
	{
		if (!side)
			break;
		for (int e = 0; e < ENDS; e++)
			if (side->of[id][e].n > runs[e])
				runs[e] = side->of[id][e].n;
		pair_put_figure(t, row, pair, id);
		gate_add_row(out->gate, side->side,
			     arena_printf(&t->arena, "%s of %s", figure_kinds[id].name,
					  pair->variant[NEW]),
			     "", &side->change[id]);
	}
	last[SIDE] = value_str(t, side ? side->side : NULL);
	for (int e = 0; e < ENDS; e++) {
		last[VARIANT + e] = value_str(t, pair->variant[e]);
		last[RUNS + e] = value_int((int64_t)runs[e]);
	}
}

/* Sets what limited both ends of each row, and warns where the limits differ. */
static int pairs_put_limits(struct table *t, const struct pairs *p, const struct comparison *c,
			    struct error *err)
{
	struct query q = compare_query(c, BASE, NULL);
	freed(limits_free) struct limits limits = {0};
	size_t differ = 0;
	int ret = limits_read(c->end[BASE].store, &q, &limits, err);

	for (size_t i = 0; i < p->n && !ret; i++) {
		for (int e = 0; e < ENDS; e++) {
			autofree char *words =
				limits_words(&limits, p->list[i].variant[e], LIMITS_BY_SHARE);

			*table_cell(t, i, t->ncolumns - LAST + LIMIT + e) = value_str(t, words);
		}
		differ += limits_differ(&limits, p->list[i].variant[BASE], &limits,
					p->list[i].variant[NEW]);
	}
	if (differ)
		note_add(
			&t->notes, compare_pairs_differ, differ, p->n,
			"base and new have different limits (base_limit, new_limit), so throughput does not compare the two methods");
	return ret;
}

static void pairs_free(struct pairs *p)
{
	array_free(e, p->list, p->n, figures_free(&e->figures));
	free(p->variants);
	free(p->settings);
	str_free(&p->alone);
}

static int compare_pairs(const struct comparison *c, struct table *t, struct outcome *out,
			 struct error *err)
{
	freed(pairs_free) struct pairs p = {0};
	int ret = pairs_find(&p, c, err);

	ret = ret ?: pairs_read(&p, c, t, out, err);
	if (!ret)
		pairs_start_table(&p, c, t);
	for (size_t i = 0; i < p.n && !ret; i++)
		pair_put_row(t, &p, c, &p.list[i], out);
	ret = ret ?: pairs_put_limits(t, &p, c, err);
	if (p.alone.len)
		note_add(&t->notes, compare_pairs_alone, p.alone.buf);
	note_add(&t->notes, compare_interval, estimator_names[c->estimator], c->rule.alpha);
	note_add(&t->notes, compare_verdict, c->rule.alpha, out->tests,
		 out->tests == 1 ? "row of a metric" : "rows of a metric", 100 * c->rule.threshold,
		 verdict_runs_needed(&c->rule, out->tests));
	return ret ?: compare_note_workload(c, t, err);
}

const struct compare_table comparison_pairs = {
	COMPARE_NAMES("pairs"),
	.of_pairs = true,
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_CAPTURE] = OPT_VERDICT "from to workload-only unit basis"},
	.spare =
		"base_variant new_variant base_runs new_runs side base_limit new_limit throughput_p ns_per_kib_p"
#define P_COLUMNS_OF_UNIT(id, unit, units) " rate_" units "_p ns_per_" unit "_p"
	WORK_UNITS(P_COLUMNS_OF_UNIT),
	.run = compare_pairs,
};
