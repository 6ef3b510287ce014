// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits: the wall time of the workload's threads. They run in user mode, in the kernel, or under an
 * interrupt. They wait on the run queue for a CPU, or they are blocked until something wakes them.
 */
#include "analyze/probes/waits/waits.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/runs.h"
#include "analyze/scope/work.h"

enum { LIMIT = 25 };

static const struct column waits_columns[] = {
	SIDE_COLUMNS,
	{"comm", .type = V_STR, .what = "command; the threads of one name add up"},
	{"state", .type = V_STR,
	 .what = "user, kernel, softirq, hardirq (on a CPU), running (undivided time on a CPU), run queue (runnable, without a CPU) or blocked"},
	{"by", .type = V_STR,
	 .what = "vector of an interrupt; woken, preempted or new (its first wait); of a blocked thread the system call it waits in"},
	{"waker", .type = V_STR,
	 .what = "what ended the wait: a softirq, a hard interrupt, a thread of the workload or another one; of a preempted thread, the one that took the CPU"},
	{"count", .type = V_REAL, .what = "waits that ended in the window"},
	{"total_ms", "ms", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "sum over the threads; estimate over the runs"},
	{"wall_pct", "%", V_REAL, .digits = 2, .what = "of the wall time of the command's threads"},
	{"mean_us", "us", V_REAL, .digits = 2, .what = "total / count"},
	{"p50_us", "us", V_REAL, .digits = 2, .what = "median of the waits, to 6 %"},
	{"p99_us", "us", V_REAL, .digits = 2},
	{"ns_per_unit", "ns", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "total / work in the window"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* The metrics of a row, and the parts of their object. */
enum { WAIT_NS, WAIT_COUNT, WAIT_P50, WAIT_P99, WAIT_METRICS };
enum { WAIT_COMM, WAIT_STATE, WAIT_BY, WAIT_WAKER, WAIT_PARTS };
static const char *const wait_metrics[WAIT_METRICS] = {"waits_ns", "waits", "waits_p50_ns",
						       "waits_p99_ns"};
static const char *const wait_parts[WAIT_PARTS] = {"comm", "state", "by", "waker"};

void waits_complete(struct changes *c, struct store *s, const char *rate)
{
	for (int r = 0; r < c->b->n; r++) {
		c->mib[r] = rate ? work_in_window(s, &c->b->runs[r], rate) : NAN;
		for (size_t i = 0; i < c->n; i++)
			c->row[i].x[r] = isnan(c->row[i].x[r]) ? 0 : c->row[i].x[r];
	}
}

static double waits_of(const struct changes *c, const char *name)
{
	const struct change_row *row = changes_find(c, name, NO_CPU);

	return row ? changes_estimate(c, row, AS_COUNT).value : NAN;
}

static void waits_put(struct table *t, struct value *row, const char *column, struct estimate e,
		      double factor)
{
	e = estimate_times(e, factor);
	put_estimate(t, row, column, &e);
}

static void waits_put_row(const struct block_table *k, const struct changes c[WAIT_METRICS],
			  const struct change_row *r, char *parts)
{
	struct table *t = k->t;
	struct value *row = block_row(t, &k->b->block);
	struct estimate ns = changes_estimate(&c[WAIT_NS], r, AS_COUNT);
	autofree char *wall = NULL;

	for (size_t i = 0; i < WAIT_PARTS && parts; i++) {
		const char *part = str_token(&parts, ';');

		wall = wall ?: xasprintf("%s;wall", part);
		if (*part)
			table_set(t, row, wait_parts[i], value_str(t, part));
	}
	table_set(t, row, "count", value_real(waits_of(&c[WAIT_COUNT], r->name)));
	waits_put(t, row, "total_ms", ns, 1e-6);
	table_set(t, row, "wall_pct", value_real(100 * ns.value / waits_of(&c[WAIT_NS], wall)));
	table_set(t, row, "mean_us",
		  value_real(ns.value / waits_of(&c[WAIT_COUNT], r->name) / 1e3));
	table_set(t, row, "p50_us", value_real(waits_of(&c[WAIT_P50], r->name) / 1e3));
	table_set(t, row, "p99_us", value_real(waits_of(&c[WAIT_P99], r->name) / 1e3));
	waits_put(t, row, "ns_per_unit", changes_estimate(&c[WAIT_NS], r, AS_PER_MIB), 1);
	table_set(t, row, "runs", value_int((int64_t)ns.n));
}

/* Adds the rows, the longest first, and how much of the wall time they are. */
static void waits_put_rows(const struct block_table *k, const struct changes c[WAIT_METRICS],
			   const char *unit)
{
	autofree struct change_rate *ranked = changes_rank(&c[WAIT_NS]);
	size_t limit = query_limit(k->q, LIMIT), shown = 0, all = 0;
	double wall = 0, sum = 0;

	for (size_t i = 0; i < c[WAIT_NS].n; i++) {
		const struct change_row *r = ranked[i].row;
		autofree char *parts = xstrdup(r->name);
		autofree char *comm = xstrndup(parts, strcspn(parts, ";"));
		bool is_wall = str_ends(parts, ";wall");

		if (!str_matches(k->q->comm, comm))
			continue;
		*(is_wall ? &wall : &sum) += waits_of(&c[WAIT_NS], r->name);
		if (is_wall || all++ >= limit)
			continue;
		waits_put_row(k, c, r, parts);
		shown++;
	}
	if (shown < all)
		note_add_block(&k->t->notes, &k->b->block, rows_shown, shown, all);
	if (wall > 0)
		note_add_block(
			&k->t->notes, &k->b->block, table_how,
			arena_printf(
				&k->t->arena,
				"the rows are %.2f %% of the threads' wall time, %.3f s; the unit of work is %s",
				100 * sum / wall, wall / 1e9, unit ?: "not known"));
}

static int waits_put_block(struct block_table *k, struct error *err)
{
	struct changes c[WAIT_METRICS] = {0};
	freed(block_runs_free) struct block_runs b = {.block = k->b->block};
	struct block_table own = *k;
	const char *unit;
	int rc = b.n = scope_runs(k->s, k->q, &b.block, FOR_WAITS, &b.runs, err);

	own.b = &b;
	unit = rc > 0 ? k->q->unit ?: work_unit(k->s, b.runs, b.n) : NULL;
	for (size_t i = 0; i < WAIT_METRICS && rc >= 0; i++)
		rc = changes_read(&c[i], &own, wait_metrics[i], OF_SIDE, err);
	if (rc >= 0) {
		for (size_t i = 0; i <= WAIT_COUNT; i++)
			waits_complete(&c[i], k->s, unit ? work_rate_metric(unit) : NULL);
		waits_put_rows(&own, c, unit);
	}
	for (size_t i = 0; i < WAIT_METRICS; i++)
		changes_free(&c[i]);
	return rc < 0 ? rc : passes_note_conditions(k->s, k->q, &b.block, TRACE_PASS, k->t, err);
}

static void waits_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		note_add(
			&k->t->notes, table_not_measured,
			scope_slice_absent(k->s, "waits")
				?: "no run followed the threads: the pass 'trace' does, with the collector 'waits'");
}

const struct measure measure_waits = {
	.name = "waits",
	.what = "what the workload's threads do and wait for, as parts of their wall time",
	MEASURE_COLUMNS(waits_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "comm workload-only unit limit all"},
	.spare = "runs p50_us count mean_us total_ms p99_us",
	.collectors = "waits workload",
	.block = waits_put_block,
	.notes = waits_add_notes,
};
