// SPDX-License-Identifier: GPL-2.0-only
#include "capture/permit.h"

#include "lib/cpuset.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Of linux/capability.h: older headers lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

static bool caps_have(uint64_t caps, int cap)
{
	return caps >> cap & 1;
}

/* How to get the rights, here and on a side's host. */
static const char *rights_way_out(const char *where)
{
	return *where ? "log in as root, or start zcost there by sudo ('zcost = sudo -n zcost')"
		      : "use sudo";
}

int plan_check_rights(const struct plan *p, const struct rights *r, const char *where, struct error *err)
{
	bool all = caps_have(r->caps, SYS_ADMIN);

	if (p->passes & 1u << PASS_PROFILE && !all && !caps_have(r->caps, PERFMON) && r->paranoid > 0)
		return error_set(err, EPERM,
				 "%sthe pass 'profile' samples whole CPUs, which needs root, or "
				 "CAP_PERFMON, or kernel.perf_event_paranoid at 0 or less (now "
				 "%d): %s, or leave the pass out: --pass measure",
				 where, r->paranoid, rights_way_out(where));
	if (p->passes & 1u << PASS_SYSCALLS && !all &&
	    !(caps_have(r->caps, BPF) && caps_have(r->caps, PERFMON)) && r->paranoid > -1)
		return error_set(err, EPERM,
				 "%sthe pass 'syscalls' loads a BPF program, which needs root, or "
				 "CAP_BPF and CAP_PERFMON: %s, or leave the pass out: "
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
