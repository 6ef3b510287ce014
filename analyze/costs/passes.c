// SPDX-License-Identifier: GPL-2.0-only
/*
 * passes: the throughput of the workload in each pass, and what the instruments take of it. Below
 * the row of a pass stand its collectors.
 */
#include "analyze/costs/components.h"
#include "analyze/costs/costs.h"
#include "analyze/scope/placement.h"
#include "analyze/scope/runs.h"

#include <math.h>

static const struct column passes_columns[] = {
	SIDE_COLUMNS,
	{"pass", .type = V_STR, .what = "measure, profile, syscalls, trace; all: of zcost collect"},
	{"collector", .type = V_STR, .what = "its own cost; none: the pass as a whole"},
	{"runs", .type = V_INT},
	{"cpu_pct", "%", V_REAL, .digits = 1,
	 .what = "CPU use of the side, or of the collector; 100 = one CPU"},
	{"busy_pct", "%", V_REAL, .digits = 2,
	 .what = "of a collector: its CPU use / that of all sides on its host"},
	{"per_s", "1/s", V_REAL, .what = "of a collector: readings, or runs of its BPF programs"},
	{"us_each", "us", V_REAL, .digits = 3, .what = "CPU time of one of them"},
	{"measured", .type = V_STR,
	 .what = "readings (CPU time of zcost collect inside the window) or programs (the kernel's account of their runs, on for a hundredth of the window)"},
	{"throughput_gbps", "Gbit/s", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .stem = "throughput", .what = "estimate over the runs"},
	{"cost_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "cost",
	 .what = "loss of throughput, or of units of work a second, against the measure pass; negative if the pass was faster"},
	{"own_cpu_pct", "%", V_REAL, .digits = 3, .what = "CPU use of zcost collect, without perf"},
	{"tracing_pct", "%", V_REAL, .digits = 1,
	 .what = "share of the profile below functions that measure: perf, tracepoints, BPF programs of zcost"},
};

static struct estimate passes_estimate(const struct block_table *k, const struct pass_runs *p,
				       figure_fn figure, const void *arg)
{
	return scope_estimate(k->s, p->runs, p->n, k->list.estimator, figure, arg);
}

/* `collector` may be NULL. */
static struct value *passes_add_row(const struct block_table *k, int pass, const char *collector,
				    size_t runs, double cpu_pct)
{
	struct value *row = block_row(k->t, &k->b->block);

	table_set(k->t, row, "pass", value_str(k->t, stored_passes[pass]));
	table_set(k->t, row, "collector", value_str(k->t, collector));
	table_set(k->t, row, "runs", value_int((int64_t)runs));
	table_set(k->t, row, "cpu_pct", value_real(cpu_pct));
	return row;
}

static struct value *passes_put_pass(const struct block_table *k, int pass,
				     const struct pass_runs all[PASSES])
{
	const struct pass_runs *p = &all[pass];
	struct estimate e = passes_estimate(k, p, figure_metric, "cpu_pct");
	struct value *row = passes_add_row(k, pass, NULL, (size_t)p->n, e.value);

	e = passes_estimate(k, p, figure_metric, "throughput");
	put_estimate(k->t, row, "throughput_gbps", &e);
	if (pass != MEASURE_PASS && all[MEASURE_PASS].nx && p->nx) {
		e = pass_cost(k->list.estimator, &all[MEASURE_PASS], p);
		table_set(k->t, row, "cost_pct", value_estimate(k->t, e.value, e.lo, e.hi));
	}
	e = passes_estimate(k, p, figure_metric, "own_cpu_pct");
	table_set(k->t, row, "own_cpu_pct", value_real(e.value));
	return row;
}

enum { MOST_SIDES = 64 };

/* Returns the busy time of all sides on the run's host, in percent of one CPU. */
static double passes_busy_of_host(struct store *s, const struct run *r)
{
	struct run_filter f = {r->variant, r->pass, NULL, r->repeat, false};
	const struct run *sides[MOST_SIDES];
	autofree struct run *runs = NULL;
	int n = store_runs(s, &f, &runs, NULL), here = 0;
	double sum = 0;

	for (int i = 0; i < n && here < MOST_SIDES; i++)
		if (placement_is_one_host(r, &runs[i]))
			sides[here++] = &runs[i];
	for (int i = 0; i < here; i++)
		sum += cpu_pct_unshared(s, sides, i);
	return sum;
}

