// SPDX-License-Identifier: GPL-2.0-only
/*
 * path.tsv: histograms of the time of packets in each stage of their way, and counts. The buckets
 * are at most 1/64 of a time wide, and a quantile is interpolated in its bucket.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

struct path_line {
	const char *way, *stage, *what;
	double from, to, value; /* from, to: of a bucket */
};

struct path_lines {
	struct path_line *line; /* the buckets of a stage in the order of their times */
	size_t n, cap;
};

/* Counts of a way, or of none, and their metrics. */
static const struct {
	const char *what, *metric, *unit;
	const char *by; /* the metric is divided by this count; NULL: it is not */
} path_counts[] = {
	{"followed", "path_followed", "1", NULL},
	{"weight", "path_one_in", "1", "followed"},
	{"segments", "path_segments", "1", "weight"},
	{"bytes", "path_bytes", "B", "weight"},
	{"full", "path_full", "1", NULL},
	{"others", "path_others", "1", NULL},
};

/* A quantile of few packets says nothing. */
static const struct {
	const char *metric;
	double p, least; /* packets */
} path_quantiles[] = {
	{"path_p50_ns", 0.5, 1}, {"path_p99_ns", 0.99, 100}, {"path_p999_ns", 0.999, 1000}};

/* Returns false if a number cannot be read. */
static bool path_read_line(struct path_line *l, const struct tsv *t, size_t row)
{
	*l = (struct path_line){tsv_text(t, row, "way"),
				tsv_text(t, row, "stage"),
				tsv_text(t, row, "what"),
				0,
				1,
				0};
	if (!parse_real(tsv_text(t, row, "value"), &l->value))
		return false;
	return strcmp(l->what, "bucket") ||
	       (parse_real(tsv_text(t, row, "from_ns"), &l->from) &&
		parse_real(tsv_text(t, row, "to_ns"), &l->to) && l->to > l->from && l->value > 0);
}

static bool path_is(const struct path_line *l, const char *way, const char *stage, const char *what)
{
	return !strcmp(l->way, way) && !strcmp(l->stage, stage) && !strcmp(l->what, what);
}

/* Returns the sum of the lines' values, or NAN. */
static double path_sum(const struct path_lines *p, const char *way, const char *stage,
		       const char *what)
{
	double sum = NAN;

	for (size_t i = 0; i < p->n; i++)
		if (path_is(&p->line[i], way, stage, what))
			figure_add(&sum, p->line[i].value);
	return sum;
}

/* Returns the time below which the weight `want` is. */
static double path_quantile(const struct path_lines *p, const char *way, const char *stage,
			    double want)
{
	for (const struct path_line *l = p->line; l < p->line + p->n; l++) {
		if (!path_is(l, way, stage, "bucket"))
			continue;
		if (l->value >= want) /* a bucket of 1 ns is exact */
			return l->from + (l->to - l->from - 1) * want / l->value;
		want -= l->value;
	}
	return NAN;
}

static void path_add_counts(struct ingest *in, const struct path_lines *p, const char *way)
{
	for (size_t i = 0; i < array_size(path_counts); i++) {
		double x = path_sum(p, way, "", path_counts[i].what);

		if (path_counts[i].by)
			x /= path_sum(p, way, "", path_counts[i].by);
		ingest_metric_of(in, path_counts[i].metric, *way ? way : NULL, NO_CPU,
				 path_counts[i].unit, x);
	}
}

static void path_add_stage(struct ingest *in, const struct path_lines *p, const char *way,
			   const char *stage)
{
	autofree char *name = xasprintf("%s %s", way, stage);
	double weight = path_sum(p, way, stage, "bucket");

	ingest_metric_of(in, "path_passed", name, NO_CPU, "1", path_sum(p, way, stage, "passed"));
	ingest_metric_of(in, "path_left", name, NO_CPU, "1", path_sum(p, way, stage, "left"));
	ingest_metric_of(in, "path_mean_ns", name, NO_CPU, "ns",
			 path_sum(p, way, stage, "ns") / weight);
	for (size_t i = 0; i < array_size(path_quantiles); i++)
		if (path_sum(p, way, "", "followed") >= path_quantiles[i].least)
			ingest_metric_of(
				in, path_quantiles[i].metric, name, NO_CPU, "ns",
				path_quantile(p, way, stage, path_quantiles[i].p * weight));
}

static int path_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct path_lines p = {0};
	struct path_line l;

	(void)err;
	for (size_t row = 0; row < t->rows; row++) {
		if (path_read_line(&l, t, row))
			array_add(p.line, p.n, p.cap, l);
		else
			t->bad++;
	}
	path_add_counts(in, &p, "receive");
	path_add_counts(in, &p, "send");
	path_add_counts(in, &p, "");
	for (size_t i = 0; i < p.n; i++)
		if (!strcmp(p.line[i].what, "ns"))
			path_add_stage(in, &p, p.line[i].way, p.line[i].stage);
	free(p.line);
	return 0;
}

const struct parser parser_path = {.files = {"path.tsv"},
				   .collector = "path",
				   .columns = "way stage what from_ns to_ns value",
				   .rows = path_read_rows};
