// SPDX-License-Identifier: GPL-2.0-only
/* What a title may say. Where this is not sure, titles say what is drawn and no more. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "plot/copied.h"

#include <math.h>
#include <stdlib.h>

static const double threshold = 0.02, significant = 0.05;

static bool apart(struct estimate a, struct estimate b)
{
	return a.lo <= a.value && a.value <= a.hi && b.lo <= b.value && b.value <= b.hi &&
	       (a.hi < b.lo || b.hi < a.lo);
}

/* Could so many runs tell at all? */
static bool enough_runs(size_t a, size_t b)
{
	return a && b && stats_mann_whitney_min(a, b) < significant;
}

double claim(const struct drawing *d, const char *variant, struct estimate base,
	     struct estimate new, enum drawn_from from, int gain)
{
	double ratio = new.value / base.value, percent;
	const char *side;

	if (!(base.value > 0) || !(new.value >= 0) || !apart(base, new))
		return 0;
	if (from == FROM_MEASURED && !enough_runs(base.n, new.n))
		return 0;
	if (fabs(ratio - 1) < threshold)
		return 0;
	if ((ratio - 1) * gain > 0 &&
	    copied_state(&d->zerocopy, variant, &percent, &side) != COPIED_NONE)
		return 0;
	return ratio > 0 ? ratio : 0;
}

const char *claim_times(struct figure *f, double ratio)
{
	char *text = xasprintf("%.*f×", ratio < 1.995 ? 2 : ratio < 9.95 ? 1 : 0, ratio);
	const char *kept = arena_strdup(&f->arena, text);

	free(text);
	return kept;
}
