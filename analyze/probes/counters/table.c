// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/counters/table.h"

#include "analyze/scope/work.h"
#include "analyze/scope/changes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column counters_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"name", .type = V_STR, .what = "an event, or a ratio of two events"},
	{"value", .type = V_REAL, .digits = 4, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"mean", .type = V_REAL, .digits = 4,
	 .what = "mean over the runs, as perf stat -r prints it"},
	{"stddev_pct", "%", V_REAL, .digits = 2,
	 .what = "standard error of the mean, as perf stat -r prints it"},
	{"running_pct", "%", V_REAL, .digits = 1,
	 .what = "part of the time with a hardware counter; the count is scaled up"},
	{"state", .type = V_STR, .what = "<not supported>, <not counted>"},
	{"runs", .type = V_INT, .what = "runs that have it"},
};

/* The figures that follow from one event, or the switches of the workload's threads, and the work
 * done. */
static const struct work_ratio {
	const char *name, *event, *unit;
	double scale;
} per_work[] = {
	{"cycles_per_byte", "counter:cycles", "1/B", PER_BYTE},
	{"instructions_per_byte", "counter:instructions", "1/B", PER_BYTE},
	{"context_switches_per_mib", "counter:context-switches", "1/MiB", PER_MIB},
	{"workload_context_switches_per_mib", "sched_switches", "1/MiB", PER_MIB},
};

/* --- one figure of one run --- */

static double counters_metric(struct store *s, const struct run *r, const char *what,
			      const char *event)
{
	return run_metric(s, r, what, event, NO_CPU);
}

static double counters_figure_count(struct store *s, const struct run *r, const void *event)
{
	return counters_metric(s, r, "counter", event);
}

static double counters_figure_running(struct store *s, const struct run *r, const void *event)
{
	return counters_metric(s, r, "counter_running", event);
}

static double counters_figure_per_work(struct store *s, const struct run *r, const void *arg)
{
	const struct work_ratio *k = arg;

	return k->scale * figure_metric(s, r, k->event) / work_in_window(s, r, "rate_kib");
}

/* --- ratios: "instructions@2" goes with "cycles@2", else with "cycles" --- */

struct counters_pair {
	struct store *s;
	const struct run *r;
	const char *event; /* the numerator */
	bool apart;	   /* the two events were counted in turns, not in one group */
};

static bool counters_same_time(const struct counters_pair *p, const char *other)
{
	double a = counters_metric(p->s, p->r, "counter_group", p->event);
	double b = counters_metric(p->s, p->r, "counter_group", other);

	return a == b || (isnan(counters_metric(p->s, p->r, "counter_running", p->event)) &&
			  isnan(counters_metric(p->s, p->r, "counter_running", other)));
}

static bool counters_value_of(const void *arg, const char *event, double *value)
{
	struct counters_pair *p = (struct counters_pair *)arg;
	const char *group = strrchr(p->event, '@');
	char *mate = xasprintf("%s%s", event, group ? group : "");
	const char *used = mate;

	*value = counters_metric(p->s, p->r, "counter", mate);
	if (isnan(*value)) {
		used = event;
		*value = counters_metric(p->s, p->r, "counter", event);
	}
	if (!isnan(*value))
		p->apart = !counters_same_time(p, used);
	free(mate);
	return !isnan(*value);
}

static bool counters_ratio_of(struct counters_pair *p, struct counter_ratio *ratio)
{
	double value = counters_metric(p->s, p->r, "counter", p->event);
	char *event = xstrdup(p->event), *at = strrchr(event, '@');
	bool good;

	if (at)
		*at = '\0';
	good = !isnan(value) && counter_ratio(ratio, event, value, counters_value_of, p);
	free(event);
	return good;
}

static double counters_figure_ratio(struct store *s, const struct run *r, const void *event)
{
	struct counters_pair p = {s, r, event, false};
	struct counter_ratio ratio;

	return counters_ratio_of(&p, &ratio) ? ratio.value : NAN;
}

/* --- rows --- */

/*
 * Sets the mean and stddev_pct as perf stat -r does (stddev_stats and rel_stddev_stats in its
 * util/stat.c). stddev_pct is 100 x the standard error of the mean, s / sqrt(n), / mean.
 */
static void counters_add_mean(const struct block_table *m, struct value *row, figure_fn figure,
			      const void *arg, bool whole)
{
	size_t n;
	double *x = scope_figures(m->s, m->b->runs, m->b->n, figure, arg, &n);
	double mean = n ? stats_mean(x, n) : NAN;

	if (n > 1) {
		table_set(m->t, row, "mean", whole ? value_int(llround(mean)) : value_real(mean));
		table_set(m->t, row, "stddev_pct",
			  value_real(100 * stats_sd(x, n) / sqrt((double)n) / fabs(mean)));
	}
	free(x);
}

static void counters_fill_interval(const struct block_table *m, struct value *row,
				   const struct estimate *e, bool whole)
{
	struct value v;

	if (!whole) {
		put_estimate(m->t, row, "value", e);
		return;
	}
	v = value_int(llround(e->value));
	if (e->n > 1)
		v = value_with(m->t, v, (struct interval){round(e->lo), round(e->hi), NAN});
	table_set(m->t, row, "value", v);
}

static struct value *counters_begin(const struct block_table *m, const char *name, const char *unit)
{
	struct value *row = block_row(m->t, &m->b->block);

	table_set(m->t, row, "name", value_str(m->t, name));
	table_set(m->t, row, "unit", value_str(m->t, unit));
	return row;
}

