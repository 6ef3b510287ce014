// SPDX-License-Identifier: GPL-2.0-only
#include "capture/shared.h"

#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/intern.h"

#include <stdlib.h>
#include <string.h>

/* "CPU 0", "CPUs 0-1"; NULL: none. */
static char *cpus_in_both(const struct cpuset *a, const struct cpuset *b)
{
	struct cpuset common = {0};
	unsigned int cpu, n;
	char *list, *text;

	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(a, cpu) && cpuset_has(b, cpu))
			cpuset_add(&common, cpu);
	n = cpuset_count(&common);
	if (!n)
		return NULL;
	list = cpuset_format(&common);
	text = xasprintf("CPU%s %s", n > 1 ? "s" : "", list);
	free(list);
	return text;
}

/* A side without `cpus` is measured on all of them. */
static char *sides_common_cpus(const struct side_plan *a, const struct side_plan *b)
{
	struct cpuset of_a, of_b;

	if (!a->used || !b->used || strcmp(a->host, b->host) != 0)
		return NULL;
	if (!*a->cpus && !*b->cpus)
		return xstrdup("all CPUs");
	if (cpuset_parse(&of_a, *a->cpus ? a->cpus : b->cpus, NULL) ||
	    cpuset_parse(&of_b, *b->cpus ? b->cpus : a->cpus, NULL))
		return NULL;
	return cpus_in_both(&of_a, &of_b);
}

void plan_note_shared_cpus(const struct plan *p)
{
	size_t *times = xcalloc(p->nvariants + 1, sizeof(*times)), i;
	const char **first = xcalloc(p->nvariants + 1, sizeof(*first));
	struct intern texts = {0};

	for (i = 0; i < p->nvariants; i++) {
		const struct side_plan *s = plan_sides(p, &p->variants[i]);
		char *cpus = sides_common_cpus(&s[SIDE_RECEIVER], &s[SIDE_SENDER]);
		uint32_t id = cpus ? intern_str(&texts, cpus) : 0;

		if (cpus && !times[id]++)
			first[id] = p->variants[i].name;
		free(cpus);
	}
	for (i = 0; i < texts.n; i++) {
		char *some = times[i] < p->nvariants
				     ? xasprintf(" in %zu of %zu variants (%s first)", times[i],
						 p->nvariants, first[i])
				     : xstrdup("");

		note("receiver and sender share %s%s: what is measured by CPU (cpu, profile, "
		     "costs) is of both on either side, and totals count it once or not at all; "
		     "'cpus' of [side] keeps them apart",
		     intern_get(&texts, (uint32_t)i), some);
		free(some);
	}
	intern_free(&texts);
	free(first);
	free(times);
}
