// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/scores.h"

#include "analyze/measures/calls.h"
#include "analyze/measures/manner.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <string.h>

/* THE TABLE of inputs, by the beginning of their names. */
static const struct {
	const char *name, *collector, *absent;
} inputs[] = {
	{"counter:", "counters",
	 "these events were not counted (collector 'counters'; a virtual machine may have no PMU)"},
	{"cpu_pct", "cpu", "CPU time was not collected (collector 'cpu')"},
	{"bytes", "workload", "the workload gave no account of its bytes (zcost capture --units)"},
	{"rate_kib", "workload",
	 "the workload gave no account of its bytes (zcost capture --units)"},
	{"rate_", "workload", "the workload gave no account of that (zcost capture --units)"},
	{"packets", "workload", "the workload gave no account of that (zcost capture --units)"},
	{"messages", "workload", "the workload gave no account of that (zcost capture --units)"},
	{INPUT_POWER, "power",
	 "no power source: 'zcost analyze --power-csv' imports a meter's, --power-model makes one "
	 "up"},
	{INPUT_CALLS, "syscalls", "no run counted its system calls (pass 'syscalls')"},
};

static const char *input_absent(struct store *s, const char *name)
{
	const char *sliced;
	size_t i;

	for (i = 0; i < array_size(inputs); i++) {
		if (!str_starts(name, inputs[i].name))
			continue;
		sliced = manner_absent(s, inputs[i].collector);
		return sliced ? sliced : inputs[i].absent;
	}
	return "it was not measured";
}

static bool has_input(struct store *s, const struct query *q, const struct run *r, const char *name)
{
	if (!strcmp(name, INPUT_CALLS))
		return !isnan(calls_of_run(s, r));
	if (!strcmp(name, INPUT_POWER))
		return !isnan(power_of(s, q, &r, 1).watts);
	return !isnan(figure_metric(s, r, name));
}

/* The first input that no run of the block has; NULL: each is in some run. */
static const char *missing_input(struct store *s, const struct query *q, const struct block_runs *b,
				 const struct score *k)
{
	const char *const names[] = {k->over, k->under};
	size_t i;
	int r;

	for (i = 0; i < array_size(names); i++) {
		for (r = 0; r < b->n && !has_input(s, q, &b->runs[r], names[i]); r++)
			;
		if (r == b->n)
			return input_absent(s, names[i]);
	}
	return NULL;
}

const char *score_absent(struct store *s, const struct query *q,
			 const struct block_runs *const sides[], int n, const struct score *k)
{
	const char *why = NULL;
	int i;

	for (i = 0; i < n && !why; i++)
		why = missing_input(s, q, sides[i], k);
	return why;
}
