// SPDX-License-Identifier: GPL-2.0-only
/*
 * scores: what a byte cost, a row for each figure, made for each run and estimated over the runs.
 * One whose inputs are missing is absent, and a note says which input and how to get it.
 */
#include "analyze/measures/tables.h"

#include "analyze/measures/block_table.h"
#include "analyze/measures/calls.h"
#include "analyze/measures/power.h"
#include "analyze/measures/zero_copy.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct column scores_columns[9] = {
	{"variant", NULL, V_STR, 0, NULL},
	{"side", NULL, V_STR, 0, NULL},
	{"score", NULL, V_STR, 0, NULL},
	{"value", NULL, V_REAL, 3, "estimate over the runs"},
	{"value_lo", NULL, V_REAL, 3, "its interval"},
	{"value_hi", NULL, V_REAL, 3, NULL},
	{"unit", NULL, V_STR, 0, NULL},
	{"better", NULL, V_STR, 0, "lower or higher"},
	{"runs", NULL, V_INT, 0, "runs that have it"},
};

/* What a figure is made for. */
struct context_of_score {
	const struct score *score;
	const struct query *q;
	enum power_source source; /* the weakest of those used */
	const char *kind;	  /* of power; NULL: none used, or a model's */
};

struct score {
	const char *name, *unit, *better;
	figure_fn figure; /* NULL: scale x over / under */
	const char *over, *under;
	double scale;
	enum purpose purpose; /* which runs it comes from */
	const char *absent;   /* why it may be, and the way out */
};

static double ratio(struct store *s, const struct run *r, const void *arg)
{
	const struct score *k = ((const struct context_of_score *)arg)->score;

	return k->scale * figure_metric(s, r, k->over) / figure_metric(s, r, k->under);
}

/* Joules per 10^9 bytes: watts x seconds / bytes. A model counts as a source, and is said. */
static double joules(struct store *s, const struct run *r, const void *arg)
{
	struct context_of_score *c = (struct context_of_score *)arg;
	struct power p = power_of(s, c->q, &r, 1);

	if (p.source > c->source) {
		c->source = p.source;
		c->kind = p.kind;
	}
	return p.watts * figure_metric(s, r, "seconds") * 1e9 / figure_metric(s, r, "bytes");
}

/* All calls of the run's own processes / MiB of work in its window. */
static double syscalls_per_mib(struct store *s, const struct run *r, const void *arg)
{
	(void)arg;
	return calls_of_run(s, r) * 1048576 / figure_metric(s, r, "bytes");
}

#define NO_WORK "the workload gave no account of its bytes (zcost capture --units)"
#define NO_COUNTERS \
	"these events were not counted (collector 'counters'; a virtual machine may have no PMU)"

/* THE TABLE of scores. */
static const struct score scores[] = {
	{"ns_per_kib", "ns/KiB", "lower", NULL, "cpu_pct", "rate_kib", 1e7, FOR_FIGURES,
	 "it needs CPU time and " NO_WORK},
	{"cycles_per_byte", "1/B", "lower", NULL, "counter:cycles", "bytes", 1, FOR_FIGURES,
	 NO_COUNTERS},
	{"instructions_per_byte", "1/B", "lower", NULL, "counter:instructions", "bytes", 1,
	 FOR_FIGURES, NO_COUNTERS},
	{"ipc", "1/cycle", "higher", NULL, "counter:instructions", "counter:cycles", 1, FOR_FIGURES,
	 NO_COUNTERS},
	{"cache_miss_pct", "%", "lower", NULL, "counter:cache-misses", "counter:cache-references",
	 100, FOR_FIGURES, NO_COUNTERS},
	{"branch_miss_pct", "%", "lower", NULL, "counter:branch-misses", "counter:branches", 100,
	 FOR_FIGURES, NO_COUNTERS},
	{"context_switches_per_mib", "1/MiB", "lower", NULL, "counter:context-switches", "bytes",
	 1048576, FOR_FIGURES, NO_COUNTERS},
	{"j_per_gb", "J/GB", "lower", joules, NULL, NULL, 1, FOR_FIGURES,
	 "no power source: 'zcost analyze --power-csv' imports a meter's, --power-model makes one "
	 "up"},
	{"syscalls_per_mib", "1/MiB", "lower", syscalls_per_mib, NULL, NULL, 1, FOR_SYSCALLS,
	 "no run of the pass 'syscalls' with its bytes"},
};

static void put(struct table *t, const struct block *b, const struct score *k,
		const struct estimate *e, const struct context_of_score *c)
{
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, b->variant));
	table_set(t, row, "side", value_str(t, b->side));
	table_set(t, row, "score", value_str(t, k->name));
	table_set(t, row, "unit", value_str(t, k->unit));
	table_set(t, row, "better", value_str(t, k->better));
	table_set(t, row, "runs", value_int((int64_t)e->n));
	put_estimate(t, row, "value", "value", e);
	if (c->kind)
		table_note(t, "%s %s: %s is of %s power", b->variant, b->side, k->name, c->kind);
	if (c->source == POWER_MODELLED)
		table_note(t, "%s %s: %s comes from a MODEL of power, not from a meter", b->variant,
			   b->side, k->name);
}

/* Adds the score's row, or the block's name to `missing`. */
static int put_score(struct store *s, const struct query *q, const struct block *b,
		     const struct score *k, enum estimator est, struct str *missing,
		     struct table *t, struct error *err)
{
	struct context_of_score c = {.score = k, .q = q};
	struct estimate e;
	struct run *runs;
	int n = scope_runs(s, q, b, k->purpose, &runs, err);

	if (n < 0)
		return n;
	e = scope_estimate(s, runs, n, est, k->figure ? k->figure : ratio, &c);
	free(runs);
	if (e.n)
		put(t, b, k, &e, &c);
	else
		str_printf(missing, "%s%s %s", missing->len ? ", " : "", b->variant, b->side);
	return 0;
}

static int put_scores(struct store *s, const struct query *q, const struct block_list *list,
		      const struct score *k, struct table *t, struct error *err)
{
	struct str missing = {0};
	size_t before = t->rows;
	int rc = 0, i;

	for (i = 0; i < list->n && !rc; i++)
		rc = put_score(s, q, &list->blocks[i].block, k, list->estimator, &missing, t, err);
	if (!rc && missing.len && t->rows == before)
		table_note(t, "%s is absent: %s", k->name, k->absent);
	else if (!rc && missing.len)
		table_note(t, "%s is absent for %s: %s", k->name, missing.buf, k->absent);
	str_free(&missing);
	return rc;
}

int scores_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err);
	size_t i;

	if (!rc)
		zero_copy_title(s, q, t);
	for (i = 0; i < array_size(scores) && !rc; i++)
		rc = put_scores(s, q, &list, &scores[i], t, err);
	if (!rc)
		block_list_notes(&list, s, t);
	block_list_free(&list);
	return rc;
}
