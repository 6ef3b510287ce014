// SPDX-License-Identifier: GPL-2.0-only
/*
 * path.tsv: histograms of the time of packets in each stage of their way, and counts. The buckets
 * are at most 1/64 of a time wide, and a quantile is interpolated in its bucket.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

struct path_bucket {
	double from, to, weight;
};

/* The rows of a way and stage. Buckets are in the order of their times. */
struct path_rows {
	struct path_bucket *buckets;
	size_t n, cap;
	double weight; /* the sum over all buckets */
	double ns, passed, left;
};

/* Counts of a way or of none: `what`, and the metric. */
static const struct {
	const char *what, *metric;
	const char *by; /* the metric is divided by this count; NULL: it is not */
} path_counts[] = {
	{"followed", "path_followed", NULL},
	{"weight", "path_one_in", "followed"},
	{"segments", "path_segments", "weight"},
	{"bytes", "path_bytes", "weight"},
	{"full", "path_full", NULL},
	{"others", "path_others", NULL},
};

/* A quantile of few packets says nothing. */
static const struct {
	const char *metric;
	double p, least; /* packets */
} path_quantiles[] = {
	{"path_p50_ns", 0.5, 1}, {"path_p99_ns", 0.99, 100}, {"path_p999_ns", 0.999, 1000}};

/* Returns the time below which the part p of the packets was. */
static double path_quantile(const struct path_rows *r, double p)
{
	double below = 0, want = p * r->weight;

	for (const struct path_bucket *b = r->buckets; b < r->buckets + r->n; b++) {
		if (below + b->weight >= want)
			/* A bucket of 1 ns is exact. */
			return b->from + (b->to - b->from - 1) * (want - below) / b->weight;
		below += b->weight;
	}
	return NAN;
}

/* Returns the value of the row of a way without a stage, or NAN. */
static double path_count(const struct tsv *t, const char *way, const char *what)
{
	double x = NAN;

	for (size_t row = 0; row < t->rows; row++)
		if (!*tsv_text(t, row, "stage") && !strcmp(tsv_text(t, row, "way"), way) &&
		    !strcmp(tsv_text(t, row, "what"), what) &&
		    parse_real(tsv_text(t, row, "value"), &x))
			return x;
	return NAN;
}

static void path_add_counts(struct ingest *in, const struct tsv *t)
{
	static const char *const ways[] = {"receive", "send", ""};

	for (size_t w = 0; w < array_size(ways); w++)
		for (size_t i = 0; i < array_size(path_counts); i++) {
			double x = path_count(t, ways[w], path_counts[i].what);

			if (path_counts[i].by)
				x /= path_count(t, ways[w], path_counts[i].by);
			ingest_metric_of(in, path_counts[i].metric, *ways[w] ? ways[w] : NULL,
					 NO_CPU, strcmp(path_counts[i].what, "bytes") ? "1" : "B",
					 x);
		}
}

static void path_add_stage(struct ingest *in, const struct path_rows *r, const char *name,
			   double followed)
{
	ingest_metric_of(in, "path_passed", name, NO_CPU, "1", r->passed);
	ingest_metric_of(in, "path_left", name, NO_CPU, "1", r->left);
	ingest_metric_of(in, "path_mean_ns", name, NO_CPU, "ns", r->ns / r->weight);
	for (size_t i = 0; i < array_size(path_quantiles); i++)
		if (followed >= path_quantiles[i].least)
			ingest_metric_of(in, path_quantiles[i].metric, name, NO_CPU, "ns",
					 path_quantile(r, path_quantiles[i].p));
}

/* Returns false if a number cannot be read. */
static bool path_read_row(const struct tsv *t, size_t row, struct path_rows *r)
{
	const char *what = tsv_text(t, row, "what");
	struct path_bucket b = {0};

	if (!parse_real(tsv_text(t, row, "value"), &b.weight))
		return false;
	if (!strcmp(what, "ns"))
		r->ns = b.weight;
	else if (!strcmp(what, "passed"))
		r->passed = b.weight;
	else if (!strcmp(what, "left"))
		r->left = b.weight;
	if (strcmp(what, "bucket"))
		return true;
	if (!parse_real(tsv_text(t, row, "from_ns"), &b.from) ||
	    !parse_real(tsv_text(t, row, "to_ns"), &b.to) || !(b.to > b.from) || !(b.weight > 0))
		return false;
	array_add(r->buckets, r->n, r->cap, b);
	r->weight += b.weight;
	return true;
}

static void path_add_metrics(struct ingest *in, const struct tsv *t)
{
	struct path_rows *rows = xcalloc(t->rows + 1, sizeof(*rows));
	freed(intern_free) struct intern names = {0};
	size_t bad = t->short_rows;

	for (size_t row = 0; row < t->rows; row++) {
		const char *way = tsv_text(t, row, "way"), *stage = tsv_text(t, row, "stage");
		autofree char *name = xasprintf("%s %s", way, stage);

		if (*stage && !path_read_row(t, row, &rows[intern_str(&names, name)]))
			bad++;
	}
	path_add_counts(in, t);
	for (uint32_t i = 0; i < names.n; i++) {
		const char *name = intern_get(&names, i);
		autofree char *way = xstrndup(name, strcspn(name, " "));

		path_add_stage(in, &rows[i], name, path_count(t, way, "followed"));
		free(rows[i].buckets);
	}
	free(rows);
	if (bad)
		note_add(&in->notes, rows_unreadable, "path", bad, "path.tsv");
}

static int path_read(struct ingest *in, const char *path, struct error *err)
{
	struct tsv t;
	int rc = tsv_read(&t, path, '\t', err);

	if (!rc)
		rc = tsv_require(&t, err, "way", "stage", "what", "from_ns", "to_ns", "value",
				 NULL);
	if (!rc)
		path_add_metrics(in, &t);
	tsv_free(&t);
	return rc;
}

const struct parser parser_path = {.files = {"path.tsv"}, .read = path_read};
