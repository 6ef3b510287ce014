// SPDX-License-Identifier: GPL-2.0-only
/*
 * sweep: figures over the values of a setting. The variants that the settings made from one variant
 * of the plan are one line; under other settings they are another. Where the values are numbers,
 * the crossover of each line with that of the plan's first variant is computed.
 */
#include "analyze/evidence/zerocopy.h"
#include "analyze/figures/figures.h"

#include <errno.h>
#include <math.h>

static const struct column sweep_columns[] = {
	{MEMBER(struct sweep_row, setting), .type = V_STR},
	{MEMBER(struct sweep_row, value), .type = V_STR, .shape = STANDS_RIGHT},
	{MEMBER(struct sweep_row, number), .type = V_REAL, .digits = 0,
	 .what = "the value, if the setting's values are numbers"},
	{MEMBER(struct sweep_row, variant), .type = V_STR,
	 .what = "name of the variant in the plan"},
	{MEMBER(struct sweep_row, under), .type = V_STR, .what = "values of the other settings",
	 .optional = true},
	{MEMBER(struct sweep_row, side), .type = V_STR},
	{MEMBER(struct sweep_row, metric), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct sweep_row, estimate), .type = V_REAL, .digits = 3, .spread = SPREAD_RANGE},
	{"lo", .type = V_REAL, .part_of = "estimate", .part = PART_LOW},
	{"hi", .type = V_REAL, .part_of = "estimate", .part = PART_HIGH},
	{MEMBER(struct sweep_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct sweep_row, runs), .type = V_INT},
};

static const struct column crossover_columns[] = {
	{MEMBER(struct crossover_row, setting), .type = V_STR},
	{MEMBER(struct crossover_row, under), .type = V_STR},
	{MEMBER(struct crossover_row, side), .type = V_STR},
	{MEMBER(struct crossover_row, metric), .type = V_STR},
	{MEMBER(struct crossover_row, base), .type = V_STR},
	{MEMBER(struct crossover_row, new), .type = V_STR},
	{MEMBER(struct crossover_row, kind), .type = V_STR,
	 .what = "begins, ends, always, never, often, unclear"},
	{MEMBER(struct crossover_row, at), .type = V_REAL, .digits = 3, .spread = SPREAD_RANGE},
	{"lo", .type = V_REAL, .part_of = "at", .part = PART_LOW},
	{"hi", .type = V_REAL, .part_of = "at", .part = PART_HIGH},
	{MEMBER(struct crossover_row, at_words), .type = V_STR,
	 .what = "at, written as the values are"},
	{MEMBER(struct crossover_row, range_words), .type = V_STR,
	 .what = "its interval, likewise"},
	{MEMBER(struct crossover_row, better), .type = V_INT,
	 .what = "values at which new is better: Holm's correction"},
	{MEMBER(struct crossover_row, worse), .type = V_INT,
	 .what = "values at which new is worse"},
	{MEMBER(struct crossover_row, values), .type = V_INT},
	{MEMBER(struct crossover_row, words), .type = V_STR,
	 .what = "the verdicts on all values as a sentence"},
};

const char *const crossover_words[] = {"", "begins", "ends", "always", "never", "often", "unclear"};

/* A variant of the plan under one combination of settings. */
struct sweep_variant {
	const char *name, *base;
	const char **values; /* by setting; NULL: not set */
};

struct sweep {
	struct store *s;
	const struct query *q;
	struct table *t;
	struct sweep_variant *variants;
	int nvariants;
	const char **settings;
	int nsettings;
	struct figure_list figures;
};

/* --- the values of a setting --- */

/* Returns the number of a value. NAN: the values of this setting are no numbers of one unit. */
static double sweep_number(const struct sweep *w, int setting, const char *value)
{
	const char *rest, *unit = NULL;
	double number, of_value = NAN;

	for (int i = 0; i < w->nvariants; i++) {
		const char *text = w->variants[i].values[setting];

		if (!text)
			continue;
		if (!setting_number(text, &number, &rest) || (unit && strcmp(unit, rest)))
			return NAN;
		unit = rest;
		if (!strcmp(text, value))
			of_value = number;
	}
	return of_value;
}

static int sweep_count_values(const struct sweep *w, int setting)
{
	int k, n = 0;

	for (int i = 0; i < w->nvariants; i++) {
		for (k = 0; k < i; k++)
			if (w->variants[k].values[setting] && w->variants[i].values[setting] &&
			    !strcmp(w->variants[k].values[setting], w->variants[i].values[setting]))
				break;
		n += w->variants[i].values[setting] && k == i;
	}
	return n;
}

