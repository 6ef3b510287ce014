// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/model/notes.h"
#include "analyze/scope/runs.h"
#include "lib/clock.h"

/* How the windows of two sides of a run differ, in ns. */
struct skew {
	double apart;	/* distance of the windows' starts or ends, the larger one */
	double error;	/* error of the clock comparison; 0 if the sides share a clock */
	double shorter; /* length of the shorter window */
	double gap; /* from the end of one window to the start of the other; < 0 if they overlap */
};

static bool runs_are_sides(const struct run *a, const struct run *b)
{
	return run_is_of(a, b) && strcmp(a->side, b->side) && a->end_ns && b->end_ns;
}

/*
 * Reads how many seconds a side's clock is ahead of the steering host's clock. The offset is 0 on
 * the steering host.
 */
static bool skew_read_clock(struct store *s, const struct run *r, double *offset, double *error)
{
	*offset = *error = 0;
	return store_metric(s, r->id, "clock_offset", offset) &&
	       store_metric(s, r->id, "clock_error", error);
}

/*
 * Returns the time from b to a, in ns. Subtracts integers first, because a double is too coarse
 * for the clock of a host that is up for years.
 */
static double skew_after(uint64_t a, uint64_t b, double ahead_ns)
{
	return (double)(int64_t)(a - b) - ahead_ns;
}

/* Fills the skew. Returns false if the sides ran on two hosts and no one compared their clocks. */
static bool skew_find(struct store *s, const struct run *a, const struct run *b, struct skew *k)
{
	double offset[2], error[2], start, end, ahead;
	bool known = skew_read_clock(s, a, &offset[0], &error[0]);

	known |= skew_read_clock(s, b, &offset[1], &error[1]);
	if (!known && (!a->host || !b->host || strcmp(a->host, b->host) != 0))
		return false;
	ahead = 1e9 * (offset[0] - offset[1]);
	start = fabs(skew_after(a->start_ns, b->start_ns, ahead));
	end = fabs(skew_after(a->end_ns, b->end_ns, ahead));
	*k = (struct skew){
		.apart = fmax(start, end),
		.error = 1e9 * (error[0] + error[1]),
		.shorter =
			fmin((double)(a->end_ns - a->start_ns), (double)(b->end_ns - b->start_ns)),
		.gap = fmax(skew_after(a->start_ns, b->end_ns, ahead),
			    skew_after(b->start_ns, a->end_ns, -ahead)),
	};
	return true;
}

/* Finds the largest skew between run `at` and another side. Returns false if none is known. */
static bool skew_find_worst(struct store *s, const struct run *runs, int n, int at,
			    struct skew *worst)
{
	struct skew one;
	bool found = false;

	for (int k = 0; k < n; k++) {
		if (!runs_are_sides(&runs[at], &runs[k]) ||
		    !skew_find(s, &runs[at], &runs[k], &one) ||
		    (found && one.apart <= worst->apart))
			continue;
		*worst = one;
		found = true;
	}
	return found;
}

/*
 * Marks a run as failed. A figure is meaningless if it divides one side's CPU time by the bytes
 * that the other side moved at another time.
 */
static int skew_leave_out(struct store *s, const struct run *r, const struct skew *k,
			  struct error *err)
{
	struct notes notes = {0};
	char why[200];

	snprintf(
		why, sizeof(why),
		"the sides' windows do not overlap: they are %.1f ms apart, and this one is %.2f s long",
		k->apart / 1e6, (double)(r->end_ns - r->start_ns) / 1e9);
	note_add(&notes, run_left_out, why);
	return store_notes_add(s, r->id, &notes, err) ?: store_run_fail(s, r->id, why, err);
}

static int skew_store_one(struct store *s, const struct run *r, const struct skew *k,
			  struct error *err)
{
	double window = (double)(r->end_ns - r->start_ns);
	bool far = window_skew_too_large(k->apart, k->error, k->shorter);
	struct notes notes = {0};
	char by[80] = "";
	int rc = store_metric_put(
		s, r->id,
		&(struct metric_row){{"window_skew_us", NULL, NO_CPU}, "us", k->apart / 1e3, NULL},
		err);

	if (!rc && k->gap >= k->error)
		return skew_leave_out(s, r, k, err);
	if (rc || k->apart - k->error <= window / 1000)
		return rc;
	if (k->error > 0)
		snprintf(by, sizeof(by), " (two clocks, compared to +-%.3f ms)", k->error / 1e6);
	if (far)
		note_add(&notes, windows_apart_far, k->apart / 1e6, 100 * k->apart / k->shorter,
			 k->shorter / 1e9, by, 100 * WINDOW_SKEW_LIMIT);
	else
		note_add(&notes, windows_apart, k->apart / 1e6, 100 * k->apart / window,
			 window / 1e9, by)
			->severity =
			k->apart > WINDOW_SKEW_DOUBTFUL * window ? SEVERITY_WARNING : SEVERITY_INFO;
	return store_notes_add(s, r->id, &notes, err);
}

int skew_store(struct store *s, const struct run *runs, int n, size_t *left_out, struct error *err)
{
	struct skew skew = {0};
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		if (skew_find_worst(s, runs, n, i, &skew)) {
			*left_out += skew.gap >= skew.error;
			rc = skew_store_one(s, &runs[i], &skew, err);
		}
	return rc;
}

/* --- coverage --- */

static bool runs_are_siblings(const struct run *a, const struct run *b)
{
	return !strcmp(a->variant, b->variant) && !strcmp(a->pass, b->pass) &&
	       !strcmp(a->side, b->side);
}

/*
 * Notes a run whose coverage lies below the median of its siblings by more than 10 points, or by
 * more than three times the scaled median deviation if that is more.
 */
static int coverage_store_one(struct store *s, const struct run *r, double pct,
			      const double *siblings, size_t n, struct error *err)
{
	double median = stats_point(EST_MEDIAN, siblings, n), scale;
	autofree double *apart = xcalloc(n + 1, sizeof(*apart));
	struct notes notes = {0};

	for (size_t i = 0; i < n; i++)
		apart[i] = fabs(siblings[i] - median);
	scale = 1.4826 * stats_point(EST_MEDIAN, apart, n); /* the sd of normal values */
	if (median - pct > fmax(10, 3 * scale))
		note_add(&notes, perf_coverage_outlier, pct, median, (unsigned int)n);
	return store_notes_add(s, r->id, &notes, err);
}

int coverage_store(struct store *s, const struct run *runs, int n, struct error *err)
{
	autofree double *pct = xcalloc((size_t)n + 1, sizeof(*pct)),
			*siblings = xcalloc((size_t)n + 1, sizeof(*siblings));
	size_t count;
	int k, rc = 0;

	for (int i = 0; i < n; i++)
		if (!store_metric(s, runs[i].id, "coverage_pct", &pct[i]))
			pct[i] = NAN;
	for (int i = 0; i < n && !rc; i++) {
		for (k = 0, count = 0; k < n && !isnan(pct[i]); k++)
			if (!isnan(pct[k]) && runs_are_siblings(&runs[i], &runs[k]))
				siblings[count++] = pct[k];
		if (count >= 4) /* fewer runs have no outlier */
			rc = coverage_store_one(s, &runs[i], pct[i], siblings, count, err);
	}
	return rc;
}
