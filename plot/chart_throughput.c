// SPDX-License-Identifier: GPL-2.0-only
/* One bar per variant: what the receiver got. */
#include "plot/chart_all.h"

#include "plot/rows.h"

#include <math.h>

/* The receiver's own figure; the sender's, or the only one, where there is no receiver. */
static long row_of(const struct table *t, const char *variant)
{
	long row = row_find(t, 0, variant, "receiver");

	return row >= 0 ? row : row_find(t, 0, variant, NULL);
}

static struct estimate put_variant(struct figure *f, const struct table *t, const char *variant,
				   int bar)
{
	long row = row_of(t, variant);
	struct estimate e = {.value = NAN};

	if (row >= 0)
		e = row_estimate(t, (size_t)row, "throughput_gbps", "throughput");
	if (row >= 0 && !isnan(e.value))
		figure_put(f, 0, bar, FIGURE_WHOLE, e);
	return e;
}

int chart_throughput(struct drawing *d, struct figure *f, struct error *err)
{
	struct estimate base = {.value = NAN}, e;
	struct table t = {0};
	const char *v;
	double best = 0, ratio;
	int i, rc = drawing_table(d, "summary", &t, err);

	if (rc)
		goto out;
	figure_title(f, "Throughput by variant");
	figure_subtitle(f, "What arrived at the receiver's application; higher is better");
	f->axis = "Gbit/s";
	figure_group(f, "");
	drawing_bars(d, f);
	for (i = 0; (v = drawing_variant(d, i)); i++) {
		e = put_variant(f, &t, v, i);
		base = i ? base : e;
		ratio = i ? claim(d, v, base, e, FROM_MEASURED, 1) : 0;
		if (ratio <= 0 || fabs(log(ratio)) <= best)
			continue;
		best = fabs(log(ratio));
		figure_title(f, "%s: %s the throughput of %s", v, claim_times(f, ratio), d->base);
	}
	drawing_foot(d, f, FROM_MEASURED);
out:
	table_free(&t);
	return rc;
}
