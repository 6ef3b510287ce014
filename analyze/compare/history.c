// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/history.h"

#include "analyze/compare/figure_runs.h"

#include <errno.h>
#include <math.h>

enum {
	DAYS = 365,
	DAY = 10,    /* characters of 2026-11-23 */
	SHOWN = 400, /* bytes of settings that differ */
};

/* --- adding a capture --- */

struct adding {
	struct store *h;
	struct comparison c; /* BASE is the capture */
	struct history_capture capture;
	struct arena arena;
	int ndiffer; /* settings that are not those of the history */
};

/* Compares the settings of all sides with those of the history, which gets those that are new. */
static int adding_check_variant(struct adding *a, const char *variant, struct str *differ,
				struct error *err)
{
	autofree const char **sides = NULL;
	int nsides = store_sides(a->c.end[BASE].store, &sides, err), rc = nsides < 0 ? nsides : 0;
	const char *known;
	size_t had;

	a->c.end[BASE].variant = variant;
	for (int k = 0; k < nsides && !rc; k++) {
		autofree struct history_setting *s = NULL;
		const int before = a->ndiffer;
		int n = compare_lasting_settings(&a->c, sides[k], &s, &a->arena, err);

		if (!a->capture.nic)
			a->capture.nic = compare_card(&a->c, sides[k], &a->arena, err);
		rc = n < 0 ? n : 0;
		for (int i = 0; i < n && !rc; i++) {
			rc = history_setting_add(a->h, variant, sides[k], &s[i], &known, err);
			if (!known || !strcmp(known, s[i].value) ||
			    (a->ndiffer > before && !strcmp(s[i].name, "plan")))
				continue; /* the sum of the plan says less than its keys */
			a->ndiffer++;
			had = differ->len;
			str_printf(differ, "; %s %s %s '%s' -> '%s'", variant, sides[k], s[i].name,
				   known, s[i].value);
			if (had && differ->len > SHOWN)
				differ->buf[differ->len = had] = '\0';
		}
	}
	return rc;
}

const char *history_commit(struct store *s, const char *variant, const char *kernel,
			   struct arena *arena, struct error *err)
{
	autofree struct fact_row *facts = NULL;
	int n = store_facts(s, NULL, variant, &facts, err);
	const char *g = kernel ? strstr(kernel, "-g") : NULL;
	size_t digits = g ? strspn(g + 2, "0123456789abcdef") : 0;

	for (int i = 0; i < n; i++)
		if (!strcmp(facts[i].name, "var:commit"))
			return facts[i].value;
	return digits >= 7 ? arena_printf(arena, "%.*s", (int)digits, g + 2) : NULL;
}

/* Reads what identifies the capture. */
static int adding_read_facts(struct adding *a, const char *variant, char *const *labels, int n,
			     struct error *err)
{
	static const char commit[] = "commit=";
	struct history_capture *c = &a->capture;
	struct store *s = a->c.end[BASE].store;
	autofree struct host_row *hosts = NULL;
	int nhosts = store_hosts(s, &hosts, err);

	for (int i = 0; i < nhosts; i++) {
		c->host = arena_add_word(&a->arena, c->host, ",", hosts[i].name);
		c->kernel = arena_add_word(&a->arena, c->kernel, ",", hosts[i].release);
	}
	c->host = c->host ?: "";
	c->name = store_capture_value(s, "name") ?: "";
	c->created = store_capture_value(s, "created");
	c->commit = history_commit(s, variant, c->kernel, &a->arena, err);
	for (int i = 0; i < n; i++)
		if (str_starts(labels[i], commit))
			c->commit = labels[i] + strlen(commit);
		else
			c->labels = c->labels
					    ? arena_printf(&a->arena, "%s %s", c->labels, labels[i])
					    : labels[i];
	if (!c->created)
		error_set(err, ENODATA, "the capture has no date; 'zcost capture' writes one");
	return err->code ? -err->code : 0;
}

