// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/coverage.h"

#include "analyze/model/notes.h"
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns whether a coverage is an outlier among n: more than 10 points below their median, and
 * more than three times the scaled median deviation below it. Fewer than four runs have no outlier.
 */
static bool coverage_is_outlier(double pct, const double *all, size_t n, double *median)
{
	double *apart, scale;
	size_t i;

	*median = n ? stats_point(EST_MEDIAN, all, n) : NAN;
	if (n < 4)
		return false;
	apart = xcalloc(n, sizeof(*apart));
	for (i = 0; i < n; i++)
		apart[i] = fabs(all[i] - *median);
	scale = 1.4826 * stats_point(EST_MEDIAN, apart, n); /* the sd of normal values */
	free(apart);
	return *median - pct > fmax(10, 3 * scale);
}

static bool runs_are_siblings(const struct run *a, const struct run *b)
{
	return !strcmp(a->variant, b->variant) && !strcmp(a->pass, b->pass) &&
	       !strcmp(a->side, b->side);
}

/* Judges one run. pct[i] is the coverage of run i, or NAN. */
static int coverage_store_one(struct store *s, const struct run *runs, const double *pct, int n,
			      int at, struct error *err)
{
	double *siblings = xcalloc((size_t)n, sizeof(*siblings)), median;
	struct notes notes = {0};
	size_t count = 0;
	int i, rc = 0;

	for (i = 0; i < n; i++)
		if (!isnan(pct[i]) && runs_are_siblings(&runs[at], &runs[i]))
			siblings[count++] = pct[i];
	if (!isnan(pct[at]) && coverage_is_outlier(pct[at], siblings, count, &median)) {
		note_add(&notes, perf_coverage_outlier, pct[at], median, (unsigned int)count);
		rc = store_note_add(s, runs[at].id, &notes.note[0], err);
	}
	notes_free(&notes);
	free(siblings);
	return rc;
}

int coverage_store(struct store *s, struct error *err)
{
	struct run_filter all = {0};
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i, rc = n < 0 ? n : store_begin(s, err);
	double *pct = xcalloc(n > 0 ? (size_t)n : 1, sizeof(*pct));

	for (i = 0; i < n; i++)
		if (!store_metric(s, runs[i].id, "coverage_pct", &pct[i], NULL))
			pct[i] = NAN;
	for (i = 0; i < n && !rc; i++)
		rc = coverage_store_one(s, runs, pct, n, i, err);
	free(pct);
	if (n >= 0)
		free(runs);
	return rc ? rc : store_commit(s, err);
}
