// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency: how long requests took, as the workload reports it, and where the wall time of a request
 * went, as the runs of the trace pass show it.
 */
#include "analyze/probes/waits/waits.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/runs.h"
#include "workload/workload.h"

static const struct column latency_columns[] = {
	SIDE_COLUMNS,
	{"source", .type = V_STR,
	 .what = "the workload's own account, over its whole run, or waits (of its threads, in the window)"},
	{"figure", .type = V_STR,
	 .what = "a percentile of the latency; of waits, a part of the wall time of all threads"},
	{"us", "us", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "of a request; estimate over the runs"},
	{"share_pct", "%", V_REAL, .digits = 2, .what = "of the threads' wall time"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

static struct value *latency_put_row(struct block_table *k, const char *source, const char *figure,
				     struct estimate e)
{
	struct value *row = block_row(k->t, &k->b->block);

	table_set(k->t, row, "source", value_str(k->t, source));
	table_set(k->t, row, "figure", value_str(k->t, figure));
	put_estimate(k->t, row, "us", &e);
	table_set(k->t, row, "runs", value_int((int64_t)e.n));
	return row;
}

static int latency_put_percentiles(struct block_table *k, struct error *err)
{
	freed(changes_free) struct changes source = {0}, us = {0};
	const struct change_row *row;
	int rc = changes_read(&source, k, "latency_source", OF_SIDE, err);

	rc = rc ?: changes_read(&us, k, "latency_us", OF_SIDE, err);
	for (size_t i = 0; i < LATENCIES && source.n && !rc; i++) {
		row = changes_find(&us, latency_name(i), NO_CPU);
		if (row)
			latency_put_row(k, source.row[0].name, row->name,
					changes_estimate(&us, row, AS_COUNT));
	}
	return rc;
}

/* Adds where the wall time of a request goes. The longest part, the wall time, comes first. */
static int latency_put_parts(struct block_table *k, struct error *err)
{
	freed(block_runs_free) struct block_runs b = {.block = k->b->block};
	struct block_table own = *k;
	freed(changes_free) struct changes c = {0};
	autofree struct change_rate *ranked = NULL;
	double wall = NAN;
	int rc = b.n = scope_runs(k->s, k->q, &b.block, FOR_WAITS, &b.runs, err);

	own.b = &b;
	if (rc > 0)
		rc = changes_read(&c, &own, "waits_account_ns", OF_SIDE, err);
	if (c.n) {
		waits_complete(&c, k->s, "rate_messages");
		ranked = changes_rank(&c);
	}
	for (size_t i = 0; i < c.n && !rc; i++) {
		struct estimate e = changes_estimate(&c, ranked[i].row, AS_PER_MIB);

		wall = i ? wall : e.value;
		e = estimate_times(e, 1e-3);
		if (e.n)
			table_set(k->t, latency_put_row(k, "waits", ranked[i].row->name, e),
				  "share_pct", value_real(1e5 * e.value / wall));
	}
	return rc < 0 ? rc : 0;
}

static int latency_put_block(struct block_table *k, struct error *err)
{
	int rc = latency_put_percentiles(k, err) ?: latency_put_parts(k, err);

	return rc ?: passes_note_conditions(k->s, k->q, &k->b->block, TRACE_PASS, k->t, err);
}

static void latency_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		note_add(
			&k->t->notes, table_not_measured,
			scope_slice_absent(k->s, "waits")
				?: scope_slice_absent(k->s, "latency")
				?: "no workload reports percentiles (wrk --latency, ab, sockperf, netperf, neper -p, tcpzc --rr), and no run of the trace pass counts messages");
	else
		note_add(
			&k->t->notes, table_how,
			"percentiles are the workload's own, over its whole run; rows of waits are the time of all its threads in the window / requests in it");
}

const struct measure measure_latency = {
	.name = "latency",
	.what = "how long requests took, and where the wall time of a request went",
	MEASURE_COLUMNS(latency_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.spare = "runs",
	.collectors = "waits workload",
	.block = latency_put_block,
	.notes = latency_add_notes,
};
