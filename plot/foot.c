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
	bool median = !d->facts.estimator || !strcmp(d->facts.estimator, "median");

	if (!n.least || n.least >= MEDIAN_RUNS || !median)
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

/* Appends what the intervals of a profile are, or why it has none. */
static void foot_add_profile_whiskers(const struct figure *f, struct str *s, struct run_counts n)
{
	if (!(figure_has_whiskers(f, f->parts.n)))
		str_puts(s, n.most < INTERVAL_RUNS ? "too few for an interval" : "no interval");
	else
		str_printf(s, "%s%s",
			   f->parts.n ? "intervals of parts in the .tsv"
				      : "whiskers: 95 % interval",
			   n.least && n.least < INTERVAL_RUNS ? ", from 3 runs on" : "");
}

static void foot_add_sum(const struct drawing *d, struct str *s)
{
	str_puts(s, " · whiskers of the sums: ");
	foot_add_count(s, d->facts.measured);
	str_printf(s, "measured run%s, %s, %s", d->facts.measured.most == 1 ? "" : "s",
		   d->facts.estimator ? d->facts.estimator : "median",
		   foot_whiskers(d, d->facts.measured));
}

static void foot_add_runs(const struct drawing *d, const struct figure *f, struct str *s,
			  enum drawn_from from)
{
	struct run_counts n = foot_runs(d, f, from);

	foot_add_count(s, n);
	if (from == FROM_POOLED) {
		str_printf(s, "%s",
			   n.least ? "profiled, the samples of all runs together"
				   : "one recording");
		return;
	}
	if (n.least)
		str_printf(s, "%s run%s per variant, ",
			   from == FROM_MEASURED || from == FROM_EACH_RUN ? "measured"
			   : from == FROM_COUNTED			  ? "syscall-counting"
									  : "profiled",
			   n.most == 1 ? "" : "s");
	if (from == FROM_TESTED)
		str_puts(s, "exact Mann-Whitney with Holm's correction, whiskers: 95 % interval");
	else if (from == FROM_UNTESTED)
		str_puts(s, figure_has_whiskers(f, false)
				    ? "too few for a test, whiskers: 95 % interval"
				    : "too few for a test or an interval");
	else if (from == FROM_EACH_RUN)
		str_puts(s, n.most == 1 ? "so no median" : "strong line: median");
	else if (from == FROM_COUNTED)
		str_puts(s, "whiskers: 95 % interval of the mean call alone");
	else if (n.most == 1)
		str_puts(s, "no interval from one run");
	else if (from == FROM_PROFILED)
		foot_add_profile_whiskers(f, s, n);
	else if (!f->curves && !figure_has_whiskers(f, false))
		str_puts(s, d->facts.estimator ? d->facts.estimator : "median");
	else
		str_printf(s, "%s, %s: %s", d->facts.estimator ? d->facts.estimator : "median",
			   f->curves ? "bands" : "whiskers", foot_whiskers(d, n));
}

/* Names the settings that no bar's name has, because all variants share them. */
static void foot_add_shared(const struct drawing *d, struct str *s)
{
	struct str parts = {0};

	drawing_add_shared(d, &parts);
	if (parts.len)
		str_printf(s, " · all variants: %s", parts.buf);
	str_free(&parts);
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
	foot_add_shared(d, &s);
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
