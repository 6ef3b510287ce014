// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/calls.h"

#include <math.h>
#include <stdlib.h>

double calls_of_run(struct store *s, const struct run *r)
{
	struct syscall_row *rows;
	uint64_t calls = 0;
	int n = store_syscalls(s, r->id, &rows, NULL), i;

	if (n < 0)
		return NAN;
	for (i = 0; i < n; i++)
		calls += rows[i].calls;
	free(rows);
	return n ? (double)calls : NAN;
}

static double per_work(struct store *s, const struct run *r, const void *rate_metric)
{
	double work = figure_metric(s, r, rate_metric) * figure_metric(s, r, "seconds");

	return work > 0 ? calls_of_run(s, r) / work : NAN;
}

struct estimate calls_per_work(struct store *s, const struct block *b, enum estimator est,
			       const char *rate_metric)
{
	const struct query every = {0};
	struct estimate e = {NAN, NAN, NAN, NAN, 0, 0};
	struct run *runs;
	int n = scope_runs(s, &every, b, FOR_SYSCALLS, &runs, NULL);

	if (n < 0)
		return e;
	e = scope_estimate(s, runs, n, est, per_work, rate_metric);
	free(runs);
	return e;
}
