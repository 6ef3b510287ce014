// SPDX-License-Identifier: GPL-2.0-only
/* Checks a plan against the host that it is to run on. */
#include "capture/plan.h"

#include "collect/agent.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/intern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of linux/capability.h. Older headers lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

static bool caps_have(uint64_t caps, int cap)
{
	return caps >> cap & 1;
}

/* Returns how to get the rights on this host or on the host `where`. */
static const char *rights_way_out(const char *where)
{
	return *where ? "log in as root, or start zcost there by sudo ('zcost = sudo -n zcost')"
		      : "use sudo";
}

int plan_check_rights(const struct plan *p, const struct rights *r, const char *where,
		      struct error *err)
{
	bool all = caps_have(r->caps, SYS_ADMIN);

	if (p->passes & 1u << PASS_PROFILE && !all && !caps_have(r->caps, PERFMON) &&
	    r->paranoid > 0)
		return error_set(
			err, EPERM,
			"%sthe pass 'profile' samples whole CPUs, which needs root, or CAP_PERFMON, or kernel.perf_event_paranoid at 0 or less (now %d): %s, or leave the pass out: --pass measure",
			where, r->paranoid, rights_way_out(where));
	if (p->passes & 1u << PASS_SYSCALLS && !all &&
	    !(caps_have(r->caps, BPF) && caps_have(r->caps, PERFMON)) && r->paranoid > -1)
		return error_set(
			err, EPERM,
			"%sthe pass 'syscalls' loads a BPF program, which needs root, or CAP_BPF and CAP_PERFMON: %s, or leave the pass out: "
			"--pass measure",
			where, rights_way_out(where));
	return 0;
}

static int side_check_cpus(const struct side_plan *s, const char *side, const char *variant,
			   const struct cpuset *online, struct error *err)
{
	struct cpuset want;
	unsigned int cpu;

	if (!s->used || *s->host || !*s->cpus)
		return 0;
	if (cpuset_parse(&want, s->cpus, err))
		return -EINVAL;
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&want, cpu) && !cpuset_has(online, cpu))
			return error_set(err, EINVAL,
					 "%s: cpus = %s: CPU %u is not online (variant %s)", side,
					 s->cpus, cpu, variant);
	return 0;
}

int plan_check_cpus(const struct plan *p, struct error *err)
{
	struct cpuset online;
	size_t i;
	int side, rc = cpuset_online(&online, err);

	for (i = 0; i < p->nvariants; i++) {
		const struct side_plan *sides = plan_sides(p, &p->variants[i]);

		for (side = 0; side < SIDE_COUNT && !rc; side++)
			rc = side_check_cpus(&sides[side], side_names[side], p->variants[i].name,
					     &online, err);
	}
	return rc;
}

/* Returns "CPU 0" or "CPUs 0-1" for the CPUs in both sets, or NULL. */
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

/* Returns the CPUs that two sides share, or NULL. A side without `cpus` uses all CPUs. */
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

		print_note(
			"receiver and sender share %s%s: per-CPU figures (cpu, profile, costs) of each side include both, and totals count them once or not at all; 'cpus' in [side] separates the sides",
			intern_get(&texts, (uint32_t)i), some);
		free(some);
	}
	intern_free(&texts);
	free(first);
	free(times);
}
