// SPDX-License-Identifier: GPL-2.0-only
/* timeline: figures over time in each run, by the second of its window. */
#include "analyze/measures/scope.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static const struct column timeline_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"run", .type = V_INT, .what = "repeat"},
	{"name", .type = V_STR, .shape = STAYS_WHOLE},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"t_s", "s", V_REAL, .digits = 3,
	 .what = "end of the interval, or time of the reading, from the window's start; negative before it"},
	{"seconds", "s", V_REAL, .digits = 3, .what = "length of the run's window"},
	{"value", .type = V_REAL, .digits = 3},
};

enum { LIMIT = 30 };

/* Units by the beginning of a name. Other series are counts. */
static const struct {
	const char *prefix, *unit;
} units[] = {
	{"throughput", "Gbit/s"},
	{"nic_", "Gbit/s"},
	{"cpu_pct", "%"},
	{"workload_cpu_pct", "%"},
	{"sched_wait_pct", "%"},
	{"tcp_socket_rtt_us", "us"},
	{"tcp_retransmits_per_s", "1/s"},
	{"softnet_squeezed_per_s", "1/s"},
	{"tcp_socket_cwnd", "segments"},
	{"power_w:", "W"},
};

static const char *timeline_unit(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strncmp(name, units[i].prefix, strlen(units[i].prefix)))
			return units[i].unit;
	return "1";
}

static void timeline_put_point(const struct block_table *k, const struct run *r,
			       const struct series_row *point)
{
	struct value *row = block_row(k->t, &k->b->block);

	table_set(k->t, row, "run", value_int(r->repeat));
	table_set(k->t, row, "name", value_str(k->t, point->name));
	table_set(k->t, row, "unit", value_str(k->t, timeline_unit(point->name)));
	table_set(k->t, row, "t_s", value_real(((double)point->t_ns - (double)r->start_ns) / 1e9));
	table_set(k->t, row, "seconds", value_real((double)(r->end_ns - r->start_ns) / 1e9));
	table_set(k->t, row, "value", value_real(point->value));
}

/* Adds the run's points to *all, and those within the limit to the table. */
static int timeline_put_run(const struct block_table *k, const struct run *r, size_t limit,
			    size_t *all, struct error *err)
{
	struct series_row *points;
	int n = store_series(k->s, r->id, &points, err), i;

	for (i = 0; i < n; i++)
		if (str_matches(k->q->name, points[i].name) && (*all)++ < limit)
			timeline_put_point(k, r, &points[i]);
	if (n >= 0)
		free(points);
	return n < 0 ? n : 0;
}

static int timeline_put_block(struct block_table *k, struct error *err)
{
	size_t limit = k->q->limit > 0 ? (size_t)k->q->limit : LIMIT, all = 0;
	const struct block *b = &k->b->block;
	int i, rc = 0;

	if (k->q->all)
		limit = SIZE_MAX;
	for (i = 0; i < k->b->n && !rc; i++)
		rc = timeline_put_run(k, &k->b->runs[i], limit, &all, err);
	if (all > limit)
		note_add_of(&k->t->notes, b->variant, b->side, rows_shown, limit, all);
	return rc;
}

static int timeline_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	return block_table_run(s, q, t, timeline_put_block, NULL, err);
}

const struct measure measure_timeline = {
	.name = "timeline",
	.what = "throughput, CPU, power, retransmits, cwnd, rtt and squeezes over time, in each run",
	MEASURE_COLUMNS(timeline_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "name limit all"},
	.spare = "seconds unit",
	.run = timeline_run,
};
