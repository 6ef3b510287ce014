// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tables.h"

#include "analyze/measures/costs.h"

static const struct cost_table table = {.keys = {BY_MODULE}, .nkeys = 1};

const struct column modules_columns[5] = {
	{"module", NULL, V_STR, 0, NULL},
	{"samples", NULL, V_INT, 0, "samples taken in it"},
	{"self_share", "%", V_REAL, 2, "its share"},
	{"self_ns", "ns", V_REAL, 1, "self_share x basis"},
	{"self_ns_ci", "ns", V_REAL, 1, "half its 95 % interval"},
};

int modules_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	return cost_table_run(&table, s, q, t, err);
}
