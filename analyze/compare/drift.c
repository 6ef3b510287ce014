// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs that do not take turns can differ by a drift of the machine alone. This file finds out
 * whether the runs of both ends took turns. If not, it tests whether the figures of each end drift
 * within the end, and a verdict then needs more (verdict_is_drift).
 */
#include "analyze/compare/compare.h"

#include "analyze/scope/work.h"

#include <math.h>

/* Trend and serial correlation at both ends: Bonferroni's correction. */
enum { DRIFT_TESTS = 2 * ENDS };

/* The figures of an end's runs, in the order in which the runs were made. */
struct end_order {
	struct run *runs; /* the runs of the first side */
	int n;
	double **series; /* arrays of n */
	size_t nseries, cap;
};

/* Adds a figure unless a run lacks it: the rate of work, or the CPU time of a unit of work. */
static void end_order_add(struct end_order *o, struct store *s, const struct query *q,
			  const struct run *runs, const char *rate, bool time)
{
	double *x = xcalloc((size_t)o->n + 1, sizeof(*x));

	for (int i = 0; i < o->n; i++) {
		x[i] = stats_significant(time ? work_time(s, q, &runs[i], rate)
					      : figure_metric(s, &runs[i], rate));
		if (isnan(x[i])) {
			free(x);
			return;
		}
	}
	array_add(o->series, o->nseries, o->cap, x);
}

static int end_order_add_side(struct end_order *o, const struct comparison *c, enum end e,
			      const char *side, struct error *err)
{
	struct store *s = c->end[e].store;
	const struct block b = {c->end[e].variant, side};
	struct query q = c->query;
	struct run *runs;
	int n = scope_runs(s, &q, &b, FOR_FIGURES, &runs, err);
	const char *unit = n > 0 ? work_unit(s, runs, n) : NULL;

	if (n <= 0)
		return n;
	q.cpus = NULL; /* a drift is one of the whole side */
	if (!o->runs)
		o->n = n;
	if (unit && n == o->n) {
		end_order_add(o, s, &q, runs, work_rate_metric(unit), false);
		end_order_add(o, s, &q, runs, work_rate_metric(unit), true);
	}
	if (o->runs)
		free(runs);
	else
		o->runs = runs;
	return 0;
}

static int end_order_read(struct end_order *o, const struct comparison *c, enum end e,
			  struct error *err)
{
	autofree const char **sides = NULL;
	int n = store_sides(c->end[e].store, &sides, err), ret = n < 0 ? n : 0;

	*o = (struct end_order){0};
	for (int i = 0; i < n && !ret; i++)
		if (!c->side[e] || !strcmp(c->side[e], sides[i]))
			ret = end_order_add_side(o, c, e, sides[i], err);
	return ret;
}

/* Returns how often the next run in the order of the capture is one of the other end. */
static int order_count_turns(const struct end_order *a, const struct end_order *b)
{
	int i = 0, k = 0, turns = -1;
	bool of_b, was_b = false;

	while (i < a->n || k < b->n) {
		of_b = i == a->n || (k < b->n && b->runs[k].position < a->runs[i].position);
		turns += turns < 0 || of_b != was_b;
		was_b = of_b;
		i += !of_b;
		k += of_b;
	}
	return turns;
}

/* Returns whether the runs of both ends did not take turns. Two captures never took turns. */
static bool order_is_apart(const struct comparison *c, const struct end_order *o)
{
	int least = o[BASE].n < o[NEW].n ? o[BASE].n : o[NEW].n;

	if (!least)
		return false;
	if (strcmp(store_path(c->end[BASE].store), store_path(c->end[NEW].store)))
		return true;
	return 2 * order_count_turns(&o[BASE], &o[NEW]) <= least;
}

/* Prints what the order of an end's runs shows. Returns whether the end drifts. */
static bool drift_print_end(struct str *s, const struct comparison *c, enum end e,
			    const struct end_order *o)
{
	struct order_test t =
		stats_order_test((const double *const *)o->series, o->nseries, (size_t)o->n);
	/* fmin ignores NAN */
	bool drifts = fmin(t.serial, t.trend) * DRIFT_TESTS < c->rule.alpha;

	str_printf(s, "%s: ", e == BASE ? "drift within base" : "; new");
	if (isnan(t.serial) || isnan(t.trend))
		str_printf(s, "not tested, %d runs", o->n);
	else
		str_printf(s, "%s (p: trend %.2g, autocorrelation %.2g; %d runs)",
			   drifts ? "YES" : "not seen", t.trend, t.serial, o->n);
	return drifts;
}

int compare_drift(struct comparison *c, struct str *lines, struct error *err)
{
	struct end_order o[ENDS] = {0};
	const char *at[ENDS];
	int ret = 0, e;

	for (e = 0; e < ENDS && !ret; e++) {
		if (c->end[e].bare)
			break;
		ret = end_order_read(&o[e], c, (enum end)e, err);
	}
	if (!ret && e == ENDS && order_is_apart(c, o)) {
		c->rule.apart = true;
		for (e = 0; e < ENDS; e++)
			at[e] = store_capture_value(c->end[e].store, "created");
		str_puts(lines, "not interleaved: the runs of base and new lie apart in time");
		if (at[BASE] && at[NEW] && strcmp(at[BASE], at[NEW]))
			str_printf(lines, " (%s and %s)", at[BASE], at[NEW]);
		str_puts(lines, ", and a drift of the machine looks like a change\n");
		for (e = 0; e < ENDS; e++)
			c->rule.drifts |= drift_print_end(lines, c, (enum end)e, &o[e]);
		str_putc(lines, '\n');
	}
	for (e = 0; e < ENDS; e++) {
		while (o[e].nseries)
			free(o[e].series[--o[e].nseries]);
		free(o[e].series);
		free(o[e].runs);
	}
	return ret;
}
