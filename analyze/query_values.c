// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/query_values.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void query_set_cpus(const struct argp_state *state, struct query *q, struct cpuset *set,
		    const char *arg)
{
	struct error err = {0};

	if (cpuset_parse(set, arg, &err))
		argp_error(state, "--cpu: %s", err.text);
	q->cpus = set;
}

void query_set_basis(const struct argp_state *state, struct query *q, const char *arg)
{
	if (!strcmp(arg, "wall"))
		q->basis = BASIS_WALL;
	else if (!strcmp(arg, "busy"))
		q->basis = BASIS_BUSY;
	else
		argp_error(state, "--basis '%s' is neither wall nor busy", arg);
}

static bool is_watts(double x)
{
	return isfinite(x) && x >= 0;
}

void query_set_variant(const struct argp_state *state, struct query *q, const char *arg)
{
	if (q->variant)
		argp_error(
			state,
			"--variant '%s': '%s' is given already; one glob takes several: 'mmap*', "
			"'[bm]*'",
			arg, q->variant);
	q->variant = arg;
}

void query_set_model(const struct argp_state *state, struct query *q, const char *arg)
{
	int end = 0;

	if (sscanf(arg, "idle=%lf,per_cpu=%lf%n", &q->model_idle, &q->model_per_cpu, &end) != 2 ||
	    arg[end] || !is_watts(q->model_idle) || !is_watts(q->model_per_cpu))
		argp_error(state, "--power-model '%s' is not idle=WATTS,per_cpu=WATTS", arg);
}

void query_add_group(struct query *q, const char *arg)
{
	q->groups = xrealloc(q->groups, (q->ngroups + 1) * sizeof(*q->groups));
	q->groups[q->ngroups++] = arg;
}

void query_set_time(const struct argp_state *state, struct time_point *p, const char *option,
		    const char *arg)
{
	if (time_point_parse(p, arg))
		argp_error(state, "%s '%s' is neither a time in seconds nor +SECONDS", option, arg);
}