/* Adds the figures of a variant. Those that compare judges are main figures. */
static int adding_put_figures(struct adding *a, const char *variant, struct error *err)
{
	autofree struct shown_figure *judged = NULL;
	autofree bool *main = NULL;
	freed(table_free) struct table notes = {0};
	freed(figures_free) struct figures f = {0};
	double median;
	int rc;

	a->c.end[BASE].variant = variant;
	rc = compare_estimator(&a->c, err) ?: figures_read(&f, &a->c, &notes, err);
	if (rc)
		return rc;
	main = xcalloc(f.n * FIGURES + 1, sizeof(*main));
	for (size_t n = figures_primary(&f, &a->c, &judged); n; n--)
		main[(size_t)(judged[n - 1].side - f.side) * FIGURES + judged[n - 1].figure] = true;
	for (size_t i = 0; i < f.n * FIGURES && !rc; i++) {
		const struct side_figures *side = &f.side[i / FIGURES];
		const struct figure_runs *of = &side->of[i % FIGURES][BASE];
		const struct figure_kind *k = &figure_kinds[i % FIGURES];
		const char *unit =
			k == &figure_kinds[FIGURE_COPY] ? work_word(side->copy_unit) : "";
		freed(str_free) struct str words = {0};
		struct history_series s = {.variant = variant,
					   .side = side->side,
					   .figure = arena_printf(&a->arena, "%s%s", k->name, unit),
					   .better = k->better,
					   .main = main[i]};

		figure_print_unit(&words, &a->c.query, i % FIGURES, !strcmp(k->unit, "1"));
		s.unit = words.buf;
		/* Their median becomes the figure of compare. */
		median = stats_point(EST_MEDIAN, of->x, of->n);
		for (size_t r = 0; r < of->n && !isnan(of->pooled); r++)
			of->x[r] = fmax(0, of->x[r] + of->pooled - median);
		if (of->n)
			rc = history_values_add(a->h, &s, a->capture.id, of->x, of->n, err);
	}
	return rc;
}

static int adding_run(struct adding *a, char *const *labels, int nlabels, struct error *err)
{
	autofree const char **variants = NULL;
	freed(str_free) struct str differ = {0};
	int n = store_variants(a->c.end[BASE].store, &variants, err);
	int rc = n <= 0 ? n : adding_read_facts(a, variants[0], labels, nlabels, err);

	for (int i = 0; i < n && !rc; i++)
		rc = adding_check_variant(a, variants[i], &differ, err);
	if (!rc && differ.len)
		rc = error_set(
			err, EXDEV,
			"%d of its settings differ from those of the history, so give it another one (--history FILE)%s",
			a->ndiffer, differ.buf);
	rc = rc ?: history_capture_add(a->h, &a->capture, err);
	for (int i = 0; i < n && !rc; i++)
		rc = adding_put_figures(a, variants[i], err);
	return rc;
}

int history_add(struct store *h, const char *path, char *const *labels, int n, struct error *err)
{
	struct adding a = {.h = h, .c = {.rule = VERDICT_RULE, .splits = 1, .every_figure = true}};
	int rc = compare_open(&a.c, path, "*", "*", err);

	rc = rc ?: compare_close(&a.c, adding_run(&a, labels, n, err), err);
	arena_free(&a.arena);
	return rc;
}

/* --- reading trends --- */

/* Groups `n` values of one series by capture. */
static void trend_fill(struct trends *all, struct trend *t, const struct history_value *v, size_t n)
{
	double *x = arena_alloc(&all->arena, n * sizeof(*x));

	t->runs = arena_alloc(&all->arena, n * sizeof(*t->runs));
	t->values = arena_alloc(&all->arena, n * sizeof(*t->values));
	t->nruns = arena_alloc(&all->arena, n * sizeof(*t->nruns));
	t->x = arena_alloc(&all->arena, n * sizeof(*t->x));
	for (size_t i = 0, from = 0; i < n; from = i, t->n++) {
		for (; i < n && v[i].c.id == v[from].c.id; i++)
			x[i] = v[i].x;
		t->runs[t->n] = &v[from];
		t->values[t->n] = x + from;
		t->nruns[t->n] = i - from;
		t->x[t->n] = stats_point(EST_MEDIAN, x + from, i - from);
	}
}

