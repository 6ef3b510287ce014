// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency: how long requests took, as the workload reports it, and where the wall time of a request
 * went, as the runs of the trace pass show it.
 */
#include "analyze/scope/scope.h"
#include "analyze/scope/work.h"

#include <math.h>

static const struct column latency_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
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
	struct metric_keys source = {0};
	int rc = metric_keys_add(&source, k->s, k->b, "latency_source", OF_SIDE, err);

	for (size_t i = 0; i < LATENCIES && source.n && !rc; i++) {
		const struct metric_key key = {"latency_us", latency_name(i), NO_CPU};
		struct estimate e = block_estimate(k, figure_metric_of, &key);

		if (e.n)
			latency_put_row(k, source.m[0].key.object, latency_name(i), e);
	}
	free(source.m);
	return rc;
}

/* --- where the wall time of a request goes --- */

static double latency_part(struct store *s, const struct run *r, const void *part)
{
	double x = run_metric(s, r, "waits_account_ns", part, NO_CPU);

	/* A run that followed the threads and has no such part spent nothing in it. */
	return (isnan(x) ? 0 : x) / 1e3 / work_in_window(s, r, "rate_messages");
}

struct latency_parts {
	struct block_table *k;
	struct run *runs;
	int n;
	struct latency_row {
		const char *part;
		struct estimate e;
	} * row;
	size_t rows, cap;
};

/* The longest part comes first: that is the wall time. */
static int latency_compare(const void *a, const void *b)
{
	const struct latency_row *x = a, *y = b;

	return (x->e.value < y->e.value) - (x->e.value > y->e.value);
}

static int latency_read_parts(struct latency_parts *p, struct metric_keys *keys, struct error *err)
{
	const struct block_runs b = {.block = p->k->b->block, .runs = p->runs, .n = p->n};
	int rc = metric_keys_add(keys, p->k->s, &b, "waits_account_ns", OF_SIDE, err);

	for (size_t i = 0; i < keys->n && !rc; i++) {
		struct latency_row row = {.part = keys->m[i].key.object};

		row.e = scope_estimate(p->k->s, p->runs, p->n, p->k->list.estimator, latency_part,
				       row.part);
		if (row.e.n)
			array_add(p->row, p->rows, p->cap, row);
	}
	if (p->rows)
		qsort(p->row, p->rows, sizeof(*p->row), latency_compare);
	return rc;
}

static int latency_put_block(struct block_table *k, struct error *err)
{
	struct latency_parts p = {.k = k};
	struct metric_keys keys = {0};
	int rc = latency_put_percentiles(k, err);

	if (!rc)
		rc = p.n = scope_runs(k->s, k->q, &k->b->block, FOR_WAITS, &p.runs, err);
	if (rc > 0)
		rc = latency_read_parts(&p, &keys, err);
	for (size_t i = 0; i < p.rows; i++)
		table_set(k->t, latency_put_row(k, "waits", p.row[i].part, p.row[i].e), "share_pct",
			  value_real(100 * p.row[i].e.value / p.row[0].e.value));
	free(p.row);
	free(p.runs);
	free(keys.m);
	return rc < 0 ? rc : 0;
}

static void latency_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		note_add(
			&k->t->notes, table_not_measured,
			"no workload reports percentiles (wrk --latency, ab, sockperf, netperf, neper -p, tcpzc --rr), and no run of the trace pass counts messages");
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
