// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/verdict.h"

#include <math.h>

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_NONE] = NULL,		[VERDICT_BETTER] = "better",
		[VERDICT_WORSE] = "worse",	[VERDICT_SAME] = "~",
		[VERDICT_FEW] = "too few runs", [VERDICT_COPIED] = "copied",
		[VERDICT_DRIFT] = "drift?",	[VERDICT_OTHERS] = "others?",
	};

	return names[v];
}

bool verdict_is_claim(enum verdict v)
{
	return v == VERDICT_BETTER || v == VERDICT_WORSE || v == VERDICT_COPIED;
}

bool verdict_possible(const struct verdict_rule *r, size_t nbase, size_t nnew, size_t tests)
{
	return stats_mann_whitney_min(nbase, nnew) * (double)(tests ? tests : 1) < r->alpha;
}

size_t verdict_runs_needed(const struct verdict_rule *r, size_t tests)
{
	size_t n = 2;

	while (n < 1000 && !verdict_possible(r, n, n, tests))
		n++;
	return n;
}

enum verdict verdict_of(const struct verdict_rule *r, int better, double base, double new, double p)
{
	double change = new - base;

	if (isnan(p) || isnan(change))
		return VERDICT_NONE;
	if (p >= r->alpha || fabs(change) <= r->threshold * fabs(base))
		return VERDICT_SAME;
	if (!better)
		return VERDICT_NONE;
	if (change * better < 0)
		return VERDICT_WORSE;
	return r->copied ? VERDICT_COPIED : VERDICT_BETTER;
}

enum verdict verdict_beside_others(enum verdict v, double others_pct)
{
	return verdict_is_claim(v) && others_pct > VERDICT_OTHERS_PCT ? VERDICT_OTHERS : v;
}

static double verdict_range(const double *x, size_t n)
{
	return stats_quantile(x, n, 1) - stats_quantile(x, n, 0);
}

enum verdict verdict_after_drift(const struct verdict_rule *r, enum verdict v, double change,
				 const double *base, size_t nbase, const double *new, size_t nnew)
{
	if (!r->apart || !verdict_is_claim(v))
		return v;
	if (!r->drifts && fabs(change) > verdict_range(base, nbase) + verdict_range(new, nnew))
		return v;
	return VERDICT_DRIFT;
}

bool verdict_opposed(const struct estimate *i, double none, double change)
{
	return (i->lo >= none && change < none) || (i->hi <= none && change > none);
}
