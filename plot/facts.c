// SPDX-License-Identifier: GPL-2.0-only
/* What the store knows about its capture, and the foot note that says it: runs, statistics,
 * selection, host, kernel, capture. */
#include "plot/chart.h"

#include "analyze/scope/runs.h"
#include "lib/command.h"
#include "lib/file.h"

#include <errno.h>

static int facts_read_hosts(struct chart_facts *f, struct store *store, struct error *err)
{
	autofree struct host_row *rows = NULL;
	int n = store_hosts(store, &rows, err);

	for (int i = 0; i < n; i++) {
		f->host = arena_add_word(&f->arena, f->host, ", ", rows[i].name);
		f->kernel = arena_add_word(&f->arena, f->kernel, ", ", rows[i].release);
	}
	return n < 0 ? n : 0;
}

/* Returns the number of the variant's runs of this pass; a run counts once, not once a side. */
static int facts_count_runs(const struct run *runs, int n, const char *variant, const char *pass)
{
	int k, count = 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(runs[i].variant, variant) || strcmp(runs[i].pass, pass))
			continue;
		for (k = 0; !run_is_of(&runs[k], &runs[i]); k++)
			;
		count += k == i;
	}
	return count;
}

/* Finds the least and the most runs of the variants that have runs of this pass. */
static struct run_counts facts_count_pass(const struct chart_facts *f, const struct run *runs,
					  int nruns, const char *pass)
{
	struct run_counts counts = {0, 0};
	int n;

	for (int i = 0; i < f->nvariants; i++) {
		n = facts_count_runs(runs, nruns, f->variants[i], pass);
		if (n && (!counts.least || n < counts.least))
			counts.least = n;
		counts.most = n > counts.most ? n : counts.most;
	}
	return counts;
}

/* A `zcost collect` run without passes is of the pass "all". */
static int facts_count_passes(struct chart_facts *f, struct store *store, int repeat,
			      struct error *err)
{
	struct {
		const char *pass;
		struct run_counts *counts;
	} passes[] = {
		{"measure", &f->measured}, {"profile", &f->profiled}, {"syscalls", &f->counted}};
	struct run_filter filter = {.repeat = repeat};
	autofree struct run *runs = NULL;
	int n = store_runs(store, &filter, &runs, err);

	for (size_t i = 0; i < array_size(passes) && n >= 0; i++) {
		*passes[i].counts = facts_count_pass(f, runs, n, passes[i].pass);
		if (!passes[i].counts->least)
			*passes[i].counts = facts_count_pass(f, runs, n, "all");
	}
	return n < 0 ? n : 0;
}

static const char *facts_base_name(struct chart_facts *f, const char *path)
{
	char *copy = arena_strdup(&f->arena, path);
	size_t len = strlen(copy);

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = 0;
	return len > 1 ? path_base_name(copy) : copy;
}

/* Leaves out the variants that are not to be drawn. */
static int facts_choose_variants(struct chart_facts *f, struct store *store, const char *pattern,
				 struct error *err)
{
	autofree const char **names = NULL;
	int n = store_variants(store, &names, err), rc;
	int *places = arena_alloc(&f->arena, sizeof(*places) * (size_t)(n > 0 ? n : 1));

	if (n < 0)
		return n;
	f->variants = arena_alloc(&f->arena, sizeof(*names) * (size_t)(n + 1));
	f->places = places;
	rc = n ? scope_check_name(store, "variant", pattern, true, names, n, err) : 0;
	for (int i = 0; i < n; i++) {
		if (!str_matches(pattern, names[i]))
			continue;
		places[f->nvariants] = i;
		f->variants[f->nvariants++] = names[i];
	}
	return rc ? -ENOENT : 0;
}

static int facts_read_sides(struct chart_facts *f, struct store *store, const char *only,
			    struct error *err)
{
	static const char *const roles[] = {"receiver", "proxy", "sender"};
	autofree const char **names = NULL;
	int n = store_sides(store, &names, err), rc = 0;
	struct chart_side *sides;

	if (n < 0)
		return n;
	sides = arena_alloc(&f->arena, ((size_t)n + 1) * sizeof(*sides));
	for (int i = 0; i < n; i++) {
		sides[i] = (struct chart_side){names[i], names[i]};
		for (size_t r = 0; r < array_size(roles); r++)
			if (store_side_is(store, names[i], roles[r]))
				sides[i].role = roles[r];
	}
	f->sides = sides;
	f->nsides = n;
	if (only && strcmp(only, SIDE_TOTAL)) /* its table knows whether it has one */
		rc = scope_check_name(store, "side", only, false, names, n, err);
	return rc;
}

