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

struct counter {
	const char *event, *group, *unit;
	char *name; /* the metric's name; the same event in another group has the group's number */
	double value, enabled, running;
	size_t cpus, not_counted; /* cpus: 0 if the host lacks the event */
	bool backwards;
};

struct counters {
	struct counter *c;
	size_t n, cap;
};

static struct counter *counters_find(struct counters *list, const char *event, const char *group)
{
	bool again = false;

	for (size_t i = 0; i < list->n; i++) {
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

static bool counters_read_row(const struct tsv *t, size_t i, struct row *r)
{
	const char *scale = tsv_text(t, i, "scale");

	r->every = !parse_u64(tsv_text(t, i, "cpu"), &r->cpu); /* "-1" */
	r->scale = 1;
	return parse_u64(tsv_text(t, i, "value"), &r->value) &&
	       parse_u64(tsv_text(t, i, "enabled_ns"), &r->enabled) &&
	       parse_u64(tsv_text(t, i, "running_ns"), &r->running) &&
	       (!*scale || (parse_real(scale, &r->scale) && r->scale >= 0));
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
	c->enabled += (double)r->enabled;
	c->running += (double)r->running;
}

static void counters_add_rows(struct ingest *in, struct tsv *t, struct counters *list)
{
	struct row r;

	for (size_t i = 0; i < t->rows; i++) {
		bool unsupported = !strcmp(tsv_text(t, i, "state"), "not-supported");
		bool socket = !strcmp(tsv_text(t, i, "scope"), "socket");
		struct counter *c;

		if (!unsupported && !counters_read_row(t, i, &r)) {
			t->bad++;
			continue;
		}
		if (!unsupported && !r.every && !socket && !ingest_has_cpu(in, (unsigned int)r.cpu))
			continue;
		c = counters_find(list, tsv_text(t, i, "event"), tsv_text(t, i, "group"));
		c->unit = tsv_text(t, i, "unit");
		if (!unsupported)
			counter_add_row(c, &r);
	}
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

static int counters_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct counters list = {0};

	(void)err;
	counters_add_rows(in, t, &list);
	for (size_t i = 0; i < list.n; i++) {
		counter_add_metrics(in, &list.c[i]);
		free(list.c[i].name);
	}
	free(list.c);
	return 0;
}

const struct parser parser_counters = {.files = {"counters.tsv"},
				       .collector = "counters",
				       .columns = "event cpu value enabled_ns running_ns",
				       .rows = counters_read_rows};
