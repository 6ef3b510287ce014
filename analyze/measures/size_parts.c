// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/size_parts.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * THE TABLE of parts: percent of the sum of its own histogram's buckets, or of the same bucket of
 * another. recv_per_return: of the returns of so many tokens those that one receive filled alone.
 */
static const struct part {
	const char *histogram, *of, *name;
} parts[] = {
	{"recv_size_log2:", NULL, "recv_pct_log2:"},
	{"recv_tokens_log2:", NULL, "recv_tokens_pct_log2:"},
	{"return_tokens_log2:", NULL, "return_tokens_pct_log2:"},
	{"recv_tokens_log2:", "return_tokens_log2:", "recv_per_return_pct_log2:"},
};

struct bucket {
	const struct part *part;
	int b;
};

/* Has the run a metric whose name begins so? */
static bool size_has_any(struct store *s, const struct run *r, const char *prefix)
{
	struct error ignored = {0};
	struct metric_row *rows = NULL;
	int n = store_metric_prefix(s, r->id, prefix, &rows, &ignored);

	if (n >= 0)
		free(rows);
	return n > 0;
}

/* "recv_size_log2:9" is a bucket of "recv_size_log2:", "hist:frags:log2:1" one of "hist:frags:". */
double size_metric(struct store *s, const struct run *r, const void *name)
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

/* The sum of the histogram's buckets. */
static double size_total(struct store *s, const struct run *r, const char *histogram)
{
	struct metric_row *rows;
	int n = store_metric_prefix(s, r->id, histogram, &rows, NULL), i;
	double all = 0;

	for (i = 0; i < n; i++)
		all += rows[i].value;
	if (n >= 0)
		free(rows);
	return all;
}

static double size_percent(struct store *s, const struct run *r, const void *arg)
{
	const struct bucket *k = arg;
	double all = k->part->of ? size_at(s, r, k->part->of, k->b)
				 : size_total(s, r, k->part->histogram);

	return all > 0 ? 100 * size_at(s, r, k->part->histogram, k->b) / all : NAN;
}

void put_size_parts(struct store *s, const struct block_runs *b, enum estimator est,
		    const char *bucket, struct table *t)
{
	struct estimate e;
	struct bucket k;
	char name[48];
	size_t i;

	for (i = 0; i < array_size(parts); i++) {
		k.part = &parts[i];
		if (!str_starts(bucket, k.part->histogram) ||
		    sscanf(bucket + strlen(k.part->histogram), "%d", &k.b) != 1)
			continue;
		e = scope_estimate(s, b->runs, b->n, est, size_percent, &k);
		snprintf(name, sizeof(name), "%s%d", k.part->name, k.b);
		put_named(t, &b->block, name, "%", &e);
	}
}
