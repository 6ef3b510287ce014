// SPDX-License-Identifier: GPL-2.0-only
/* Checks a plan against the host that it is to run on. */
#include "capture/plan.h"

#include "collect/agent.h"
#include "collect/host.h"
#include "collect/options.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/file.h"
#include "lib/words.h"

#include <errno.h>
#include <unistd.h>

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
	if (p->passes & (1u << PASS_SYSCALLS | 1u << PASS_TRACE) && !all &&
	    !(caps_have(r->caps, BPF) && caps_have(r->caps, PERFMON)) && r->paranoid > -1)
		return error_set(
			err, EPERM,
			"%sthe pass '%s' loads a BPF program, which needs root, or CAP_BPF and CAP_PERFMON: %s, or leave the pass out: "
			"--pass measure",
			where,
			pass_names[p->passes & 1u << PASS_SYSCALLS ? PASS_SYSCALLS : PASS_TRACE],
			rights_way_out(where));
	return 0;
}

static void sides_set_user(struct side_plan *sides, int n, const char *user)
{
	for (int i = 0; i < n; i++) {
		free(sides[i].user);
		sides[i].user = xstrdup(user);
	}
}

void plan_set_user(struct plan *p, const char *user)
{
	sides_set_user(p->sides, p->nsides, user);
	for (size_t i = 0; i < p->ncombinations; i++)
		sides_set_user(p->combinations[i].plan->sides, p->nsides, user);
}

/* Calls `check` for each side that runs on this host, with the keys that each variant has. */
static int plan_check_sides(const struct plan *p,
			    int (*check)(const struct side_plan *s, const char *variant,
					 struct error *err),
			    struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->nvariants; i++) {
		const struct side_plan *s = plan_sides(p, &p->variants[i]);

		for (int side = 0; side < p->nsides && !rc; side++)
			if (!*s[side].host)
				rc = check(&s[side], p->variants[i].name, err);
	}
	return rc;
}

static int side_check_user(const struct side_plan *s, const char *variant, struct error *err)
{
	(void)variant;
	return *s->user ? user_check(s->user, err) : 0;
}

int plan_check_users(const struct plan *p, struct error *err)
{
	return plan_check_sides(p, side_check_user, err);
}

static int side_check_cpus(const struct side_plan *s, const char *variant, struct error *err)
{
	struct cpuset want, online;

	if (!*s->cpus)
		return 0;
	if (cpuset_parse(&want, s->cpus, err) || cpuset_online(&online, err))
		return -err->code;
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&want, cpu) && !cpuset_has(&online, cpu))
			return error_set(err, EINVAL,
					 "%s: cpus = %s: CPU %u is not online (variant %s)",
					 s->name, s->cpus, cpu, variant);
	return 0;
}

int plan_check_cpus(const struct plan *p, struct error *err)
{
	return plan_check_sides(p, side_check_cpus, err);
}

/* Returns which CPUs two sides on one host share, such as "CPUs 0-1", or NULL. */
static char *sides_shared_cpus(const struct side_plan *a, const struct side_plan *b)
{
	struct cpuset of_a, of_b, common = {0};
	bool any_a = !*a->cpus || cpuset_parse(&of_a, a->cpus, NULL);
	bool any_b = !*b->cpus || cpuset_parse(&of_b, b->cpus, NULL);
	autofree char *list = NULL;

	if (strcmp(a->host, b->host) != 0)
		return NULL;
	if (any_a && any_b)
		return xstrdup("all CPUs");
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if ((any_a || cpuset_has(&of_a, cpu)) && (any_b || cpuset_has(&of_b, cpu)))
			cpuset_add(&common, cpu);
	list = cpuset_format(&common);
	return *list ? xasprintf("CPU%s %s", cpuset_count(&common) > 1 ? "s" : "", list) : NULL;
}

static void plan_note_missing_perf(const struct plan *p)
{
	if (!(p->passes & 1U << PASS_PROFILE) || host_has_program("perf"))
		return;
	for (int i = 0; i < p->nsides; i++)
		if (!*p->sides[i].host && !*p->sides[i].collect) {
			warn("the profile pass will give no costs of functions: " NO_PERF);
			return;
		}
}

