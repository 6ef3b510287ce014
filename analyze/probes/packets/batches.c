// SPDX-License-Identifier: GPL-2.0-only
/* batches: how much is handled at once: by the softirq, the protocols, a call, after a wake-up. */
#include "analyze/scope/changes.h"
#include "analyze/scope/runs.h"
#include "analyze/scope/work.h"

#include <math.h>

static const struct column batches_columns[] = {
	SIDE_COLUMNS,
	{"batch", .type = V_STR,
	 .what = "poll (of NAPI, on the side's CPUs), receive and transmit (a packet as the stack handles it, maybe an aggregate), syscall and wake_up (of the workload)"},
	{"interface", .type = V_STR,
	 .what = "with its network namespace; none: the queue of a CPU (RPS, loopback, veth)"},
	{"per_s", "1/s", V_REAL, .digits = 1},
	{"per_mib", "1/MiB", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "batches per MiB of the workload's bytes; estimate over the runs"},
	{"segments", .type = V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .what = "in a batch: packets of the wire; of a poll, packets as the driver counts them"},
	{"bytes", "B", V_REAL, .what = "in a batch; of syscall and wake_up, the workload's bytes"},
	{"full_pct", "%", V_REAL, .digits = 2, .what = "polls that used up their budget"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* A figure: the ratio of two amounts of a run. An amount is a metric, or one of those below. */
struct batch_ratio {
	const char *amount, *of, *object;
};

#define THE_CALLS "calls"
#define THE_BYTES "bytes"

static double batch_amount(struct store *s, const struct run *r, const char *name,
			   const char *object)
{
	if (!strcmp(name, THE_CALLS))
		return calls_of_run(s, r);
	if (!strcmp(name, THE_BYTES))
		return 1024 * work_in_window(s, r, "rate_kib");
	return run_metric(s, r, name, strcmp(name, "seconds") ? object : NULL, NO_CPU);
}

static double batch_ratio_of(struct store *s, const struct run *r, const void *arg)
{
	const struct batch_ratio *f = arg;
	double x = batch_amount(s, r, f->amount, f->object) / batch_amount(s, r, f->of, f->object);

	return isfinite(x) ? x : NAN;
}

/* Adds a row from the runs of `b`. `count`: the amount that has the number of batches. */
static void batches_put_row(struct block_table *k, const struct block_runs *b, const char *batch,
			    const char *interface, const char *count, const char *object)
{
	const struct {
		const char *column;
		struct batch_ratio ratio;
		double factor;
	} figures[] = {
		{"per_s", {count, "seconds", object}, 1},
		{"per_mib", {count, THE_BYTES, object}, 1024 * PER_MIB},
		{"segments", {"batch_segments", count, object}, 1},
		{"bytes", {object ? "batch_bytes" : THE_BYTES, count, object}, 1},
		{"full_pct", {"batch_full", count, object}, 100},
	};
	struct value *row = NULL;

	for (size_t i = 0; i < array_size(figures); i++) {
		struct estimate e = scope_estimate(k->s, b->runs, b->n, k->list.estimator,
						   batch_ratio_of, &figures[i].ratio);
		double f = figures[i].factor;

		if (!e.n)
			continue;
		if (!row) {
			row = block_row(k->t, &k->b->block);
			table_set(k->t, row, "batch", value_str(k->t, batch));
			table_set(k->t, row, "interface", value_str(k->t, interface));
			table_set(k->t, row, "runs", value_int((int64_t)e.n));
		}
		e = estimate_times(e, f);
		if (!strcmp(figures[i].column,
			    "bytes")) /* its interval would repeat that of per_mib */
			table_set(k->t, row, "bytes", value_real(e.value));
		else
			put_estimate(k->t, row, figures[i].column, &e);
	}
}

static int batches_put_block(struct block_table *k, struct error *err)
{
	freed(block_runs_free) struct block_runs counted;
	freed(metric_keys_free) struct metric_keys keys = {0};
	int rc = block_every_pass(k->s, k->q, &k->b->block, &counted, err);

	if (!rc)
		rc = metric_keys_add(&keys, k->s, &counted, "batches", OF_SIDE, err);
	for (size_t i = 0; i < keys.n && rc >= 0; i++) {
		const char *object = keys.m[i].key.object, *interface = strchr(object, ' ');
		autofree char *batch = xstrndup(object, strcspn(object, " "));

		batches_put_row(k, &counted, batch, interface ? interface + 1 : NULL, "batches",
				object);
	}
	if (rc >= 0) {
		batches_put_row(k, &counted, "syscall", NULL, THE_CALLS, NULL);
		batches_put_row(k, k->b, "wake_up", NULL, "sched_voluntary", NULL);
	}
	return rc < 0 ? rc
		      : passes_note_conditions(k->s, k->q, &k->b->block, SYSCALLS_PASS, k->t, err);
}

const struct measure measure_batches = {
	.name = "batches",
	.what = "how much is handled at once: polls, aggregates, system calls, wake-ups",
	MEASURE_COLUMNS(batches_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS},
	.whole = "polls and interfaces serve all programs",
	.spare = "runs per_s full_pct",
	.collectors = "batches syscalls sched workload",
	.block = batches_put_block,
	.how = "interfaces, polls and calls are counted in the runs of the syscalls pass, wake-ups in those of the measure pass",
};
