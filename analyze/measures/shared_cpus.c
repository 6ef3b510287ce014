// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/shared_cpus.h"

#include "lib/alloc.h"
#include "lib/cpuset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char of_cpu[] = "cpu_pct:cpu";

/* False: it is a run of all CPUs of its host. */
static bool told_cpus(const struct run *r, struct cpuset *set)
{
	memset(set, 0, sizeof(*set));
	return r->cpus && *r->cpus && !cpuset_parse(set, r->cpus, NULL);
}

static bool shared_cpus_same_host(const struct run *a, const struct run *b)
{
	return a->host && b->host && !strcmp(a->host, b->host);
}

/* "CPU 0", "CPUs 0-1", "all CPUs"; NULL: none. */
static char *common_cpus(const struct run *a, const struct run *b)
{
	struct cpuset of_a, of_b, both = {0};
	bool all_a = !told_cpus(a, &of_a), all_b = !told_cpus(b, &of_b);
	unsigned int cpu;
	char *list, *text;

	if (!shared_cpus_same_host(a, b))
		return NULL;
	if (all_a && all_b)
		return xstrdup("all CPUs");
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if ((all_a || cpuset_has(&of_a, cpu)) && (all_b || cpuset_has(&of_b, cpu)))
			cpuset_add(&both, cpu);
	if (!cpuset_count(&both))
		return NULL;
	list = cpuset_format(&both);
	text = xasprintf("CPU%s %s", cpuset_count(&both) > 1 ? "s" : "", list);
	free(list);
	return text;
}

char *shared_cpus(const struct run *const sides[], int n)
{
	char *cpus, *text;
	int i, k;

	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++) {
			cpus = common_cpus(sides[i], sides[k]);
			if (!cpus)
				continue;
			text = xasprintf("%s and %s share %s", sides[i]->side, sides[k]->side,
					 cpus);
			free(cpus);
			return text;
		}
	return NULL;
}

static bool shared_cpus_one_repeat(const struct run *a, const struct run *b)
{
	return a->repeat == b->repeat && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->pass, b->pass);
}

static bool is_among(const char *side, const char *const sides[], int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(side, sides[i]))
			return true;
	return false;
}

char *shared_cpus_of(struct store *s, const struct query *q, const char *const sides[], int n)
{
	struct run_filter f = {q->variant, q->pass, NULL, q->repeat, false};
	struct run *runs;
	int all = store_runs(s, &f, &runs, NULL), i, k;
	char *text = NULL;

	for (i = 0; i < all && !text; i++)
		for (k = i + 1; k < all && !text; k++) {
			const struct run *both[] = {&runs[i], &runs[k]};

			if (shared_cpus_one_repeat(both[0], both[1]) &&
			    is_among(both[0]->side, sides, n) && is_among(both[1]->side, sides, n))
				text = shared_cpus(both, 2);
		}
	if (all >= 0)
		free(runs);
	return text;
}

/* Those of the side's CPUs that the sides before it on its host do not have. */
static double on_other_cpus(struct store *s, const struct run *side, const struct cpuset *before)
{
	struct metric_row *rows;
	int n = store_metric_prefix(s, side->id, of_cpu, &rows, NULL), i;
	double sum = n > 0 ? 0 : NAN;
	unsigned int cpu;

	for (i = 0; i < n; i++)
		if (sscanf(rows[i].name, "cpu_pct:cpu%u", &cpu) == 1 && !cpuset_has(before, cpu))
			sum += rows[i].value;
	if (n >= 0)
		free(rows);
	return sum;
}

double cpu_pct_besides(struct store *s, const struct run *const sides[], int i)
{
	struct cpuset before = {0}, set;
	bool shares = false;
	unsigned int cpu;
	char *common;
	int k;

	for (k = 0; k < i; k++) {
		if (!shared_cpus_same_host(sides[k], sides[i]))
			continue;
		common = common_cpus(sides[k], sides[i]);
		shares |= common != NULL;
		free(common);
		if (!told_cpus(sides[k], &set))
			return 0; /* of all CPUs: nothing is left */
		for (cpu = 0; cpu < CPUSET_MAX; cpu++)
			if (cpuset_has(&set, cpu))
				cpuset_add(&before, cpu);
	}
	return shares ? on_other_cpus(s, sides[i], &before) : figure_metric(s, sides[i], "cpu_pct");
}