/* Prints a note on the first two sides that share CPUs, and says whether there are any. */
static bool variant_note_shared_cpus(const struct plan *p, const struct variant *v)
{
	const struct side_plan *s = plan_sides(p, v);
	int i;

	for (i = 0; i < p->nsides; i++)
		for (int k = i + 1; k < p->nsides; k++) {
			autofree char *shared = sides_shared_cpus(&s[i], &s[k]);

			if (!shared)
				continue;
			print_note(
				"%s and %s share %s in variant %s: per-CPU figures (cpu, profile, costs) of each side include the others', and a sum of the sides would count the CPUs twice, so it is left out; 'cpus' in [side] separates the sides",
				s[i].name, s[k].name, shared, v->name);
			return true;
		}
	return false;
}

void plan_note_start(const struct plan *p)
{
	plan_note_missing_perf(p);
	for (size_t i = 0; i < p->nvariants && !variant_note_shared_cpus(p, &p->variants[i]); i++)
		;
}

/* --- programs and scripts --- */

static int program_check(const char *program, struct error *err)
{
	if (!strchr(program, '/'))
		return host_has_program(program) ? 0
						 : error_set(err, EINVAL,
							     "there is no program '%s' in PATH: "
							     "install it, or write its path",
							     program);
	if (!path_exists(program))
		return error_set(err, EINVAL,
				 "there is no %s: build or install it, or write another path",
				 program);
	return access(program, X_OK)
		       ? error_set(err, EINVAL, "%s: not executable: chmod +x", program)
		       : 0;
}

/* Says whether the program at `next` is looked up in another PATH, as behind env PATH=... */
static bool program_has_own_path(char *const word[], size_t at, size_t next)
{
	for (; at < next; at++)
		if (str_starts(word[at], "PATH="))
			return true;
	return false;
}

/*
 * Checks the program of a side, and the programs before it that run it. The program behind a prefix
 * that lib/words.c does not know may lie in a container.
 */
static int side_check_program(const struct side_plan *s, const struct variant *v,
			      const char *command, struct error *err)
{
	freed(words_free) struct words w = {0};
	struct error e = {0};
	size_t at = 0, next, prefix;
	int rc = words_split(&w, s->prefix, err);

	prefix = w.n;
	rc = rc ?: words_split(&w, command, err);
	while (!rc && at < w.n) {
		next = program_next(w.word, at);
		if (at >= prefix && program_check(w.word[at], &e))
			rc = error_set(err, EINVAL, "variant %s, %s: %s", v->name, s->name, e.text);
		if (next == at || program_has_own_path(w.word, at, next))
			break;
		at = next;
	}
	return rc;
}

int hook_check_script(const char *owner, const char *before, struct error *err)
{
	freed(words_free) struct words w = {0};
	bool runs = true;

	if (strpbrk(before, ";&|<>()`\n") || words_split(&w, before, NULL))
		return 0;
	for (size_t i = 0; i < w.n; i++) {
		const char *word = w.word[i];

		if (runs && *word == '/' && !strpbrk(word, "$*?[") && !path_exists(word))
			return error_set(
				err, EINVAL,
				"%s's 'before': there is no %s: copy it there, or change its path in the plan (${plandir} is the folder of the plan; quote a path with spaces)",
				owner, word);
		/* Does the next word name a file to run? */
		runs = str_matches_any(". bash env exec perl python3 sh sudo", word);
	}
	return 0;
}

int variant_check_programs(const struct plan *p, const struct variant *v, struct error *err)
{
	const struct side_plan *s = plan_sides(p, v);
	int rc = 0;

	for (int side = 0; side < p->nsides && !rc; side++)
		if (!*s[side].host)
			rc = side_check_program(&s[side], v, v->command[side], err);
	return rc;
}

/*
 * A program that `before` of the plan or of a setting may make is a note. `said` has the notes that
 * were printed.
 */
static int variant_check_early(const struct plan *p, const struct variant *v, struct str *said,
			       struct error *err)
{
	const struct combination *c = plan_combination(p, v->combination);
	bool made = *p->before;
	struct error e = {0};

	for (size_t i = 0; i < c->n; i++)
		made |= *c->set[i].hooks.before;
	if (!variant_check_programs(p, v, &e))
		return 0;
	if (!made)
		return error_set(err, EINVAL, "%s", e.text);
	if (!said->buf || !strstr(said->buf, e.text))
		print_note("%s, unless 'before' makes it", e.text);
	str_printf(said, "%s\n", e.text);
	return 0;
}

int plan_check_programs(const struct plan *p, struct error *err)
{
	int rc = hook_check_script("the plan", p->before, err);
	freed(str_free) struct str said = {0};

	for (size_t i = 0; i < p->nvariants && !rc; i++)
		rc = variant_check_early(p, &p->variants[i], &said, err);
	return rc;
}