/* Returns the values of the other settings that vary, "gro=off place=1cpu". */
static const char *sweep_under(const struct sweep *w, int variant, int setting)
{
	freed(str_free) struct str s = {0};

	for (int k = 0; k < w->nsettings; k++)
		if (k != setting && w->variants[variant].values[k] && sweep_count_values(w, k) > 1)
			str_printf(&s, "%s%s=%s", s.len ? " " : "", w->settings[k],
				   w->variants[variant].values[k]);
	return arena_strdup(&w->t->arena, s.len ? s.buf : "");
}

static int sweep_read_variants(struct sweep *w, struct error *err)
{
	autofree const char **names = NULL;
	int n = store_variants(w->s, &names, err);

	w->nsettings = n < 0 ? n : store_names(w->s, NAMES_SETTING, &w->settings, err);
	if (n > 0 && w->nsettings >= 0)
		w->variants = xcalloc((size_t)n, sizeof(*w->variants));
	for (int i = 0; i < n && w->nsettings >= 0; i++) {
		struct sweep_variant *v = &w->variants[w->nvariants];
		const char *base = store_variant_base(w->s, names[i]);

		if (!str_matches(w->q->variant, names[i]))
			continue;
		w->nvariants++;
		v->name = names[i];
		v->base = base ? base : names[i];
		v->values =
			arena_alloc(&w->t->arena, ((size_t)w->nsettings + 1) * sizeof(*v->values));
		for (int k = 0; k < w->nsettings; k++)
			v->values[k] = store_setting(w->s, names[i], w->settings[k]);
	}
	return w->nsettings < 0 ? w->nsettings : 0;
}

/* --- rows --- */

/* Returns the side that a figure is shown for: --side, the total, or the only one that has it. */
static const char *sweep_side(const struct sweep *w, enum figure_id id)
{
	const char *side = NULL;

	for (size_t i = 0; i < w->figures.n; i++) {
		const struct figure_value *v = &w->figures.list[i];

		if (v->id == id && v->n && (!side || v->nsides > 1))
			side = v->side;
	}
	return w->q->side ? w->q->side : side;
}

static void sweep_put_row(const struct sweep *w, int setting, int variant,
			  const struct figure_value *f)
{
	const struct sweep_variant *v = &w->variants[variant];
	const char *under = sweep_under(w, variant, setting);
	freed(str_free) struct str unit = {0};
	bool modelled = f->source == POWER_MODELLED;

	figure_print_unit(&unit, w->q, f->id, true);
	str_puts(&unit, modelled ? ", modelled" : "");
	table_add(w->t, struct sweep_row,
		  &(struct sweep_row){.setting = w->settings[setting],
				      .value = v->values[setting],
				      .number = sweep_number(w, setting, v->values[setting]),
				      .variant = v->base,
				      .under = *under ? under : NULL,
				      .side = f->side,
				      .metric = figure_column(f->id),
				      .unit = unit.buf,
				      .estimate = f->e,
				      .runs = (int64_t)f->e.n,
				      .modelled = modelled});
}

struct sweep_place {
	double at; /* first: the order */
	int variant;
};

/* Lists the variants that have a value of the setting, in the order of the values. */
static int sweep_places(const struct sweep *w, int setting, struct sweep_place *p)
{
	int k, n = 0;
	struct sweep_place next;

	for (int i = 0; i < w->nvariants; i++) {
		const char *value = w->variants[i].values[setting];

		if (!value)
			continue;
		next = (struct sweep_place){sweep_number(w, setting, value), i};
		if (isnan(next.at))
			next.at = 0; /* the plan's order */
		for (k = n++; k > 0 && p[k - 1].at > next.at; k--)
			p[k] = p[k - 1];
		p[k] = next;
	}
	return n;
}

static void sweep_put_rows(const struct sweep *w, int setting)
{
	autofree struct sweep_place *p = xcalloc((size_t)w->nvariants + 1, sizeof(*p));
	int n = sweep_places(w, setting, p), i;

	for (enum figure_id id = 0; id < FIGURES; id++) {
		const char *side = sweep_side(w, id);

		for (i = 0; i < n && side; i++)
			for (size_t k = 0; k < w->figures.n; k++) {
				const struct figure_value *f = &w->figures.list[k];

				if (f->id == id && f->n &&
				    !strcmp(f->variant, w->variants[p[i].variant].name) &&
				    (w->q->all || !strcmp(f->side, side)))
					sweep_put_row(w, setting, p[i].variant, f);
			}
	}
}

/* --- crossovers --- */

struct sweep_pair {
	int setting;
	enum figure_id id;
	const char *side, *under, *base, *new;
};

