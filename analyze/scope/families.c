// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a row, unless no run has the figure. */
static void family_add_named(struct table *t, const struct block *b, const char *name,
			     const char *unit, const struct estimate *e)
{
	struct value *row;

	if (!e->n)
		return;
	row = block_row(t, b);
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "unit", value_str(t, unit));
	table_set(t, row, "runs", value_int((int64_t)e->n));
	put_estimate(t, row, "value", e);
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
	struct metric_row *rows;
	int n = store_metrics(s, r->id, metric, OF_SIDE, &rows, NULL), i;
	bool any = false;

	*sum = 0;
	for (i = 0; i < n; i++)
		if (!strncmp(rows[i].key.object ?: "", object, len)) {
			*sum += rows[i].value;
			any = true;
		}
	free(rows);
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
	char *object = xasprintf("%s%s", k->part->object, k->b);
	struct metric_key key = {k->part->metric, object, NO_CPU};
	double n = size_metric(s, r, &key), all;

	key.name = k->part->of;
	if (key.name)
		all = size_metric(s, r, &key);
	else
		size_sum(s, r, k->part->metric, object, strlen(k->part->object), &all);
	free(object);
	return all > 0 ? 100 * n / all : NAN;
}

/* Adds the rows for one bucket: "recv_size_log2:16" becomes "recv_pct_log2:16". */
static void size_add_parts(struct block_table *t, const struct metric_key *k)
{
	struct estimate e;
	struct size_bucket b;
	char *name;
	size_t i;

	for (i = 0; i < array_size(parts); i++) {
		b.part = &parts[i];
		if (strcmp(k->name, b.part->metric) != 0 || !k->object ||
		    !str_starts(k->object, b.part->object))
			continue;
		b.b = k->object + strlen(b.part->object);
		e = block_estimate(t, size_percent, &b);
		name = xasprintf("%s:%s", b.part->name, b.b);
		family_add_named(t->t, &t->b->block, name, "%", &e);
		free(name);
	}
}

/* --- the tables --- */

/*
 * tcp, sizes: one row for each metric with a prefix, estimated over the runs. More rows have
 * figures from two metrics of each run, such as cycles per byte.
 */

static const struct column family_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"name", .type = V_STR},
	{"value", .type = V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"runs", .type = V_INT, .what = "runs that have it"},
};

/* The figures from two metrics: name = scale x over / under. */
static const struct family_ratio {
	const char *family, *name, *over, *under, *unit;
	double scale;
} ratios[] = {
	{"sizes", "bytes_per_receive", "rx_bytes", "rx_calls", "B", 1},
	{"tcp", "retransmits_per_gb", "tcp_retransmits", "workload_bytes", "1/GB", 1e9},
};

/* The families: the names of their metrics. */
static const struct {
	const char *family, *names[8];
} families[] = {
	{"tcp", {"tcp_*"}},
	{"sizes",
	 {"recv_size_log2", "recv_tokens_log2", "return_tokens_log2", "hist", "ring_overflow",
	  "dropped_completions", "rearmed"}},
};

/* The metrics that a workload counts over its whole run. */
static const struct {
	const char *family, *prefix, *what;
} whole_run[] = {
	{"sizes", "", "sizes"},
	{"tcp", "tcp_rtt_us", "tcp_rtt_us"},
	{"tcp", "tcp_retransmits", "tcp_retransmits, retransmits_per_gb"},
};

static bool family_has_row(const struct table *t, const char *prefix)
{
	int c = table_column(t, "name");
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (str_starts(table_cell(t, row, c)->str, prefix))
			return true;
	return false;
}

static void family_note_whole_run(struct table *t)
{
	struct str what = {0};
	size_t i;

	for (i = 0; i < array_size(whole_run); i++)
		if (!strcmp(whole_run[i].family, t->name) && family_has_row(t, whole_run[i].prefix))
			str_printf(&what, "%s%s", what.len ? ", " : "", whole_run[i].what);
	if (what.len)
		note_add(&t->notes, whole_run, what.buf);
	str_free(&what);
}

static double family_figure_ratio(struct store *s, const struct run *r, const void *arg)
{
	const struct family_ratio *k = arg;

	return k->scale * figure_metric(s, r, k->over) / figure_metric(s, r, k->under);
}

/* Gathers the metrics of the family that any of the block's runs has. */
static int family_gather(struct store *s, const struct block_runs *b, const char *family,
			 struct metric_keys *list, struct error *err)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < array_size(families); i++)
		for (k = 0; k < array_size(families[i].names) && !rc; k++)
			if (!strcmp(families[i].family, family) && families[i].names[k])
				rc = metric_keys_add(list, s, b, families[i].names[k], OF_SIDE,
						     err);
	return rc;
}

static int family_add_block(struct block_table *k, struct error *err)
{
	const struct block *b = &k->b->block;
	struct metric_keys list = {0};
	struct estimate e;
	char *name;
	size_t i;
	int rc = family_gather(k->s, k->b, k->t->name, &list, err);

	for (i = 0; i < list.n; i++) {
		e = block_estimate(k, size_metric, &list.m[i].key);
		name = metric_spell(&list.m[i].key);
		family_add_named(k->t, b, name, list.m[i].unit, &e);
		free(name);
	}
	for (i = 0; i < list.n && !strcmp(k->t->name, "sizes"); i++)
		size_add_parts(k, &list.m[i].key);
	for (i = 0; i < array_size(ratios); i++) {
		if (strcmp(ratios[i].family, k->t->name))
			continue;
		e = block_estimate(k, family_figure_ratio, &ratios[i]);
		family_add_named(k->t, b, ratios[i].name, ratios[i].unit, &e);
	}
	free(list.m);
	return rc;
}

static void family_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		changes_nothing(k->s, k->t);
	family_note_whole_run(k->t);
}

static int family_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	return block_table_run(s, q, t, family_add_block, family_add_notes, err);
}

const struct measure measure_sizes = {
	.name = "sizes",
	.what = "bytes per receive, and other histograms of the workload",
	MEASURE_COLUMNS(family_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.spare = "runs",
	.run = family_run,
};

/* tcp --by name: one row for each metric, summed over all sockets. */
const struct measure measure_tcp_by_name = {
	.name = "tcp --by name",
	MEASURE_COLUMNS(family_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only by"},
	.spare = "runs",
	.run = family_run,
};
