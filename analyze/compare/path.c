// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of a packet in each stage of its way at both ends. The figure of a run is the mean of
 * its packets, and the test is that of the figures of merit. A run in which packets were followed
 * and took no time in a stage has 0 there.
 */
#include "analyze/compare/gate.h"
#include "analyze/costs/costs.h"

#include <errno.h>
#include <math.h>

struct path_change {
	const char *way, *stage;
	double base_us, new_us, delta_us, p;
	const char *verdict;
	int64_t base_runs, new_runs;
	/* behind the columns */
	struct figure_runs of[ENDS];
	struct change change;
};

static const struct column columns[] = {
	{MEMBER(struct path_change, way), .type = V_STR},
	{MEMBER(struct path_change, stage), .type = V_STR, .what = "as in report path"},
	{MEMBER(struct path_change, base_us), "us", V_REAL, .digits = 1,
	 .what = "mean of a run's packets; over the runs, by the estimator"},
	{MEMBER(struct path_change, new_us), "us", V_REAL, .digits = 1},
	{MEMBER(struct path_change, delta_us), "us", V_REAL, .digits = 1, .what = "new - base"},
	{"change_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "change",
	 .what = "100 x (new / base - 1)"},
	{MEMBER(struct path_change, p), .type = V_REAL, .digits = 4,
	 .what = "exact Mann-Whitney, two-sided, after Holm's correction"},
	{MEMBER(struct path_change, verdict), .type = V_STR,
	 .what = "better (less time), worse, ~ or too few runs"},
	{MEMBER(struct path_change, base_runs), .type = V_INT},
	{MEMBER(struct path_change, new_runs), .type = V_INT},
};

/* Reads the stage's mean in each run of an end. */
static int path_read_end(const struct comparison *c, enum end e, const char *side,
			 const struct path_stage *s, struct figure_runs *of, struct error *err)
{
	struct query q = compare_query(c, e, side);
	struct run_filter f = {q.variant, NULL, q.side, 0, false};
	autofree struct run *runs = NULL;
	int n = store_runs(c->end[e].store, &f, &runs, err);
	autofree char *object = xasprintf("%s %s", s->way, s->stage);
	double x;

	*of = (struct figure_runs){.pooled = NAN};
	for (int i = 0; i < n; i++) {
		x = run_metric(c->end[e].store, &runs[i], "path_mean_ns", object, NO_CPU) / 1000;
		if (!isnan(x))
			array_add(of->x, of->n, of->cap, x);
	}
	return n < 0 ? n : 0;
}

static void path_judge(const struct comparison *c, struct path_change *list, size_t n,
		       const char *side, struct outcome *out)
{
	autofree double *p = xcalloc(n + 1, sizeof(*p));

	out->side = side;
	out->tests = n;
	for (size_t i = 0; i < n; i++) {
		for (int e = 0; e < ENDS; e++)
			if (list[i].of[e].n > out->runs[e])
				out->runs[e] = list[i].of[e].n;
		list[i].change = figure_change(c, -1, &list[i].of[BASE], &list[i].of[NEW]);
		p[i] = list[i].change.p;
	}
	stats_holm(p, n);
	for (size_t i = 0; i < n; i++) {
		autofree char *name = xasprintf("%s %s", list[i].way, list[i].stage);

		figure_correct(c, -1, &list[i].of[BASE], &list[i].of[NEW], p[i], n,
			       &list[i].change);
		gate_add_row(out->gate, side, name, "us", &list[i].change);
	}
}

static void path_add_row(struct table *t, struct path_change *r)
{
	const struct change *k = &r->change;
	struct value *cells;

	r->base_us = k->base;
	r->new_us = k->new;
	r->delta_us = k->new - k->base;
	r->p = k->verdict == VERDICT_FEW ? NAN : k->p;
	r->verdict = verdict_name(k->verdict);
	r->base_runs = (int64_t)r->of[BASE].n;
	r->new_runs = (int64_t)r->of[NEW].n;
	cells = table_add(t, struct path_change, r);
	table_set(t, cells, "change_pct", figure_change_value(t, k));
}

static bool path_has_time(const struct figure_runs *of)
{
	return of->n && stats_mean(of->x, of->n) > 0;
}

static int compare_path(const struct comparison *c, struct table *t, struct outcome *out,
			struct error *err)
{
	struct path_change list[PATH_STAGES_MOST];
	const struct path_stage *s;
	const char *side;
	size_t n = 0;
	int rc = compare_side(c, &side, err);

	for (size_t i = 0; (s = path_stage_at(i)) && !rc; i++) {
		struct path_change *r = &list[n];

		*r = (struct path_change){.way = s->way, .stage = s->stage};
		for (int e = 0; e < ENDS && !rc; e++)
			rc = path_read_end(c, (enum end)e, side, s, &r->of[e], err);
		if (path_has_time(&r->of[BASE]) || path_has_time(&r->of[NEW])) {
			n++;
			continue;
		}
		free(r->of[BASE].x);
		free(r->of[NEW].x);
	}
	if (!rc && !n)
		rc = error_set(err, ENODATA,
			       "no run of the %s followed packets; capture with the pass trace",
			       side);
	if (!rc)
		path_judge(c, list, n, side, out);
	table_title(t, "time of a packet by stage, %s: %s against %s", rc ? "" : side,
		    c->end[NEW].label, c->end[BASE].label);
	for (size_t i = 0; i < n; i++) {
		if (!rc)
			path_add_row(t, &list[i]);
		free(list[i].of[BASE].x);
		free(list[i].of[NEW].x);
	}
	if (!rc) {
		note_add(&t->notes, compare_interval, estimator_names[c->estimator], c->rule.alpha);
		note_add(&t->notes, compare_verdict, c->rule.alpha, n, "stages",
			 100 * c->rule.threshold, verdict_runs_needed(&c->rule, n));
	}
	return rc;
}

const struct compare_table comparison_path = {
	COMPARE_NAMES("path"),
	.what = "time of a packet in each stage of its way",
	MEASURE_COLUMNS(columns),
	.options = {[SOURCE_CAPTURE] = OPT_VERDICT "from to"},
	.whole = "the packets are those of the workload's sockets already",
	.spare = "base_runs new_runs",
	.run = compare_path,
};
