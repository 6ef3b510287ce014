// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/skew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of two sides of a run, ns. */
struct skew {
	double apart; /* their windows' starts, or ends, whichever is more */
	double error; /* how well their clocks were compared; 0: they have one */
};

static bool same_run(const struct run *a, const struct run *b)
{
	return a->repeat == b->repeat && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->pass, b->pass) && strcmp(a->side, b->side) && a->end_ns && b->end_ns;
}

/* How far a side's clock is ahead, seconds: 0 where it ran on the host that steered. */
static bool read_clock(struct store *s, const struct run *r, double *offset, double *error)
{
	*offset = *error = 0;
	return store_metric(s, r->id, "clock_offset", offset, NULL) &&
	       store_metric(s, r->id, "clock_error", error, NULL);
}

/* Whole nanoseconds first: the time of a host that runs for years is a coarse double. */
static double apart(uint64_t a, uint64_t b, double ahead_ns)
{
	double d = (double)(int64_t)(a - b) - ahead_ns;

	return d < 0 ? -d : d;
}

/* false: of two hosts whose clocks nobody has compared. */
static bool skew_of(struct store *s, const struct run *a, const struct run *b, struct skew *k)
{
	double offset[2], error[2], start, end, ahead;
	bool known = read_clock(s, a, &offset[0], &error[0]);

	known |= read_clock(s, b, &offset[1], &error[1]);
	if (!known && (!a->host || !b->host || strcmp(a->host, b->host) != 0))
		return false;
	ahead = 1e9 * (offset[0] - offset[1]);
	start = apart(a->start_ns, b->start_ns, ahead);
	end = apart(a->end_ns, b->end_ns, ahead);
	*k = (struct skew){start > end ? start : end, 1e9 * (error[0] + error[1])};
	return true;
}

static int put(struct store *s, const struct run *r, const struct skew *k, struct error *err)
{
	double window = (double)(r->end_ns - r->start_ns);
	char text[200], by[80] = "";
	int rc = store_metric_put(s, r->id, "window_skew_us", "us", k->apart / 1e3, NULL, err);

	if (rc || k->apart - k->error <= window / 1000)
		return rc;
	if (k->error > 0)
		snprintf(by, sizeof(by), " (two clocks, compared to +-%.3f ms)", k->error / 1e6);
	snprintf(text, sizeof(text),
		 "window: the two sides' windows are %.1f ms apart, %.1f %% of their %.2f s%s",
		 k->apart / 1e6, 100 * k->apart / window, window / 1e9, by);
	return store_note(s, r->id, "warning", text, err);
}

int skew_store(struct store *s, struct error *err)
{
	struct run_filter all = {0};
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i, k, rc = n < 0 ? n : store_begin(s, err);

	for (i = 0; i < n && !rc; i++)
		for (k = 0; k < n && !rc; k++) {
			struct skew skew;

			if (!same_run(&runs[i], &runs[k]))
				continue;
			if (skew_of(s, &runs[i], &runs[k], &skew))
				rc = put(s, &runs[i], &skew, err);
			break;
		}
	if (n >= 0)
		free(runs);
	return rc ? rc : store_commit(s, err);
}
