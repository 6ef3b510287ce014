// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
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
 * histogram. recv_per_return is the part of the returns of a size that one receive filled alone.
 */
static const struct size_part {
	const char *histogram, *of, *name;
} parts[] = {
	{"recv_size_log2:", NULL, "recv_pct_log2:"},
	{"recv_tokens_log2:", NULL, "recv_tokens_pct_log2:"},
	{"return_tokens_log2:", NULL, "return_tokens_pct_log2:"},
	{"hist:frags:log2:", NULL, "frags_pct_log2:"},
	{"hist:batch:log2:", NULL, "batch_pct_log2:"},
	{"hist:completions:log2:", NULL, "completions_pct_log2:"},
	{"recv_tokens_log2:", "return_tokens_log2:", "recv_per_return_pct_log2:"},
};

struct size_bucket {
	const struct size_part *part;
	int b;
};

/* Returns whether the run has a metric with this prefix. */
static bool size_has_any(struct store *s, const struct run *r, const char *prefix)
{
	struct error ignored = {0};
	struct metric_row *rows = NULL;
	int n = store_metric_prefix(s, r->id, prefix, &rows, &ignored);

	free(rows);
	return n > 0;
}

/*
 * Returns a metric of the family. A missing bucket of an existing histogram is a known 0. The name
 * of a bucket begins with that of its histogram: "recv_size_log2:9" with "recv_size_log2:", and
 * "hist:frags:log2:1" with "hist:frags:".
 */
static double size_metric(struct store *s, const struct run *r, const void *name)
{
	static const char log2[] = "log2:";
	double n = figure_metric(s, r, name);
	const char *bucket = strstr(name, log2);
	char histogram[64];

	if (!isnan(n) || !bucket)
		return n;
	if (bucket[-1] != ':')
		bucket += strlen(log2);
	snprintf(histogram, sizeof(histogram), "%.*s", (int)(bucket - (const char *)name),
		 (const char *)name);
	return size_has_any(s, r, histogram) ? 0 : NAN;
}

static double size_at(struct store *s, const struct run *r, const char *histogram, int b)
{
	char name[40];

	snprintf(name, sizeof(name), "%s%d", histogram, b);
	return size_metric(s, r, name);
}

/* Returns the sum of the histogram's buckets. */
static double size_total(struct store *s, const struct run *r, const char *histogram)
{
	struct metric_row *rows;
	int n = store_metric_prefix(s, r->id, histogram, &rows, NULL), i;
	double all = 0;

	for (i = 0; i < n; i++)
		all += rows[i].value;
	free(rows);
	return all;
}

static double size_percent(struct store *s, const struct run *r, const void *arg)
{
	const struct size_bucket *k = arg;
	double all = k->part->of ? size_at(s, r, k->part->of, k->b)
				 : size_total(s, r, k->part->histogram);

	return all > 0 ? 100 * size_at(s, r, k->part->histogram, k->b) / all : NAN;
}

/* Adds the rows for one bucket: "recv_size_log2:16" becomes "recv_pct_log2:16". */
static void size_add_parts(struct block_table *t, const char *bucket)
{
	struct estimate e;
	struct size_bucket k;
	char name[48];
	size_t i;

	for (i = 0; i < array_size(parts); i++) {
		k.part = &parts[i];
		if (!str_starts(bucket, k.part->histogram) ||
		    sscanf(bucket + strlen(k.part->histogram), "%d", &k.b) != 1)
			continue;
		e = block_estimate(t, size_percent, &k);
		snprintf(name, sizeof(name), "%s%d", k.part->name, k.b);
		family_add_named(t->t, &t->b->block, name, "%", &e);
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

/* The families: the prefixes of their metrics. */
static const struct {
	const char *family, *prefixes[8];
} families[] = {
	{"tcp", {"tcp_"}},
	{"sizes",
	 {"recv_size_log2:", "recv_tokens_log2:", "return_tokens_log2:", "hist:", "ring_overflow",
	  "dropped_completions", "rearmed:"}},
};

/* The metrics that a workload counts over its whole run. */
static const struct {
	const char *family, *prefix, *what;
} whole_run[] = {
	{"sizes", "", "sizes"},
	{"tcp", "tcp_rtt_us", "tcp_rtt_us"},
	{"tcp", "tcp_retransmits", "tcp_retransmits, retransmits_per_gb"},
};

/* The histograms with names that need an explanation. */
static const struct {
	const char *name, *what;
} histograms[] = {
	{"hist:batch", "sends per notification"},
	{"hist:completions", "completions found together in the io_uring ring"},
	{"hist:frags", "pages mapped, or completions, per receive"},
	{"hist:notify_ns", "time from a send to its notification"},
	{"hist:returns", "tokens per return"},
	{"hist:tokens", "tokens per receive"},
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

static void family_note_histograms(struct table *t)
{
	struct str what = {0};
	size_t i;

	for (i = 0; i < array_size(histograms); i++)
		if (family_has_row(t, histograms[i].name))
			str_printf(&what, "%s%s: %s", what.len ? "; " : "", histograms[i].name,
				   histograms[i].what);
	if (what.len)
		note_add(&t->notes, sizes_histograms, what.buf);
	str_free(&what);
}

static double family_figure_ratio(struct store *s, const struct run *r, const void *arg)
{
	const struct family_ratio *k = arg;

	return k->scale * figure_metric(s, r, k->over) / figure_metric(s, r, k->under);
}

/* Gathers the metrics of the family that any of the block's runs has. */
static int family_gather(struct store *s, const struct block_runs *b, const char *family,
			 struct metric_names *list, struct error *err)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; i < array_size(families); i++)
		for (k = 0; k < array_size(families[i].prefixes) && !rc; k++)
			if (!strcmp(families[i].family, family) && families[i].prefixes[k])
				rc = metric_names_add(list, s, b, families[i].prefixes[k], NULL,
						      err);
	return rc;
}

static int family_add_block(struct block_table *k, struct error *err)
{
	const struct block *b = &k->b->block;
	struct metric_names list = {0};
	struct estimate e;
	size_t i;
	int rc = family_gather(k->s, k->b, k->t->name, &list, err);

	for (i = 0; i < list.n; i++) {
		e = block_estimate(k, size_metric, list.m[i].name);
		family_add_named(k->t, b, list.m[i].name, list.m[i].unit, &e);
	}
	for (i = 0; i < list.n && !strcmp(k->t->name, "sizes"); i++)
		size_add_parts(k, list.m[i].name);
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
	family_note_histograms(k->t);
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
