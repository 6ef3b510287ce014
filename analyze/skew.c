// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/skew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool same_run(const struct run *a, const struct run *b)
{
	return a->repeat == b->repeat && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->pass, b->pass) && strcmp(a->side, b->side) && a->host && b->host &&
	       !strcmp(a->host, b->host) && a->end_ns && b->end_ns;
}

static int put(struct store *s, const struct run *r, double skew_ns, struct error *err)
{
	double window = (double)(r->end_ns - r->start_ns);
	char text[160];
	int rc = store_metric_put(s, r->id, "window_skew_us", "us", skew_ns / 1e3, NULL, err);

	if (rc || skew_ns <= window / 1000)
		return rc;
	snprintf(text, sizeof(text),
		 "window: the two sides' windows are %.1f ms apart, %.1f %% of their %.2f s",
		 skew_ns / 1e6, 100 * skew_ns / window, window / 1e9);
	return store_note(s, r->id, "warning", text, err);
}

int skew_store(struct store *s, struct error *err)
{
	struct run_filter all = {0};
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i, k, rc = n < 0 ? n : store_begin(s, err);

	for (i = 0; i < n && !rc; i++)
		for (k = 0; k < n && !rc; k++) {
			uint64_t start, end;

			if (!same_run(&runs[i], &runs[k]))
				continue;
			start = apart(runs[i].start_ns, runs[k].start_ns);
			end = apart(runs[i].end_ns, runs[k].end_ns);
			rc = put(s, &runs[i], (double)(start > end ? start : end), err);
			break;
		}
	if (n >= 0)
		free(runs);
	return rc ? rc : store_commit(s, err);
}
