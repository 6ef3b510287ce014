// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.tsv: one row per event and CPU, summed over the side's CPUs. An event that had to share
 * its hardware counter ran for a part of the time only: value x enabled / running, and the part is
 * kept beside it. One that never ran was not counted.
 */
#include "analyze/ingest/ingest.h"
#include "analyze/ingest/tsv.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

struct counter {
	const char *event;
	double value, enabled, running;
	bool never;
};

static struct counter *counter_of(struct counter **list, size_t *n, size_t *cap, const char *event)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp((*list)[i].event, event))
			return &(*list)[i];
	array_grow(*list, *n, *cap);
	(*list)[*n] = (struct counter){.event = event};
	return &(*list)[(*n)++];
}

static void put(struct ingest *in, const struct counter *c)
{
	char *name = xasprintf("counter:%s", c->event);

	if (c->never)
		ingest_note(in, "warning", "counters: %s was never scheduled on some CPU: left out",
			    c->event);
	else
		ingest_metric(in, name, "1", c->value, NULL);
	free(name);
	if (c->never || c->running >= c->enabled)
		return;
	name = xasprintf("counter_running:%s", c->event);
	ingest_metric(in, name, "%", 100 * c->running / c->enabled, NULL);
	free(name);
}

static void add_rows(struct ingest *in, const struct tsv *t, struct counter **list, size_t *n)
{
	int event = tsv_column(t, "event"), cpu = tsv_column(t, "cpu"),
	    value = tsv_column(t, "value"), enabled = tsv_column(t, "enabled_ns"),
	    running = tsv_column(t, "running_ns");
	size_t cap = 0, row, bad = 0;

	for (row = 0; row < t->rows; row++) {
		uint64_t on, v, e, r;
		bool every = !parse_u64(tsv_cell(t, row, cpu), &on); /* "-1": of the process tree */
		struct counter *c;

		if (!parse_u64(tsv_cell(t, row, value), &v) ||
		    !parse_u64(tsv_cell(t, row, enabled), &e) ||
		    !parse_u64(tsv_cell(t, row, running), &r)) {
			bad++;
			continue;
		}
		if (!every && !ingest_has_cpu(in, (unsigned int)on))
			continue;
		c = counter_of(list, n, &cap, tsv_cell(t, row, event));
		c->never |= !r;
		c->value += r ? (double)v * ((double)e / (double)r) : 0;
		c->enabled += (double)e;
		c->running += (double)r;
	}
	if (bad + t->short_rows)
		ingest_note(in, "lossy", "counters: %zu rows are not readable",
			    bad + t->short_rows);
}

int ingest_counters(struct ingest *in, const char *path, struct error *err)
{
	struct counter *list = NULL;
	struct tsv t;
	size_t n = 0, i;
	int rc = tsv_read(&t, path, '\t', err);

	if (rc)
		return rc;
	rc = tsv_require(&t, err, "event", "cpu", "value", "enabled_ns", "running_ns", NULL);
	if (!rc) {
		add_rows(in, &t, &list, &n);
		for (i = 0; i < n; i++)
			put(in, &list[i]);
	}
	free(list);
	tsv_free(&t);
	return rc;
}