/* Fills what the segment has against the one before. */
static void segment_compare(struct trends *all, const struct trend *t, struct trend_segment *s)
{
	const struct history_capture *a = &t->runs[s->from - 1]->c, *b = &t->runs[s->from]->c;
	const struct trend_segment *old = s - 1;
	double p, change = 100 * (s->level.value / old->level.value - 1);
	int better = t->runs[0]->s.better;
	struct estimate r = stats_test_ratio(t->x + old->from, old->to - old->from, t->x + s->from,
					     s->to - s->from, 0.05, &p);
	double step = isnan(r.value) ? s->level.value - old->level.value : r.value - 1;
	double lo = 100 * (r.lo - 1), hi = 100 * (r.hi - 1);
	bool opposed = step * (s->level.value - old->level.value) < 0;

	s->verdict = opposed || !(p < 0.05) ? "spread"
		     : step * better > 0    ? verdict_name(VERDICT_BETTER)
		     : step * better < 0    ? verdict_name(VERDICT_WORSE)
		     : step > 0		    ? "higher"
					    : "lower";
	if (old->level.value > 0)
		s->change = (struct estimate){.value = change, .lo = lo, .hi = hi};
	if (!(lo <= change && change <= hi)) /* levels of several states */
		s->change.lo = s->change.hi = NAN;
	if (a->commit && b->commit)
		s->range = arena_printf(&all->arena, "%s..%s", a->commit, b->commit);
	else if (a->kernel && b->kernel && strcmp(a->kernel, b->kernel))
		s->range = arena_printf(&all->arena, "%s..%s", a->kernel, b->kernel);
	else
		s->range =
			arena_printf(&all->arena, "%.*s..%.*s", DAY, a->created, DAY, b->created);
}

static void trend_find_changes(struct trends *all, struct trend *t)
{
	autofree struct stats_change *changes = xcalloc(t->n / STATS_SEGMENT + 1, sizeof(*changes));
	size_t n = stats_changes(t->x, t->n, all->alpha, changes);

	t->nsegments = n + 1;
	t->segments = arena_alloc(&all->arena, (n + 1) * sizeof(*t->segments));
	for (size_t i = 0; i <= n; i++) {
		struct trend_segment *s = &t->segments[i];

		*s = (struct trend_segment){.from = i ? changes[i - 1].at : 0,
					    .to = i < n ? changes[i].at : t->n,
					    .change = {.value = NAN, .lo = NAN, .hi = NAN},
					    .p = i ? changes[i - 1].p : NAN};
		s->level = stats_estimate(EST_MEDIAN, t->x + s->from, s->to - s->from, 0.95);
		if (i)
			segment_compare(all, t, s);
	}
	t->spread = stats_spread_of(t->values, t->nruns, t->n, changes, n);
	all->nchanges += n;
}

int trends_read(struct trends *all, struct store *h, const struct history_choice *choice,
		double false_alarms, struct error *err)
{
	int n;

	*all = (struct trends){
		.path = store_path(h), .false_alarms = false_alarms, .alpha = false_alarms / DAYS};
	n = history_values(h, choice, &all->values, err);
	for (int i = 0, from = 0; i < n; from = i) {
		struct trend t = {0};

		while (i < n && all->values[i].s.id == all->values[from].s.id)
			i++;
		trend_fill(all, &t, &all->values[from], (size_t)(i - from));
		trend_find_changes(all, &t);
		array_add(all->list, all->n, all->cap, t);
	}
	if (!n) /* an empty table would hide a wrong name */
		return error_set(err, ENOENT,
				 "%s: no such series; 'zcost history show \"*\"' shows all",
				 store_path(h));
	return n < 0 ? n : 0;
}

