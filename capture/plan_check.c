// SPDX-License-Identifier: GPL-2.0-only
/* Checks a plan against the host that it is to run on. */
#include "capture/plan.h"

#include "collect/agent.h"
#include "collect/host.h"
#include "collect/run/user.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/intern.h"
#include "lib/str.h"
#include "workload/workload.h"

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

static void sides_set_user(struct side_plan *sides, int n, const char *user)
{
	int i;

	for (i = 0; i < n; i++) {
		free(sides[i].user);
		sides[i].user = xstrdup(user);
	}
}

void plan_set_user(struct plan *p, const char *user)
{
	size_t i;

	sides_set_user(p->sides, p->nsides, user);
	for (i = 0; i < p->ncombinations; i++)
		sides_set_user(p->combinations[i].plan->sides, p->nsides, user);
}

int plan_check_users(const struct plan *p, struct error *err)
{
	int side, rc = 0;
	size_t i;

	for (i = 0; i < p->nvariants; i++) {
		const struct side_plan *s = plan_sides(p, &p->variants[i]);

		for (side = 0; side < p->nsides && !rc; side++)
			if (*s[side].user && !*s[side].host)
				rc = user_check(s[side].user, err);
	}
	return rc;
}

static int side_check_cpus(const struct side_plan *s, const char *variant,
			   const struct cpuset *online, struct error *err)
{
	struct cpuset want;
	unsigned int cpu;

	if (*s->host || !*s->cpus)
		return 0;
	if (cpuset_parse(&want, s->cpus, err))
		return -EINVAL;
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&want, cpu) && !cpuset_has(online, cpu))
			return error_set(err, EINVAL,
					 "%s: cpus = %s: CPU %u is not online (variant %s)",
					 s->name, s->cpus, cpu, variant);
	return 0;
}

int plan_check_cpus(const struct plan *p, struct error *err)
{
	struct cpuset online;
	size_t i;
	int side, rc = cpuset_online(&online, err);

	for (i = 0; i < p->nvariants; i++) {
		const struct side_plan *sides = plan_sides(p, &p->variants[i]);

		for (side = 0; side < p->nsides && !rc; side++)
			rc = side_check_cpus(&sides[side], p->variants[i].name, &online, err);
	}
	return rc;
}

/* Fills the CPUs of a side in the plan's words. Returns false for a side that may use all CPUs. */
static bool side_read_cpus(const struct side_plan *s, struct cpuset *set)
{
	*set = (struct cpuset){0};
	return *s->cpus && !cpuset_parse(set, s->cpus, NULL);
}

/* Adds the CPUs that two sides share to `common`. Returns false if they share none. */
static bool sides_add_common(const struct side_plan *a, const struct side_plan *b,
			     struct cpuset *common, bool *all)
{
	struct cpuset of_a, of_b;
	bool any_a = !side_read_cpus(a, &of_a), any_b = !side_read_cpus(b, &of_b);
	bool shared = any_a && any_b;
	unsigned int cpu;

	if (strcmp(a->host, b->host) != 0)
		return false;
	*all |= shared;
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if ((any_a || cpuset_has(&of_a, cpu)) && (any_b || cpuset_has(&of_b, cpu)) &&
		    !(any_a && any_b)) {
			cpuset_add(common, cpu);
			shared = true;
		}
	return shared;
}

/* Returns "receiver and sender share CPUs 0-1" for the sides that share CPUs, or NULL. */
static char *sides_shared_cpus(const struct side_plan *s, int n)
{
	bool *shares = xcalloc((size_t)n + 1, sizeof(*shares)), all = false;
	struct cpuset common = {0};
	struct str text = {0};
	int i, k, left = 0, named = 0;
	char *list;

	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			if (sides_add_common(&s[i], &s[k], &common, &all))
				shares[i] = shares[k] = true;
	for (i = 0; i < n; i++)
		left += shares[i];
	for (i = 0; i < n; i++)
		if (shares[i])
			str_item(&text, !named++, !--left, s[i].name);
	list = cpuset_format(&common);
	if (text.len && all)
		str_puts(&text, " share all CPUs");
	else if (text.len)
		str_printf(&text, " share CPU%s %s", cpuset_count(&common) > 1 ? "s" : "", list);
	free(list);
	free(shares);
	return text.buf ? str_take(&text) : NULL;
}

static void plan_note_missing_perf(const struct plan *p)
{
	int i;

	if (!(p->passes & 1U << PASS_PROFILE) || host_has_program("perf"))
		return;
	for (i = 0; i < p->nsides; i++)
		if (!*p->sides[i].host && !*p->sides[i].collect) {
			warn("the profile pass will give no costs of functions: " NO_PERF);
			return;
		}
}

static void plan_note_shared_cpus(const struct plan *p)
{
	size_t *times = xcalloc(p->nvariants + 1, sizeof(*times)), i;
	const char **first = xcalloc(p->nvariants + 1, sizeof(*first));
	struct intern texts = {0};

	for (i = 0; i < p->nvariants; i++) {
		const struct side_plan *s = plan_sides(p, &p->variants[i]);
		char *cpus = sides_shared_cpus(s, p->nsides);
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
			"%s%s: per-CPU figures (cpu, profile, costs) of each side include the others', and a sum of the sides would count the CPUs twice, so it is left out; 'cpus' in [side] separates the sides",
			intern_get(&texts, (uint32_t)i), some);
		free(some);
	}
	intern_free(&texts);
	free(first);
	free(times);
}

static void plan_warn_units(const struct plan *p)
{
	int i;

	for (i = 0; i < p->nsides; i++) {
		char *doubt = units_doubt(p->sides[i].units);

		if (doubt)
			warn("units of side %s: %s", p->sides[i].name, doubt);
		free(doubt);
	}
}

void plan_note_start(const struct plan *p)
{
	plan_warn_units(p);
	plan_note_missing_perf(p);
	plan_note_shared_cpus(p);
}
