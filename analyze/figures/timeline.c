// SPDX-License-Identifier: GPL-2.0-only
/* timeline: figures over time in each run, by the second of its window. */
#include "analyze/scope/results.h"

#include <math.h>

static const struct column timeline_columns[] = {
	BLOCK_COLUMNS(struct timeline_row),
	{MEMBER(struct timeline_row, run), .type = V_INT, .what = "repeat"},
	{MEMBER(struct timeline_row, name), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct timeline_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct timeline_row, t_s), "s", V_REAL, .digits = 3,
	 .what = "end of the interval, or time of the reading, from the window's start; negative before it"},
	{MEMBER(struct timeline_row, seconds), "s", V_REAL, .digits = 3,
	 .what = "length of the run's window"},
	{MEMBER(struct timeline_row, value), .type = V_REAL, .digits = 3},
};

enum { LIMIT = 30 };

/* Series by the beginning of a name. Others are counts. */
static const struct series_kind {
	const char *prefix, *unit;
	bool of_workload; /* the gauge is one of the workload's processes, sockets or account */
} kinds[] = {
	{"throughput", "Gbit/s", true},
	{"nic_", "Gbit/s", false},
	{"cpu_pct", "%", false},
	{"workload_cpu_pct", "%", true},
	{"sched_wait_pct", "%", true},
	{"tcp_socket_rtt_us", "us", true},
	{"tcp_retransmits_per_s", "1/s", false},
	{"softnet_squeezed_per_s", "1/s", false},
	{"tcp_socket_cwnd", "segments", true},
	{"power_w:", "W", false},
	{"page_pool_mem:", "B", false},
	{"", "1", false},
};

static const struct series_kind *timeline_kind(const char *name)
{
	size_t i = 0;

	while (!str_starts(name, kinds[i].prefix))
		i++;
	return &kinds[i];
}

static void timeline_put_point(const struct block_table *k, const struct run *r, const char *name,
			       const struct series_row *point)
{
	bool range = point->low < point->high;

	table_add(k->t, struct timeline_row,
		  &(struct timeline_row){.block = k->b->block,
					 .run = r->repeat,
					 .name = name,
					 .unit = timeline_kind(name)->unit,
					 .t_s = ((double)point->t_ns - (double)r->start_ns) / 1e9,
					 .seconds = (double)(r->end_ns - r->start_ns) / 1e9,
					 .value = {.value = point->value,
						   .lo = range ? point->low : NAN,
						   .hi = range ? point->high : NAN}});
}

static bool timeline_is_asked(const struct query *q, const char *name)
{
	return str_matches(q->name, name) && (!q->drawn || str_matches_any(q->drawn, name)) &&
	       (!q->workload_only || timeline_kind(name)->of_workload);
}

/* Adds at most `most` points of a series, or the parts of a series that is longer than that many.
 */
static int timeline_put_series(const struct block_table *k, const struct run *r,
			       const struct series_size *of, int64_t most, struct error *err)
{
	autofree struct series_row *points = NULL;
	int parts = k->q->parts;
	int n = parts && of->points > parts
			? store_series_parts(k->s, r->id, of, parts, &points, err)
			: store_series(k->s, r->id, of->name, most, &points, err);

	for (int i = 0; i < n; i++)
		timeline_put_point(k, r, of->name, &points[i]);
	return n < 0 ? n : 0;
}

/* Adds the number of the run's points to *all, and those within the limit to the table. */
static int timeline_put_run(const struct block_table *k, const struct run *r, int64_t limit,
			    int64_t *all, struct error *err)
{
	autofree struct series_size *list = NULL;
	int n = store_series_sizes(k->s, r->id, &list, err), rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		if (!timeline_is_asked(k->q, list[i].name))
			continue;
		if (*all < limit)
			rc = timeline_put_series(k, r, &list[i], limit - *all, err);
		*all += list[i].points;
	}
	return n < 0 ? n : rc;
}

static int timeline_put_block(struct block_table *k, struct error *err)
{
	int64_t limit = query_limit(k->q, LIMIT), all = 0;
	const struct block *b = &k->b->block;
	int rc = 0;

	for (int i = 0; i < k->b->n && !rc; i++)
		rc = timeline_put_run(k, &k->b->runs[i], limit, &all, err);
	if (all > limit)
		note_add_block(&k->t->notes, b, rows_shown, (size_t)limit, (size_t)all);
	return rc;
}

static int timeline_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	autofree const char **names = NULL;
	int n, rc = block_table_run(s, q, t, &(struct measure){.block = timeline_put_block}, err);

	if (rc || t->rows || !q->name)
		return rc;
	n = store_names(s, NAMES_SERIES, &names, err);
	return n < 0 ? n : scope_check_name(s, "series", q->name, true, names, n, err);
}

const struct measure measure_timeline = {
	.name = "timeline",
	.what = "throughput, CPU, power, retransmits, cwnd, rtt and squeezes over time, in each run",
	MEASURE_COLUMNS(timeline_columns),
	.options = {[SOURCE_CAPTURE] = "variant side run workload-only name limit all " OPT_SLICE},
	.spare = "seconds unit",
	.flags = MEASURE_UNTITLED,
	.run = timeline_run,
};
