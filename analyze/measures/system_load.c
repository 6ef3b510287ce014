// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/system_load.h"

#include <math.h>
#include <stdlib.h>

static double load_of_run(struct store *s, const struct run *r, const void *arg)
{
	(void)arg;
	return r->ncpus > 0 ? figure_metric(s, r, "cpu_pct") / r->ncpus : NAN;
}

struct system_load system_load_of(struct store *s, const struct query *q, const struct block *b)
{
	struct system_load l = {
		.pct = q->system_load, .measured = q->load_measured, .one_cpu = q->cpus != NULL};
	const struct query every = {.estimator = q->estimator};
	enum estimator est = EST_MEDIAN;
	struct estimate e;
	struct run *runs;
	int n;

	if (!l.measured)
		return l;
	l.pct = l.ci = NAN;
	if (l.one_cpu)
		return l;
	n = scope_runs(s, &every, b, FOR_FIGURES, &runs, NULL);
	if (n < 0)
		return l;
	scope_estimator(s, &every, &est, NULL);
	e = scope_estimate(s, runs, n, est, load_of_run, NULL);
	l.pct = e.value;
	l.ci = e.n > 1 ? (e.hi - e.lo) / 2 : 0;
	l.ncpus = n ? runs[0].ncpus : 0;
	free(runs);
	return l;
}

double system_load_ci(const struct system_load *l, double share, double share_ci)
{
	return hypot(share_ci * l->pct, share * l->ci);
}

void system_load_say(const struct system_load *l, const struct block *b, struct table *t)
{
	if (!l->measured)
		note_add(&t->notes, system_load_given, l->pct);
	else if (isnan(l->pct))
		note_add_of(&t->notes, b->variant, b->side, system_load_absent,
			    l->one_cpu ? "the load is that of all CPUs of the side, not of --cpu"
				       : "CPU time was not collected (collector 'cpu')");
	else
		note_add_of(&t->notes, b->variant, b->side, system_load_measured, l->pct, l->ncpus);
}
