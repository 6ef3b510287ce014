// SPDX-License-Identifier: GPL-2.0-only
/* The foot note of a chart: runs, statistics, selection, host, kernel, capture. */
#include "plot/chart.h"

#include "lib/command.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

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
	size_t i;

	for (i = 0; i < f->ndata; i++) {
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
	int g, b;

	for (g = 0; g < f->groups.n && f->parts.n && from == FROM_PROFILED; g++)
		for (b = 0; b < f->bars.n; b++)
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
		return n.least ? "profiled, the samples of all runs together" : "one recording";
	case FROM_TESTED:
		return "exact Mann-Whitney with Holm's correction, whiskers: 95 % interval";
	case FROM_UNTESTED:
		return whiskers ? "too few for a test, whiskers: 95 % interval"
				: "too few for a test or an interval";
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
	char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;
	size_t i;

	if (q->workload_only)
		str_puts(s, " · the workload's processes only");
	if (cpus)
		str_printf(s, " · CPU %s only", cpus);
	for (i = 0; i < array_size(names); i++)
		if (names[i].value)
			str_printf(s, " · %s '%s' only", names[i].what, names[i].value);
	free(cpus);
}

void drawing_foot(const struct drawing *d, struct figure *f, enum drawn_from from)
{
	const struct chart_facts *a = &d->facts;
	struct str s = {0};

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
	str_free(&s);
}
