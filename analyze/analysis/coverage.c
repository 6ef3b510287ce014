// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/model/notes.h"
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The coverages of the runs of one variant, pass and side. */
struct siblings {
	unsigned int n;
	double median, margin; /* a coverage farther below the median is an outlier */
};

static bool runs_are_siblings(const struct run *a, const struct run *b)
{
	return !strcmp(a->variant, b->variant) && !strcmp(a->pass, b->pass) &&
	       !strcmp(a->side, b->side);
}

/*
 * The margin is 10 points, or three times the scaled median deviation if that is more. Fewer than
 * four runs have no outlier.
 */
static struct siblings siblings_judge(const double *pct, size_t n)
{
	struct siblings k = {(unsigned int)n, stats_point(EST_MEDIAN, pct, n), INFINITY};
	double *apart = xcalloc(n + 1, sizeof(*apart)), scale;
	size_t i;

	for (i = 0; i < n; i++)
		apart[i] = fabs(pct[i] - k.median);
	scale = 1.4826 * stats_point(EST_MEDIAN, apart, n); /* the sd of normal values */
	free(apart);
	if (n >= 4)
		k.margin = fmax(10, 3 * scale);
	return k;
}

/* Sets the siblings of run `at` and of all its siblings. None of them is before `at`. */
static void siblings_find(const struct run *runs, const double *pct, int n, int at,
			  struct siblings *of)
{
	double *values = xcalloc((size_t)n, sizeof(*values));
	struct siblings k;
	size_t count = 0;
	int i;

	for (i = at; i < n; i++)
		if (!isnan(pct[i]) && runs_are_siblings(&runs[at], &runs[i]))
			values[count++] = pct[i];
	k = siblings_judge(values, count);
	for (i = at; i < n; i++)
		if (!isnan(pct[i]) && runs_are_siblings(&runs[at], &runs[i]))
			of[i] = k;
	free(values);
}

static int coverage_store_one(struct store *s, const struct run *r, double pct,
			      const struct siblings *k, struct error *err)
{
	struct notes notes = {0};

	if (isnan(pct) || !(k->median - pct > k->margin))
		return 0;
	note_add(&notes, perf_coverage_outlier, pct, k->median, k->n);
	return store_notes_add(s, r->id, &notes, err);
}

int coverage_store(struct store *s, const struct run *runs, int n, struct error *err)
{
	double *pct = xcalloc((size_t)n + 1, sizeof(*pct));
	struct siblings *of = xcalloc((size_t)n + 1, sizeof(*of));
	int i, rc = 0;

	for (i = 0; i < n; i++)
		if (!store_metric(s, runs[i].id, "coverage_pct", &pct[i]))
			pct[i] = NAN;
	for (i = 0; i < n; i++)
		if (!isnan(pct[i]) && !of[i].n)
			siblings_find(runs, pct, n, i, of);
	for (i = 0; i < n && !rc; i++)
		rc = coverage_store_one(s, &runs[i], pct[i], &of[i], err);
	free(pct);
	free(of);
	return rc;
}
