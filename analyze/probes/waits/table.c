// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits: the wall time of the workload's threads. They run in user mode, in the kernel, or under an
 * interrupt. They wait on the run queue for a CPU, or they are blocked until something wakes them.
 */
#include "analyze/scope/scope.h"
#include "analyze/scope/work.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 25 };

static const struct column waits_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"comm", .type = V_STR, .what = "command; the threads of one name add up"},
	{"state", .type = V_STR,
	 .what = "user, kernel, softirq, hardirq (on a CPU), run queue (runnable, without a CPU) or blocked"},
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

/* A figure of a run: a metric, divided by another one, or by the work at a rate in the window. */
struct wait_ratio {
	const char *metric, *object;
	const char *of, *of_object; /* if there is another one */
	const char *rate;	    /* if it is by the work */
};

/* A run that measured waits and has none of this object spent nothing in it. */
static double wait_amount(struct store *s, const struct run *r, const char *metric,
			  const char *object)
{
	double x = run_metric(s, r, metric, object, NO_CPU);

	return isnan(x) && !strcmp(metric, "waits_ns") ? 0 : x;
}

static double wait_ratio_of(struct store *s, const struct run *r, const void *arg)
{
	const struct wait_ratio *f = arg;
	double x = wait_amount(s, r, f->metric, f->object);

	if (f->rate)
		x /= work_in_window(s, r, f->rate);
	if (f->of)
		x /= wait_amount(s, r, f->of, f->of_object);
	return isfinite(x) ? x : NAN;
}

/* One row, and the runs that it is made from. */
struct wait_row {
	char *object;	     /* owned */
	const char *part[4]; /* parts of it: comm, state, by, waker; "" */
	char *parts;	     /* owned */
	double ns;
};

struct wait_rows {
	struct block_table *k;
	struct run *runs;
	int n;
	const char *rate;
	struct wait_row *row;
	size_t rows, cap;
	double sum, wall;
};

static void wait_rows_free(struct wait_rows *w)
{
	for (size_t i = 0; i < w->rows; i++) {
		free(w->row[i].object);
		free(w->row[i].parts);
	}
	free(w->row);
	free(w->runs);
}

static struct estimate wait_estimate(const struct wait_rows *w, const struct wait_ratio *f)
{
	return scope_estimate(w->k->s, w->runs, w->n, w->k->list.estimator, wait_ratio_of, f);
}

static void waits_add_row(struct wait_rows *w, const char *object)
{
	struct wait_row row = {.object = xstrdup(object), .parts = xstrdup(object)};
	struct wait_ratio total = {"waits_ns", row.object, NULL, NULL, NULL};
	char *rest = row.parts;

	for (size_t i = 0; i < array_size(row.part); i++)
		row.part[i] = rest ? str_token(&rest, ';') : "";
	row.ns = wait_estimate(w, &total).value;
	array_add(w->row, w->rows, w->cap, row);
}

static int waits_read(struct wait_rows *w, struct error *err)
{
	const struct block_runs b = {.block = w->k->b->block, .runs = w->runs, .n = w->n};
	struct metric_keys keys = {0};
	int rc = metric_keys_add(&keys, w->k->s, &b, "waits_ns", OF_SIDE, err);

	for (size_t i = 0; i < keys.n && !rc; i++)
		waits_add_row(w, keys.m[i].key.object);
	free(keys.m);
	return rc;
}

/* By command; the longest time of a command comes first. */
static int waits_compare(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;
	int rc = strcmp(x->part[0], y->part[0]);

	return rc ? rc : (x->ns < y->ns) - (x->ns > y->ns);
}

static void waits_put_row(const struct wait_rows *w, const struct wait_row *r)
{
	static const char *const keys[] = {"comm", "state", "by", "waker"};
	struct value *cells = block_row(w->k->t, &w->k->b->block);
	autofree char *wall = xasprintf("%s;wall", r->part[0]);
	const struct {
		const char *column;
		struct wait_ratio ratio;
		double factor;
		bool interval;
	} figures[] = {
		{"count", {"waits", r->object, NULL, NULL, NULL}, 1, false},
		{"total_ms", {"waits_ns", r->object, NULL, NULL, NULL}, 1e-6, true},
		{"wall_pct", {"waits_ns", r->object, "waits_ns", wall, NULL}, 100, false},
		{"mean_us", {"waits_ns", r->object, "waits", r->object, NULL}, 1e-3, false},
		{"p50_us", {"waits_p50_ns", r->object, NULL, NULL, NULL}, 1e-3, false},
		{"p99_us", {"waits_p99_ns", r->object, NULL, NULL, NULL}, 1e-3, false},
		{"ns_per_unit", {"waits_ns", r->object, NULL, NULL, w->rate}, 1, true},
	};

	for (size_t i = 0; i < array_size(keys); i++)
		if (*r->part[i])
			table_set(w->k->t, cells, keys[i], value_str(w->k->t, r->part[i]));
	for (size_t i = 0; i < array_size(figures) - !w->rate; i++) {
		struct estimate e = wait_estimate(w, &figures[i].ratio);
		double f = figures[i].factor;

		if (!e.n)
			continue;
		e.value *= f;
		e.lo *= f;
		e.hi *= f;
		if (figures[i].interval)
			put_estimate(w->k->t, cells, figures[i].column, &e);
		else
			table_set(w->k->t, cells, figures[i].column, value_real(e.value));
		table_set(w->k->t, cells, "runs", value_int((int64_t)e.n));
	}
}

static void waits_put_rows(struct wait_rows *w)
{
	size_t limit = query_limit(w->k->q, LIMIT), shown = 0, all = 0;

	if (w->rows)
		qsort(w->row, w->rows, sizeof(*w->row), waits_compare);
	for (size_t i = 0; i < w->rows; i++) {
		const struct wait_row *r = &w->row[i];
		bool wall = !strcmp(r->part[1], "wall");

		if (!str_matches(w->k->q->comm, r->part[0]))
			continue;
		*(wall ? &w->wall : &w->sum) += r->ns;
		if (wall || all++ >= limit)
			continue;
		waits_put_row(w, r);
		shown++;
	}
	if (shown < all)
		note_add_block(&w->k->t->notes, &w->k->b->block, rows_shown, shown, all);
}

static int waits_put_block(struct block_table *k, struct error *err)
{
	struct wait_rows w = {.k = k};
	const char *unit;
	int rc = w.n = scope_runs(k->s, k->q, &k->b->block, FOR_WAITS, &w.runs, err);

	if (rc > 0) {
		unit = k->q->unit ?: work_unit(k->s, w.runs, w.n);
		w.rate = unit ? work_rate_metric(unit) : NULL;
		rc = waits_read(&w, err);
		if (!rc)
			waits_put_rows(&w);
		if (!rc && w.wall > 0)
			note_add_block(
				&k->t->notes, &k->b->block, table_how,
				arena_printf(
					&k->t->arena,
					"the rows are %.2f %% of the threads' wall time, %.3f s; the unit of work is %s",
					100 * w.sum / w.wall, w.wall / 1e9, unit ?: "not known"));
	}
	wait_rows_free(&w);
	return rc < 0 ? rc : 0;
}

static void waits_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		note_add(
			&k->t->notes, table_not_measured,
			"no run followed the threads: the pass 'trace' does, with the collector 'waits'");
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