/* What a collector does, and the metrics of it. */
static const struct {
	const char *what, *cpu_pct, *per_s;
} passes_work[] = {
	{"programs", "program_cpu_pct", "program_runs_per_s"},
	{"readings", "reading_cpu_pct", "readings_per_s"},
};

static double passes_busy_share(struct store *s, const struct run *r, const void *key)
{
	const struct metric_key *k = key;

	return 100 * run_metric(s, r, k->name, k->object, NO_CPU) / passes_busy_of_host(s, r);
}

/* `w`: the collector's work in passes_work. A collector that takes little has a row with --all. */
static void passes_put_collector(const struct block_table *k, const struct pass_runs *p, int pass,
				 const char *collector, size_t w)
{
	const struct metric_key cpu_pct = {passes_work[w].cpu_pct, collector, NO_CPU},
				per_s = {passes_work[w].per_s, collector, NO_CPU};
	struct estimate cpu = passes_estimate(k, p, figure_metric_of, &cpu_pct), e;
	struct table *t = k->t;
	struct value *row;

	if (cpu.value < 0.1 && !k->q->all)
		return;
	row = passes_add_row(k, pass, collector, cpu.n, cpu.value);
	e = passes_estimate(k, p, passes_busy_share, &cpu_pct);
	table_set(t, row, "busy_pct", value_real(e.value));
	e = passes_estimate(k, p, figure_metric_of, &per_s);
	table_set(t, row, "per_s", value_real(e.value));
	table_set(t, row, "us_each", value_real(1e4 * cpu.value / e.value));
	table_set(t, row, "measured", value_str(t, passes_work[w].what));
}

static int passes_put_collectors(const struct block_table *k, const struct pass_runs *p, int pass,
				 struct error *err)
{
	const struct block_runs b = {k->b->block, p->runs, p->n};
	int rc = 0;

	for (size_t w = 0; w < array_size(passes_work) && !rc; w++) {
		freed(metric_keys_free) struct metric_keys keys = {0};

		rc = metric_keys_add(&keys, k->s, &b, passes_work[w].cpu_pct, OF_SIDE, err);
		for (size_t i = 0; i < keys.n && !rc; i++)
			passes_put_collector(k, p, pass, keys.m[i].key.object, w);
	}
	return rc;
}

/* Adds the share of the samples below a function that measures, to the row of the profile pass. */
static int passes_put_tracing(struct block_table *k, struct value *row, struct error *err)
{
	struct tally_spec spec = {.keys = {BY_COMPONENT}, .nkeys = 1, .totals = true};
	struct components *rules = NULL;
	freed(cost_part_free) struct cost_part part = {0};
	double share = NAN;
	int rc = components_keep(&rules, k->s, NULL, "fine", err);

	spec.components = rules;
	rc = rc ?: cost_part_read(k->s, k->q, &k->b->block, &spec, &part, err);
	if (!rc && part.tally.samples)
		share = 0;
	for (size_t i = 0; !rc && i < part.tally.n; i++)
		if (!strcmp(part.tally.rows[i].key[0], "tracing"))
			share = cost_total(&part, &part.tally.rows[i]).share;
	table_set(k->t, row, "tracing_pct", value_real(100 * share));
	components_free(rules);
	return rc;
}

static int passes_put_block(struct block_table *k, struct error *err)
{
	const struct block *b = &k->b->block;
	struct pass_runs all[PASSES] = {0};
	int rate = 0, rc = 0;

	for (int i = 0; i < PASSES && !rc; i++)
		rc = passes_read_pass(k->s, k->q, b, i, &rate, &all[i], err);
	for (int i = 0; i < PASSES && !rc; i++)
		if (all[i].n) {
			struct value *row = passes_put_pass(k, i, all);

			if (i == PROFILE_PASS || i == ALL_PASS)
				rc = passes_put_tracing(k, row, err);
			rc = rc ?: passes_put_collectors(k, &all[i], i, err);
		}
	for (int i = 0; i < PASSES; i++)
		pass_runs_free(&all[i]);
	return rc ? rc : passes_note_conditions(k->s, k->q, b, PROFILE_PASS, k->t, err);
}

const struct measure measure_passes = {
	.name = "passes",
	.what = "throughput that the instruments of each pass cost",
	MEASURE_COLUMNS(passes_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "all"},
	.whole = "only the measure pass has the CPU time of the workload's processes",
	.spare = "us_each measured own_cpu_pct",
	.flags = MEASURE_UNTITLED,
	.block = passes_put_block,
};
