// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.tsv: one row per event and CPU. The figures are sums over the side's CPUs; of an event
 * that whole sockets count, over their CPUs. An event that shared its hardware counter ran for a
 * part of the time: its figure is value x enabled / running, and that part is a metric too. An
 * event that never ran was not counted; an event that the host lacks is not supported. Neither is
 * 0.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

struct counter {
	const char *event, *group, *unit;
	char *name; /* the metric's name; the same event in another group has the group's number */
	double value, enabled, running;
	double longest;		  /* the longest time that a CPU had it enabled: the window */
	size_t cpus, not_counted; /* cpus: 0 if the host lacks the event */
	bool backwards;
};

struct counters {
	struct counter *c;
	size_t n, cap;
};

/* The columns; -1: an older file does not have it. */
struct columns {
	int event, cpu, value, enabled, running, group, scope, scale, unit, state;
};

static struct columns counters_find_columns(const struct tsv *t)
{
	return (struct columns){tsv_column(t, "event"),	     tsv_column(t, "cpu"),
				tsv_column(t, "value"),	     tsv_column(t, "enabled_ns"),
				tsv_column(t, "running_ns"), tsv_column(t, "group"),
				tsv_column(t, "scope"),	     tsv_column(t, "scale"),
				tsv_column(t, "unit"),	     tsv_column(t, "state")};
}

static struct counter *counters_find(struct counters *list, const char *event, const char *group)
{
	bool again = false;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->c[i].event, event))
			continue;
		if (!strcmp(list->c[i].group, group))
			return &list->c[i];
		again = true;
	}
	array_grow(list->c, list->n, list->cap);
	list->c[list->n] = (struct counter){.event = event, .group = group};
	list->c[list->n].name = again ? xasprintf("%s@%s", event, group) : xstrdup(event);
	return &list->c[list->n++];
}

/* --- one CPU's row --- */

struct row {
	uint64_t value, enabled, running, cpu;
	bool every; /* the row of the process tree, of no CPU */
	double scale;
};

static bool counters_read_row(const struct tsv *t, const struct columns *k, size_t i, struct row *r)
{
	const char *scale = tsv_cell(t, i, k->scale);

	r->every = !parse_u64(tsv_cell(t, i, k->cpu), &r->cpu); /* "-1" */
	r->scale = 1;
	return parse_u64(tsv_cell(t, i, k->value), &r->value) &&
	       parse_u64(tsv_cell(t, i, k->enabled), &r->enabled) &&
	       parse_u64(tsv_cell(t, i, k->running), &r->running) &&
	       (!*scale || parse_real(scale, &r->scale));
}

/* Counts only grow: a count over 2^63 fell below its start. */
static void counter_add_row(struct counter *c, const struct row *r)
{
	c->cpus++;
	c->backwards |= r->value >> 63;
	c->not_counted += r->enabled && !r->running;
	if (r->running)
		c->value += r->scale * (double)r->value *
			    (r->running < r->enabled ? (double)r->enabled / (double)r->running : 1);
	c->longest = (double)r->enabled > c->longest ? (double)r->enabled : c->longest;
	c->enabled += (double)r->enabled;
	c->running += (double)r->running;
}

static void counters_add_rows(struct ingest *in, const struct tsv *t, const struct columns *k,
			      struct counters *list)
{
	size_t i, bad = t->short_rows;
	struct row r;

	for (i = 0; i < t->rows; i++) {
		bool unsupported = !strcmp(tsv_cell(t, i, k->state), "not-supported");
		bool socket = !strcmp(tsv_cell(t, i, k->scope), "socket");
		struct counter *c;

		if (!unsupported && !counters_read_row(t, k, i, &r)) {
			bad++;
			continue;
		}
		if (!unsupported && !r.every && !socket && !ingest_has_cpu(in, (unsigned int)r.cpu))
			continue;
		c = counters_find(list, tsv_cell(t, i, k->event), tsv_cell(t, i, k->group));
		c->unit = tsv_cell(t, i, k->unit);
		if (!unsupported)
			counter_add_row(c, &r);
	}
	if (bad)
		note_add(&in->notes, rows_unreadable, "counters", bad, "counters.tsv");
}

/* --- CPUs that were not there all the time --- */

enum { ALL_THE_TIME = 95 }; /* percent: the CPUs are switched on one after the other */

struct absent {
	const char *cpu;
	double pct;
};

/* Returns the CPU of the side that was counted for the smallest part of the time of the others. */
static struct absent counters_most_absent(const struct ingest *in, const struct tsv *t,
					  const struct columns *k, struct counters *list)
{
	struct absent a = {NULL, ALL_THE_TIME};
	const struct counter *c;
	struct row r;
	double pct;
	size_t i;

	for (i = 0; i < t->rows; i++) {
		if (!counters_read_row(t, k, i, &r) || r.every ||
		    !ingest_has_cpu(in, (unsigned int)r.cpu))
			continue;
		c = counters_find(list, tsv_cell(t, i, k->event), tsv_cell(t, i, k->group));
		pct = 100 * (double)r.enabled / c->longest; /* NAN: no CPU had it enabled */
		if (pct < a.pct)
			a = (struct absent){tsv_cell(t, i, k->cpu), pct};
	}
	return a;
}

static void counters_note_absent(struct ingest *in, const struct absent *a)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	char *what = xasprintf("CPU %s", a->cpu);

	note_add(&in->notes, known_partly, "counters", what, a->pct / 100 * window_s, window_s);
	free(what);
}

/* --- metrics --- */

static void counters_note_missing(struct ingest *in, const struct counter *c)
{
	if (!c->cpus) {
		ingest_metric_of(in, "counter_not_supported", c->name, NO_CPU, "1", 1);
		return;
	}
	ingest_metric_of(in, "counter_not_counted", c->name, NO_CPU, "1", (double)c->not_counted);
	if (c->backwards)
		note_add(&in->notes, counter_reset, "counters", c->event);
	else
		note_add(&in->notes, counter_not_scheduled, c->event, c->not_counted, c->cpus);
}

static void counter_add_metrics(struct ingest *in, const struct counter *c)
{
	uint64_t group;

	if (!c->cpus || c->not_counted || c->backwards || !(c->running > 0)) {
		counters_note_missing(in, c);
		return;
	}
	ingest_metric_of(in, "counter", c->name, NO_CPU,
			 c->unit && *c->unit ? arena_strdup(&in->arena, c->unit) : "1", c->value);
	if (c->running < c->enabled)
		ingest_metric_of(in, "counter_running", c->name, NO_CPU, "%",
				 100 * c->running / c->enabled);
	if (parse_u64(c->group, &group) && group)
		ingest_metric_of(in, "counter_group", c->name, NO_CPU, "1", (double)group);
}

static int counters_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct counters list = {0};
	struct absent absent;
	struct columns k;
	struct tsv t;
	size_t i;
	int rc = tsv_read(&t, path, '\t', err);

	if (rc)
		return rc;
	rc = tsv_require(&t, err, "event", "cpu", "value", "enabled_ns", "running_ns", NULL);
	if (!rc) {
		k = counters_find_columns(&t);
		counters_add_rows(in, &t, &k, &list);
		absent = counters_most_absent(in, &t, &k, &list);
		if (absent.cpu)
			counters_note_absent(in, &absent);
		for (i = 0; i < list.n; i++)
			counter_add_metrics(in, &list.c[i]);
	}
	for (i = 0; i < list.n; i++)
		free(list.c[i].name);
	free(list.c);
	tsv_free(&t);
	return rc;
}

const struct parser parser_counters = {.files = {"counters.tsv"}, .read = counters_read_file};