/* Prints "up to size = 16k", "from size = 64k on", "at size = 32k" or "at every size". */
static void crossover_print_range(struct str *s, const struct crossover_point *points, size_t n,
				  size_t from, size_t to, const char *setting, bool whole)
{
	if (!from && to + 1 == n)
		str_printf(s, "at %s %s%s", verdict_is_claim(points[0].verdict) ? "every" : "any",
			   whole ? "" : "compared ", setting);
	else if (from == to)
		str_printf(s, "at %s = %s", setting, points[from].value);
	else if (!from)
		str_printf(s, "up to %s = %s", setting, points[to].value);
	else if (to + 1 == n)
		str_printf(s, "from %s = %s on", setting, points[from].value);
	else
		str_printf(s, "from %s = %s to %s", setting, points[from].value, points[to].value);
}

/* Returns the word for a verdict on a cost, or on a figure where more is better. */
static const char *crossover_word(enum verdict v, int better)
{
	if (v == VERDICT_OTHERS)
		return "not judged beside other programs";
	if (!verdict_is_claim(v))
		return "no difference shown";
	if (v == VERDICT_COPIED)
		return better < 0 ? "cheaper, though it copied," : "better, though it copied,";
	if (better < 0)
		return v == VERDICT_WORSE ? "dearer" : "cheaper";
	return v == VERDICT_WORSE ? "worse" : "better";
}

/* Prints "Z is dearer than plain up to size = 16k; no difference shown from size = 64k on". */
static void crossover_print(struct str *s, const struct sweep *w, const struct sweep_pair *p,
			    const struct crossover_point *points, size_t n, bool whole)
{
	bool named = false;
	size_t to;

	for (size_t from = 0; from < n; from = to + 1) {
		const char *word = crossover_word(points[from].verdict, figure_kinds[p->id].better);

		for (to = from; to + 1 < n; to++)
			if (strcmp(word, crossover_word(points[to + 1].verdict,
							figure_kinds[p->id].better)))
				break;
		if (from)
			str_puts(s, "; ");
		if (verdict_is_claim(points[from].verdict) && !named)
			str_printf(s, "%s is %s than %s ", p->new, word, p->base);
		else
			str_printf(s, "%s ", word);
		named |= verdict_is_claim(points[from].verdict);
		crossover_print_range(s, points, n, from, to, w->settings[p->setting], whole);
	}
	if (!named)
		str_printf(s, " between %s and %s", p->new, p->base);
}

/* Returns the interval as the values are written: "2k to 6.7k", "up to 6.7k". */
static char *crossover_range(const struct crossover *c, const char *like)
{
	autofree char *lo = setting_text(c->lo, like), *hi = setting_text(c->hi, like);

	return isnan(c->lo) && isnan(c->hi) ? xstrdup("not bounded by the values measured")
	       : isnan(c->lo)		    ? xasprintf("up to %s", hi)
	       : isnan(c->hi)		    ? xasprintf("from %s on", lo)
					    : xasprintf("%s to %s", lo, hi);
}

static void sweep_put_crossover(const struct sweep *w, struct table *d, const struct sweep_pair *p,
				const struct crossover *c, struct str *words, const char *like)
{
	autofree char *at = setting_text(c->at, like), *range = crossover_range(c, like),
		      *of = NULL;
	bool known = !isnan(c->at);

	if (known)
		str_printf(words, "; the lines cross at %s = %s (95 %%: %s)",
			   w->settings[p->setting], at, range);
	table_add(d, struct crossover_row,
		  &(struct crossover_row){.setting = w->settings[p->setting],
					  .under = p->under,
					  .side = p->side,
					  .metric = figure_column(p->id),
					  .base = p->base,
					  .new = p->new,
					  .kind = crossover_words[c->kind],
					  .at = {.value = c->at, .lo = c->lo, .hi = c->hi},
					  .at_words = known ? at : NULL,
					  .range_words = known ? range : NULL,
					  .better = (int64_t)c->better,
					  .worse = (int64_t)c->worse,
					  .values = (int64_t)c->n,
					  .words = words->buf});
	of = xasprintf("%s %s%s%s", p->side, figure_column(p->id), *p->under ? " " : "", p->under);
	if (c->needed) {
		str_reset(words);
		str_printf(
			words,
			"too few runs to compare %s with %s: verdicts on %zu values of %s take %zu runs a side",
			p->new, p->base, c->n, w->settings[p->setting], c->needed);
	}
	note_add(&w->t->notes, sweep_verdicts, of, words->buf);
}

/* Finds the crossover of one pair of lines, and its sentence. Returns false where they share fewer
 * than two values. */
static bool sweep_find_crossover(const struct sweep *w, const struct sweep_pair *p,
				 const struct sweep_place *places, int n, struct crossover *c,
				 struct str *words)
{
	struct crossover_point *points = xcalloc((size_t)n + 1, sizeof(*points)), *point;
	const struct figure_value *f;
	size_t count = 0, both = 0;