void trends_free(struct trends *all)
{
	free(all->list);
	free(all->values);
	arena_free(&all->arena);
}

/* --- the table --- */

struct trend_row {
	struct history_value of; /* the first run of the segment, or of the capture */
	const char *verdict, *range;
	int64_t captures;
	struct estimate change, value;
	double p, within, between;
};

#define COLUMN(column, path, ...)                                         \
	{                                                                 \
		MEMBER_NAMED(column, struct trend_row, path), __VA_ARGS__ \
	}
static const struct column columns[] = {
	COLUMN("variant", of.s.variant, .type = V_STR),
	COLUMN("side", of.s.side, .type = V_STR),
	COLUMN("figure", of.s.figure, .type = V_STR),
	COLUMN("change_pct", change, "%", V_REAL, 1, "against the level before",
	       .spread = SPREAD_RANGE, .stem = "change"),
	COLUMN("verdict", verdict, .type = V_STR,
	       .what = "better or worse, or higher or lower; spread: the level did not change, its spread did"),
	COLUMN("range", range, .type = V_STR, .shape = STAYS_WHOLE,
	       .what = "the captures on both sides of the change: their commits, kernels or days"),
	COLUMN("since", of.c.created, .type = V_STR, .shape = STAYS_WHOLE,
	       .what = "the first capture"),
	COLUMN("value", value, NULL, V_REAL, 3,
	       "the median of the captures; with --each of the runs", .spread = SPREAD_RANGE),
	COLUMN("captures", captures, .type = V_INT),
	COLUMN("unit", of.s.unit, .type = V_STR, .shape = STAYS_WHOLE),
	COLUMN("p", p, NULL, V_REAL, 5, "of the change, by permutation"),
	COLUMN("between_pct", between, "%", V_REAL, 2,
	       "standard deviation between the captures of a level"),
	COLUMN("within_pct", within, "%", V_REAL, 2,
	       "standard deviation of the runs within a capture"),
	COLUMN("commit", of.c.commit, .type = V_STR,
	       .what = "of the first capture, as the columns behind it"),
	COLUMN("kernel", of.c.kernel, .type = V_STR),
	COLUMN("host", of.c.host, .type = V_STR),
	COLUMN("nic", of.c.nic, .type = V_STR),
	COLUMN("name", of.c.name, .type = V_STR),
	COLUMN("labels", of.c.labels, .type = V_STR),
};

static void trend_add_rows(const struct trend *t, bool each, struct table *to)
{
	double mean = fabs(stats_mean(t->x, t->n)) / 100;
	const struct trend_segment *s = t->segments;

	for (size_t i = 0; i < t->n; i++) {
		struct trend_row row = {.of = *t->runs[i],
					.captures = each ? 1 : (int64_t)(s->to - s->from),
					.change = t->segments->change,
					.value = s->level,
					.p = NAN,
					.within = t->spread.within / mean,
					.between = t->spread.between / mean};

		if (each)
			row.value = stats_estimate(EST_MEDIAN, t->values[i], t->nruns[i], 0.95);
		else
			row.of.c.created = arena_printf(&to->arena, "%.*s", DAY, row.of.c.created);
		if (i == s->from) {
			row.verdict = s->verdict;
			row.range = s->range;
			row.change = s->change;
			row.p = s->p;
		}
		if (each || i == s->from)
			table_add(to, struct trend_row, &row);
		s += i + 1 == s->to;
	}
}

void trends_add_rows(const struct trends *all, bool each, struct table *t)
{
	table_init(t, "history", columns, array_size(columns));
	t->least =
		each ? "labels name nic host kernel within_pct between_pct p unit captures range"
		     : "labels name nic host kernel commit within_pct between_pct p unit captures value since";
	table_title(
		t,
		"%zu series, %zu change%s; at most %g false alarms in a series and a year of daily captures",
		all->n, all->nchanges, all->nchanges == 1 ? "" : "s", all->false_alarms);
	for (size_t i = 0; i < all->n; i++)
		trend_add_rows(&all->list[i], each, t);
}