int facts_read(struct chart_facts *f, struct store *store, const char *capture,
	       const struct query *q, const char *side, struct error *err)
{
	const char *name = store_capture_value(store, "name");
	const char *created = store_capture_value(store, "created");
	int rc;

	*f = (struct chart_facts){0};
	f->capture = name && *name ? arena_strdup(&f->arena, name) : facts_base_name(f, capture);
	f->estimator = store_capture_value(store, "estimator");
	f->slice = store_capture_value(store, "slice");
	if (created && *created)
		f->date = arena_printf(&f->arena, "%.*s", (int)strcspn(created, "T "), created);
	rc = facts_choose_variants(f, store, q->variant, err);
	rc = rc ?: facts_read_hosts(f, store, err);
	rc = rc ?: facts_read_sides(f, store, side, err);
	rc = rc ?: facts_count_passes(f, store, q->repeat, err);
	return rc ? rc : store_failed(store, err); /* the capture's own values have no result */
}

static int facts_table(const struct chart_source *source, const char *name, const struct query *q,
		       struct table *t, struct error *err)
{
	return measure_run(name, source->from, q, t, err);
}

void facts_comparison(struct comparison *c, struct store *store, const char *const ends[2],
		      const struct query *q)
{
	*c = (struct comparison){
		.query = *q,
		.total = q->side && !strcmp(q->side, SIDE_TOTAL),
		.limit = q->limit,
		.rule = VERDICT_RULE,
	};
	c->side[BASE] = c->side[NEW] = c->total ? NULL : q->side;
	for (int e = 0; e < ENDS; e++)
		c->end[e] = (struct compare_end){.store = store,
						 .variant = ends[e],
						 .label = (char *)ends[e],
						 .shared = e == NEW};
}

int facts_compare_prepare(struct comparison *c, struct str *evidence, struct error *err)
{
	freed(str_free) struct str lines = {0}; /* c->rule has what they say */
	int rc;

	compare_evidence(c, evidence);
	rc = compare_drift(c, &lines, err);
	return rc ? rc : compare_estimator(c, err);
}

static int facts_compare(const struct chart_source *source, const char *table,
			 const char *const ends[2], const struct query *q, struct table *t,
			 struct outcome *out, struct error *err)
{
	struct comparison c;
	freed(str_free) struct str lines = {0}; /* the charts have captions for them */
	int rc;

	facts_comparison(&c, source->from, ends, q);
	rc = facts_compare_prepare(&c, &lines, err);
	return rc ? rc : compare_table_run(compare_table_find(table), &c, t, out, err);
}

static int facts_limits(const struct chart_source *source, const struct query *q, struct limits *l,
			struct error *err)
{
	return limits_read(source->from, q, l, err);
}

struct chart_source facts_source(struct store *store)
{
	return (struct chart_source){facts_table, store, facts_compare, facts_limits};
}

/* --- the foot note --- */

/* With fewer runs a median has no 95 % interval: the interval is then from lowest to highest. */
enum { MEDIAN_RUNS = 6 };

/* Returns the runs behind one bar; where the tables have no such number, those of a variant. */
static struct run_counts foot_runs(const struct drawing *d, const struct figure *f,
				   enum drawn_from from)
{
	const struct chart_facts *a = &d->facts;
	struct run_counts n = {0, 0}, all = from == FROM_MEASURED || from == FROM_EACH_RUN
						    ? a->measured
					    : from == FROM_COUNTED ? a->counted
								   : a->profiled;

	for (size_t i = 0; i < f->ndata; i++) {
		int runs = (int)f->data[i].e.n;

		if (runs <= 0)
			continue;
		n.least = !n.least || runs < n.least ? runs : n.least;
		n.most = runs > n.most ? runs : n.most;
	}
	all.most = all.most ? all.most : all.least;
	return n.most ? n : all;
}

static const char *foot_whiskers(const struct drawing *d, struct run_counts n)
{
	if (!n.least || n.least >= MEDIAN_RUNS || strcmp(drawing_estimator(d), "median") != 0)
		return "95 % interval";
	return n.most < MEDIAN_RUNS ? "lowest to highest run"
				    : "95 % interval, lowest to highest of fewer than 6 runs";
}

static void foot_add_count(struct str *s, struct run_counts n)
{
	if (n.least && n.least < n.most)
		str_printf(s, "n = %d to %d ", n.least, n.most);
	else if (n.least)
		str_printf(s, "n = %d ", n.least);
}

/* Returns whether the bars are sums of profiled parts with an interval from the measured runs. */
static bool foot_has_sum(const struct figure *f, enum drawn_from from)
{
	struct estimate e;

	for (int g = 0; g < f->groups.n && f->parts.n && from == FROM_PROFILED; g++)
		for (int b = 0; b < f->bars.n; b++)
			if (figure_get(f, g, b, FIGURE_WHOLE, &e) && e.hi > e.lo)
				return true;
	return false;
}

