// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/power.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const power_source_names[] = {
	[POWER_NONE] = NULL,	 [POWER_MEASURED] = "measured", [POWER_IMPORTED] = "imported",
	[POWER_GIVEN] = "given", [POWER_MODELLED] = "modelled",
};

static bool same_host(const struct run *a, const struct run *b)
{
	return a->host && b->host ? !strcmp(a->host, b->host) : a == b;
}

/* The meter stands at the host: any side of this repeat on it may hold its figure. */
static bool metered(struct store *s, const struct run *side, struct power *p)
{
	struct run_filter f = {side->variant, side->pass, NULL, side->repeat, false};
	const char *source;
	struct run *all;
	bool found = store_metric(s, side->id, "power_w", &p->watts, &source);
	int n = found ? 0 : store_runs(s, &f, &all, NULL), i;

	for (i = 0; i < n && !found; i++)
		found = same_host(&all[i], side) &&
			store_metric(s, all[i].id, "power_w", &p->watts, &source);
	if (n > 0)
		free(all);
	if (found)
		p->source = !strcmp(source, "modelled")	  ? POWER_MODELLED
			    : !strcmp(source, "imported") ? POWER_IMPORTED
							  : POWER_MEASURED;
	return found;
}

/* A host's power by the model: idle once, and the CPU use of the sides given that run on it. */
static bool modelled(struct store *s, const struct query *q, const struct run *const sides[], int n,
		     int first, struct power *p)
{
	double cpu = 0;
	int i;

	if (!(q->model_idle > 0) && !(q->model_per_cpu > 0))
		return false;
	for (i = first; i < n; i++)
		if (same_host(sides[i], sides[first]))
			cpu += figure_metric(s, sides[i], "cpu_pct");
	p->watts = q->model_idle + q->model_per_cpu * cpu / 100;
	p->source = POWER_MODELLED;
	return !isnan(p->watts);
}

static bool is_shared(struct store *s, const struct run *const sides[], int n)
{
	struct run_filter f = {sides[0]->variant, sides[0]->pass, NULL, sides[0]->repeat, false};
	struct run *all;
	int count = store_runs(s, &f, &all, NULL), on_host = 0, i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < n; k++)
			if (same_host(&all[i], sides[k])) {
				on_host++;
				break;
			}
	if (count >= 0)
		free(all);
	return on_host > n;
}

struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n)
{
	struct power all = {NAN, POWER_NONE, false}, one;
	double watts = 0;
	int i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && !same_host(sides[k], sides[i]); k++)
			;
		if (k < i)
			continue;
		one = (struct power){NAN, POWER_NONE, false};
		if (!metered(s, sides[i], &one) && !modelled(s, q, sides, n, i, &one))
			return (struct power){NAN, POWER_NONE, false};
		watts += one.watts;
		if (one.source > all.source)
			all.source = one.source;
	}
	if (!n)
		return all;
	all.watts = watts;
	all.shared = is_shared(s, sides, n);
	return all;
}