/* Adds a row for the figure. Returns false when no run has the figure. `whole` marks a count. */
static bool counters_add_figure(const struct block_table *m, const char *name, const char *unit,
				figure_fn figure, const void *arg, bool whole)
{
	struct estimate e = block_estimate(m, figure, arg);
	struct value *row;

	if (!e.n)
		return false;
	row = counters_begin(m, name, unit);
	table_set(m->t, row, "runs", value_int((int64_t)e.n));
	counters_fill_interval(m, row, &e, whole);
	counters_add_mean(m, row, figure, arg, whole);
	if (figure != counters_figure_count)
		return true;
	e = block_estimate(m, counters_figure_running, arg);
	table_set(m->t, row, "running_pct", value_real(e.value));
	return true;
}

static void counters_add_event(const struct block_table *m, const struct metric_row *event)
{
	char *name = xasprintf("counter:%s", event->key.object);
	bool whole = !strcmp(event->unit, "1") || !strcmp(event->unit, "ns");
	struct value *row;

	if (!counters_add_figure(m, name, event->unit, counters_figure_count, event->key.object,
				 whole)) {
		row = counters_begin(m, name, NULL);
		table_set(m->t, row, "state",
			  value_str(m->t, str_ends(event->key.name, "_supported")
						  ? "<not supported>"
						  : "<not counted>"));
	}
	free(name);
}

static void counters_add_ratio(const struct block_table *m, const char *event)
{
	const char *group = strrchr(event, '@');
	struct counter_ratio ratio;
	struct counters_pair p = {m->s, NULL, event, false};
	bool found = false;
	char *name;
	int i;

	for (i = 0; i < m->b->n && !found; i++) {
		p.r = &m->b->runs[i];
		found = counters_ratio_of(&p, &ratio);
	}
	if (!found)
		return;
	name = xasprintf("%s%s", ratio.name, group ? group : "");
	counters_add_figure(m, name, ratio.unit, counters_figure_ratio, event, false);
	if (p.apart)
		note_add_block(&m->t->notes, &m->b->block, ratio_of_turns, name);
	free(name);
}

/* --- the events of a block --- */

static int counters_by_event(const void *a, const void *b)
{
	const struct metric_key *x = &((const struct metric_row *)a)->key;
	const struct metric_key *y = &((const struct metric_row *)b)->key;
	int rc = strverscmp(x->object, y->object);

	return rc ? rc : strcmp(x->name, y->name);
}

/*
 * Finds one metric for each event: its count, which is first by name, or else the last of those
 * that say why no run has the count.
 */
static int counters_find_events(const struct block_table *m, struct metric_keys *list,
				struct error *err)
{
	static const char *const what[] = {"counter", "counter_not_counted",
					   "counter_not_supported"};
	size_t i, k, n = 0;
	int rc = 0;

	for (i = 0; i < array_size(what) && !rc; i++)
		rc = metric_keys_add(list, m->s, m->b, what[i], OF_SIDE, err);
	if (list->n)
		qsort(list->m, list->n, sizeof(*list->m), counters_by_event);
	for (i = 0; i < list->n; i = k + 1) {
		for (k = i;
		     k + 1 < list->n && !strcmp(list->m[k + 1].key.object, list->m[i].key.object);)
			k++;
		list->m[n++] = list->m[strcmp(list->m[i].key.name, "counter") ? k : i];
	}
	list->n = n;
	return rc;
}

/*
 * Adds a row for each requested event. A row has the estimate over the runs, the mean and its
 * standard error in percent (as perf stat -r prints them), and the part of the time with a
 * hardware counter. The row of an event without a count has its state instead. Adds the ratios of
 * two events after that. A ratio uses events of the same group where possible.
 */
static int counters_add_block(struct block_table *m, struct error *err)
{
	struct metric_keys list = {0};
	int rc = counters_find_events(m, &list, err);
	size_t i;

	for (i = 0; i < list.n && !rc; i++)
		counters_add_event(m, &list.m[i]);
	for (i = 0; i < list.n && !rc; i++)
		counters_add_ratio(m, list.m[i].key.object);
	for (i = 0; i < array_size(per_work) && !rc; i++)
		counters_add_figure(m, per_work[i].name, per_work[i].unit, counters_figure_per_work,
				    &per_work[i], false);
	free(list.m);
	return rc;
}

static void counters_add_notes(struct block_table *m)
{
	if (!m->t->rows)
		changes_nothing(m->s, m->t);
	else
		note_add(
			&m->t->notes, table_how,
			"events are counted for all that runs on the side's CPUs, other programs and the kernel's threads included; a name that begins with workload_ is of the workload's own threads");
	if (table_has_values(m->t, "running_pct"))
		note_add(
			&m->t->notes, table_how,
			"events that shared a hardware counter are scaled to the whole time; running_pct is the counted part");
	if (table_has_values(m->t, "stddev_pct"))
		note_add(
			&m->t->notes, table_how,
			"mean and stddev_pct are those of perf stat -r: the mean over the runs and its standard error in percent");
}

static int counters_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	(void)s;
	if (q->bare.stat)
		return counters_from_stat(q->bare.stat, q, t, err);
	return error_set(
		err, EINVAL,
		"table 'counters' needs a capture, or perf stat's output with --perf-stat");
}

const struct measure measure_counters = {
	.name = "counters",
	.what = "hardware and software counters, and their ratios",
	MEASURE_COLUMNS(counters_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS, [SOURCE_TEXT] = "cpu comm by unit units rate"},
	.whole =
		"the events are counted on the side's CPUs, for all processes; 'zcost report scores' has the context switches of the workload",
	.spare = "mean runs value[] running_pct",
	.block = counters_add_block,
	.notes = counters_add_notes,
	.run = counters_run,
};