static void foot_add_sum(const struct drawing *d, struct str *s)
{
	str_puts(s, " · whiskers of the sums: ");
	foot_add_count(s, d->facts.measured);
	str_printf(s, "measured run%s, %s, %s", d->facts.measured.most == 1 ? "" : "s",
		   drawing_estimator(d), foot_whiskers(d, d->facts.measured));
}

/* Returns what the intervals of a profile are, or why it has none. */
static const char *foot_profile_whiskers(struct figure *f, struct run_counts n)
{
	if (!figure_has_whiskers(f, f->parts.n))
		return n.most < INTERVAL_RUNS ? "too few for an interval" : "no interval";
	return figure_text(f, "%s%s",
			   f->parts.n ? "intervals of parts in the .tsv"
				      : "whiskers: 95 % interval",
			   n.least && n.least < INTERVAL_RUNS ? ", from 3 runs on" : "");
}

/* Returns what is drawn beside the values: the statistic and the kind of interval. */
static const char *foot_statistic(const struct drawing *d, struct figure *f, struct run_counts n,
				  enum drawn_from from)
{
	bool whiskers = figure_has_whiskers(f, false);

	switch (from) {
	case FROM_POOLED:
		return !n.least			  ? "one recording"
		       : query_of_wall(&d->query) ? "traced, the waits of all runs together"
						  : "profiled, the samples of all runs together";
	case FROM_TESTED:
		return "exact Mann-Whitney with Holm's correction, whiskers: 95 % interval";
	case FROM_UNTESTED:
		return whiskers ? "too few for a test, whiskers: 95 % interval"
				: "too few for a test or an interval";
	case FROM_TRACED:
		return "mean of the packets";
	case FROM_EACH_RUN:
		return n.most == 1 ? "so no median" : "strong line: median";
	case FROM_COUNTED:
		return "whiskers: 95 % interval of the mean call alone";
	default:
		break;
	}
	if (n.most == 1)
		return "no interval from one run";
	if (from == FROM_PROFILED)
		return foot_profile_whiskers(f, n);
	if (!f->curves && !whiskers)
		return drawing_estimator(d);
	return figure_text(f, "%s, %s: %s", drawing_estimator(d), f->curves ? "bands" : "whiskers",
			   foot_whiskers(d, n));
}

static void foot_add_runs(const struct drawing *d, struct figure *f, struct str *s,
			  enum drawn_from from)
{
	struct run_counts n = foot_runs(d, f, from);

	foot_add_count(s, n);
	if (n.least && from != FROM_POOLED)
		str_printf(s, "%s run%s per variant, ",
			   from == FROM_MEASURED || from == FROM_EACH_RUN ? "measured"
			   : from == FROM_COUNTED			  ? "syscall-counting"
			   : from == FROM_TRACED			  ? "traced"
									  : "profiled",
			   n.most == 1 ? "" : "s");
	str_puts(s, foot_statistic(d, f, n, from));
}

/* Appends the samples that the chart is made from, if they are not all. */
static void foot_add_selection(const struct drawing *d, struct str *s)
{
	const struct query *q = &d->query;
	const struct {
		const char *what, *value;
	} names[] = {{"command", q->comm}, {"object", q->dso}, {"function", q->symbol}};
	autofree char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;

	if (q->workload_only)
		str_puts(s, " · the workload's processes only");
	if (cpus)
		str_printf(s, " · CPU %s only", cpus);
	for (size_t i = 0; i < array_size(names); i++)
		if (names[i].value)
			str_printf(s, " · %s '%s' only", names[i].what, names[i].value);
}

void drawing_foot(const struct drawing *d, struct figure *f, enum drawn_from from)
{
	const struct chart_facts *a = &d->facts;
	freed(str_free) struct str s = {0};

	foot_add_runs(d, f, &s, from);
	if (foot_has_sum(f, from))
		foot_add_sum(d, &s);
	drawing_add_shared(d, &s);
	foot_add_selection(d, &s);
	if (a->slice)
		str_printf(&s, " · only %s of each window", a->slice);
	if (a->host)
		str_printf(&s, " · %s", a->host);
	if (a->kernel)
		str_printf(&s, " · Linux %s", a->kernel);
	if (a->capture)
		str_printf(&s, " · %s", a->capture);
	if (a->date)
		str_printf(&s, " · %s", a->date);
	f->foot = figure_text(f, "%s · zcost %s", s.buf, zcost_version);
}