	for (int i = 0; i < n; i++) {
		const struct sweep_variant *v = &w->variants[places[i].variant];
		bool base = !strcmp(v->base, p->base);

		f = figure_find(&w->figures, p->id, v->name, p->side);
		if (!f || !f->n || (!base && strcmp(v->base, p->new)) ||
		    strcmp(sweep_under(w, places[i].variant, p->setting), p->under))
			continue;
		if (!count || points[count - 1].at != places[i].at)
			points[count++] = (struct crossover_point){.at = places[i].at,
								   .value = v->values[p->setting]};
		point = &points[count - 1];
		point->others = fmax(point->others, figure_others(w->s, w->q, f));
		if (base) {
			point->base = f->x;
			point->nbase = f->n;
		} else {
			point->new = f->x;
			point->nnew = f->n;
			point->copied = zero_copy_fell_back(w->s, w->q, f->variant);
		}
	}
	for (size_t k = 0; k < count; k++)
		if (points[k].nbase && points[k].nnew)
			points[both++] = points[k];
	*c = crossover_find(points, both, figure_kinds[p->id].better,
			    n && places[0].at > 0 && places[n - 1].at >= 8 * places[0].at);
	str_reset(words);
	crossover_print(words, w, p, points, both, both == count);
	free(points);
	return c->kind != CROSSOVER_NONE;
}

/* Returns whether the line of the variant begins at this place. */
static bool sweep_begins_line(const struct sweep *w, int setting, const struct sweep_place *p,
			      int i)
{
	const char *base = w->variants[p[i].variant].base;
	const char *under = sweep_under(w, p[i].variant, setting);

	for (int k = 0; k < i; k++)
		if (!strcmp(w->variants[p[k].variant].base, base) &&
		    !strcmp(sweep_under(w, p[k].variant, setting), under))
			return false;
	return true;
}

static void sweep_add_crossovers(const struct sweep *w, struct table *d, int setting)
{
	autofree struct sweep_place *p = xcalloc((size_t)w->nvariants + 1, sizeof(*p));
	int n = sweep_places(w, setting, p);
	freed(str_free) struct str words = {0};
	struct crossover c;

	for (enum figure_id id = 0; id < FIGURES && n; id++) {
		const char *side = sweep_side(w, id);

		for (int i = 0; i < n && side && figure_kinds[id].better; i++) {
			const struct sweep_variant *v = &w->variants[p[i].variant];
			struct sweep_pair pair = {setting,
						  id,
						  side,
						  sweep_under(w, p[i].variant, setting),
						  w->variants[0].base,
						  v->base};

			if (!strcmp(pair.base, pair.new) || !sweep_begins_line(w, setting, p, i) ||
			    !sweep_find_crossover(w, &pair, p, n, &c, &words))
				continue;
			sweep_put_crossover(w, d, &pair, &c, &words, v->values[setting]);
		}
	}
}

static int sweep_put(struct sweep *w, struct error *err)
{
	struct table *d = table_detail(w->t, "crossovers", crossover_columns,
				       (int)array_size(crossover_columns));
	bool found = false;

	for (int i = 0; i < w->nsettings; i++) {
		if (w->q->setting && strcmp(w->q->setting, w->settings[i]))
			continue;
		found = true;
		if (sweep_count_values(w, i) < 2)
			continue;
		sweep_put_rows(w, i);
		if (!isnan(sweep_number(w, i, w->variants[0].values[i] ?: "")))
			sweep_add_crossovers(w, d, i);
	}
	if (w->q->setting && !found)
		return error_set(
			err, EINVAL,
			"--setting %s: the plan has no such setting; 'zcost report variants' lists them",
			w->q->setting);
	if (!w->t->rows)
		return error_set(
			err, ENODATA,
			"no setting has two values: a sweep takes a plan with [setting NAME] (docs/reference/plan.md)");
	return 0;
}

static int sweep_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct sweep w = {.s = s, .q = q, .t = t};
	freed(table_free) struct table runs = {0};
	int rc = sweep_read_variants(&w, err);

	rc = rc ?: figure_list_read(&w.figures, s, q, IN_SWEEP, IN_SWEEP, err);
	rc = rc ?: sweep_put(&w, err);
	figure_list_notes(&w.figures, &runs);
	t->lossy |= runs.lossy; /* the notes on runs would bury the rows */
	scope_capture_notes(s, t);
	rc = rc ?: busy_notes(s, q, NULL, t, err);
	figure_list_free(&w.figures);
	free(w.variants);
	free(w.settings);
	return rc;
}

const struct measure measure_sweep = {
	.name = "sweep",
	.what = "figures over the values of a setting, and where zero copy begins to pay",
	MEASURE_COLUMNS(sweep_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "workload-only setting all roi-n roi-m"},
	.spare = "number runs under side",
	.run = sweep_run,
};
