// SPDX-License-Identifier: GPL-2.0-only
/*
 * rates: the CPU time of one unit of work at each rate, 1e9 / rate on one CPU, and its difference
 * from the first rate. The difference is absolute, because one percentage of a rate is another
 * time at each rate.
 */
#include "analyze/scope/measure.h"

#include <errno.h>

static const struct column rates_columns[] = {
	{"rate", "1/s", V_REAL, .digits = 1, .what = "units of work per second"},
	{"ns", "ns", V_REAL, .digits = 2, .what = "CPU time per unit of work, on one CPU"},
	{"delta_ns", "ns", V_REAL, .digits = 2, .what = "difference of ns from the first row"},
};

static int rates_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	int i;

	(void)s;
	if (!q->nrates)
		return error_set(err, EINVAL, "table 'rates' needs --rate R,R...");
	for (i = 0; i < q->nrates; i++) {
		struct value *row = table_row(t);

		table_set(t, row, "rate", value_real(q->rates[i]));
		table_set(t, row, "ns", value_real(1e9 / q->rates[i]));
		if (i)
			table_set(t, row, "delta_ns",
				  value_real(1e9 / q->rates[i] - 1e9 / q->rates[0]));
	}
	return 0;
}

const struct measure measure_rates = {
	.name = "rates",
	.what = "CPU time per unit of work at each rate, and the differences: --rate A,B",
	MEASURE_COLUMNS(rates_columns),
	.options = {[SOURCE_NUMBERS] = "rate"},
	.flags = MEASURE_RATES,
	.run = rates_run,
};
