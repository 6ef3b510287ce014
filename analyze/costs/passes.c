// SPDX-License-Identifier: GPL-2.0-only
/* passes: the throughput of the workload in each pass, and what the instruments take of it. */
#include "analyze/costs/components.h"
#include "analyze/costs/costs.h"
#include "analyze/scope/runs.h"

#include <math.h>
#include <string.h>

static const struct column passes_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"pass", .type = V_STR, .what = "measure, profile, syscalls"},
	{"runs", .type = V_INT},
	{"throughput_gbps", "Gbit/s", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .stem = "throughput", .what = "estimate over the runs"},
	{"cost_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "cost",
	 .what = "loss of throughput, or of units of work a second, against the measure pass; negative if the pass was faster"},
	{"cpu_pct", "%", V_REAL, .digits = 1, .what = "CPU use of the side, 100 = one CPU"},
	{"own_cpu_pct", "%", V_REAL, .digits = 3, .what = "CPU use of zcost collect, without perf"},
	{"tracing_pct", "%", V_REAL, .digits = 1,
	 .what = "share of the profile below functions that measure: perf, tracepoints, BPF programs of zcost"},
};

static struct value *passes_put_pass(struct store *s, const struct block *b, enum estimator e,
				     int pass, const struct pass_runs all[PASSES], struct table *t)
{
	struct value *row = block_row(t, b);
	struct estimate est =
		scope_estimate(s, all[pass].runs, all[pass].n, e, figure_metric, "throughput");

	table_set(t, row, "pass", value_str(t, stored_passes[pass]));
	table_set(t, row, "runs", value_int(all[pass].n));
	put_estimate(t, row, "throughput_gbps", &est);
	if (pass != MEASURE_PASS && all[MEASURE_PASS].nx && all[pass].nx) {
		struct estimate c = pass_cost(e, &all[MEASURE_PASS], &all[pass]);

		table_set(t, row, "cost_pct", value_estimate(t, c.value, c.lo, c.hi));
	}
	est = scope_estimate(s, all[pass].runs, all[pass].n, e, figure_metric, "cpu_pct");
	table_set(t, row, "cpu_pct", value_real(est.value));
	est = scope_estimate(s, all[pass].runs, all[pass].n, e, figure_metric, "own_cpu_pct");
	table_set(t, row, "own_cpu_pct", value_real(est.value));
	return row;
}

/* Adds the share of the samples below a function that measures, to the row of the profile pass. */
static int passes_put_tracing(struct block_table *k, struct value *row, struct error *err)
{
	struct tally_spec spec = {.keys = {BY_COMPONENT}, .nkeys = 1, .totals = true};
	struct components *rules = NULL;
	struct cost_part part = {0};
	double share = NAN;
	int rc = components_read(&rules, NULL, "fine", err);

	spec.components = rules;
	if (!rc)
		rc = cost_part_read(k->s, k->q, &k->b->block, &spec, &part, err);
	if (!rc && part.tally.samples)
		share = 0;
	for (size_t i = 0; !rc && i < part.tally.n; i++)
		if (!strcmp(part.tally.rows[i].key[0], "tracing"))
			share = cost_total(&part, &part.tally.rows[i]).share;
	table_set(k->t, row, "tracing_pct", value_real(100 * share));
	cost_part_free(&part);
	components_free(rules);
	return rc;
}

static int passes_put_block(struct block_table *k, struct error *err)
{
	const struct block *b = &k->b->block;
	struct pass_runs all[PASSES] = {0};
	int rate = 0, rc = 0;

	for (int i = 0; i < PASSES && !rc; i++)
		rc = passes_read_pass(k->s, b, i, &rate, &all[i], err);
	for (int i = 0; i < PASSES && !rc; i++)
		if (all[i].n) {
			struct value *row =
				passes_put_pass(k->s, b, k->list.estimator, i, all, k->t);

			if (i == PROFILE_PASS)
				rc = passes_put_tracing(k, row, err);
		}
	for (int i = 0; i < PASSES; i++)
		pass_runs_free(&all[i]);
	return rc;
}

const struct measure measure_passes = {
	.name = "passes",
	.what = "throughput that the instruments of each pass cost",
	MEASURE_COLUMNS(passes_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS},
	.whole = "only the measure pass has the CPU time of the workload's processes",
	.flags = MEASURE_UNTITLED,
	.block = passes_put_block,
};
