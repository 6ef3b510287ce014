// SPDX-License-Identifier: GPL-2.0-only
/* sizes: one row for each count and histogram of the workload, estimated over the runs. */
#include "analyze/scope/changes.h"
#include "analyze/scope/results.h"

#include <math.h>

/* Adds a row, unless no run has the figure. */
static void sizes_add_row(struct table *t, const struct block *b, const char *name,
			  const char *unit, const struct estimate *e)
{
	if (e->n)
		table_add(t, struct sizes_row,
			  &(struct sizes_row){.block = *b,
					      .name = name,
					      .unit = unit,
					      .value = *e,
					      .runs = (int64_t)e->n});
}

/* --- percentages from the histograms of receives and returns --- */

/*
 * The percentages: of the sum of the histogram's buckets, or of the same bucket of another
 * histogram. A bucket is a metric whose object is the histogram's and the number of the bucket.
 * recv_per_return is the part of the returns of a size that one receive filled alone.
 */
static const struct size_part {
	const char *metric, *object, *of, *name;
} parts[] = {
	{"recv_size_log2", "", NULL, "recv_pct_log2"},
	{"recv_tokens_log2", "", NULL, "recv_tokens_pct_log2"},
	{"return_tokens_log2", "", NULL, "return_tokens_pct_log2"},
	{"hist", "frags:log2:", NULL, "frags_pct_log2"},
	{"hist", "batch:log2:", NULL, "batch_pct_log2"},
	{"hist", "completions:log2:", NULL, "completions_pct_log2"},
	{"recv_tokens_log2", "", "return_tokens_log2", "recv_per_return_pct_log2"},
};

struct size_bucket {
	const struct size_part *part;
	const char *b; /* its number */
};

/*
 * Adds up the metrics of a run with the name and with an object that begins with the first `len`
 * bytes of `object`. Returns whether there are any.
 */
static bool size_sum(struct store *s, const struct run *r, const char *metric, const char *object,
		     size_t len, double *sum)
{
	autofree struct metric_row *rows = NULL;
	int n = store_metrics(s, r->id, metric, OF_SIDE, &rows, NULL);
	bool any = false;

	*sum = 0;
	for (int i = 0; i < n; i++)
		if (!strncmp(rows[i].key.object ?: "", object, len)) {
			*sum += rows[i].value;
			any = true;
		}
	return any;
}

/* Returns a metric of the family. A missing bucket of an existing histogram is a known 0. */
static double size_metric(struct store *s, const struct run *r, const void *key)
{
	const struct metric_key *k = key;
	double n = figure_metric_of(s, r, k), sum;
	bool own = str_ends(k->name, "_log2");

	if (!isnan(n) || !k->object || (!own && !strstr(k->object, ":log2:")))
		return n;
	return size_sum(s, r, k->name, k->object, own ? 0 : strcspn(k->object, ":") + 1, &sum)
		       ? 0
		       : NAN;
}

static double size_percent(struct store *s, const struct run *r, const void *arg)
{
	const struct size_bucket *k = arg;
	autofree char *object = xasprintf("%s%s", k->part->object, k->b);
	struct metric_key key = {k->part->metric, object, NO_CPU};
	double n = size_metric(s, r, &key), all;

	key.name = k->part->of;
	if (key.name)
		all = size_metric(s, r, &key);
	else
		size_sum(s, r, k->part->metric, object, strlen(k->part->object), &all);
	return all > 0 ? 100 * n / all : NAN;
}

/* Adds the rows for one bucket: "recv_size_log2:16" becomes "recv_pct_log2:16". */
static void size_add_parts(struct block_table *t, const struct metric_key *k)
{
	struct estimate e;
	struct size_bucket b;
	char *name;

	for (size_t i = 0; i < array_size(parts); i++) {
		b.part = &parts[i];
		if (strcmp(k->name, b.part->metric) != 0 || !k->object ||
		    !str_starts(k->object, b.part->object))
			continue;
		b.b = k->object + strlen(b.part->object);
		e = block_estimate(t, size_percent, &b);
		name = xasprintf("%s:%s", b.part->name, b.b);
		sizes_add_row(t->t, &t->b->block, name, "%", &e);
		free(name);
	}
}

/* --- the table --- */

static const struct column sizes_columns[] = {
	BLOCK_COLUMNS(struct sizes_row),
	{MEMBER(struct sizes_row, name), .type = V_STR},
	{MEMBER(struct sizes_row, value), .type = V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{MEMBER(struct sizes_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct sizes_row, runs), .type = V_INT, .what = "runs that have it"},
};

static double size_per_receive(struct store *s, const struct run *r, const void *arg)
{
	(void)arg;
	return figure_metric(s, r, "rx_bytes") / figure_metric(s, r, "rx_calls");
}

static int sizes_add_block(struct block_table *k, struct error *err)
{
	static const char *const names[] = {
		"recv_size_log2", "recv_tokens_log2", "return_tokens_log2",
		"hist",		  "ring_overflow",    "dropped_completions",
		"rearmed"};
	const struct block *b = &k->b->block;
	freed(metric_keys_free) struct metric_keys list = {0};
	struct estimate e;
	int rc = 0;

	for (size_t i = 0; i < array_size(names) && !rc; i++)
		rc = metric_keys_add(&list, k->s, k->b, names[i], OF_SIDE, err);
	for (size_t i = 0; i < list.n; i++) {
		const struct metric_key *key = &list.m[i].key;
		autofree char *name =
			xasprintf("%s%s%s", key->name, key->object ? ":" : "", key->object ?: "");

		e = block_estimate(k, size_metric, key);
		sizes_add_row(k->t, b, name, list.m[i].unit, &e);
	}
	for (size_t i = 0; i < list.n; i++)
		size_add_parts(k, &list.m[i].key);
	e = block_estimate(k, size_per_receive, NULL);
	sizes_add_row(k->t, b, "bytes_per_receive", "B", &e);
	return rc;
}

static void sizes_add_notes(struct block_table *k)
{
	if (k->t->rows)
		note_add(&k->t->notes, whole_run, "sizes");
	else
		note_add(&k->t->notes, table_not_measured,
			 scope_slice_absent(k->s, "account")
				 ?: "no run measured this; see 'zcost report runs'");
}

const struct measure measure_sizes = {
	.name = "sizes",
	.what = "bytes per receive, and other histograms of the workload",
	MEASURE_COLUMNS(sizes_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.spare = "runs",
	.block = sizes_add_block,
	.notes = sizes_add_notes,
};
