// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/placement.h"

#include "analyze/scope/runs.h"

#include <math.h>

static bool placement_is(const struct topology_row *r, const char *kind)
{
	return !strcmp(r->kind, kind);
}

static bool placement_parse(struct cpuset *set, const char *text)
{
	return text && *text && !cpuset_parse(set, text, NULL);
}

int machine_read(struct machine *m, struct store *s, const char *host, struct error *err)
{
	struct cpuset set;

	*m = (struct machine){0};
	m->n = host ? store_topology(s, host, &m->rows, err) : 0;
	if (m->n < 0)
		return m->n;
	for (int i = 0; i < m->n; i++)
		if (placement_is(&m->rows[i], "core") && placement_parse(&set, m->rows[i].cpus))
			for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
				if (cpuset_has(&set, cpu)) {
					cpuset_add(&m->all, cpu);
					m->core_of[cpu] = i;
				}
	return 0;
}

void machine_free(struct machine *m)
{
	free(m->rows);
	*m = (struct machine){0};
}

/* Adds the core of a CPU unless a lower CPU of the placement is on the same core. */
static void placement_add_core(struct placement *p, const struct topology_row *core,
			       unsigned int cpu)
{
	unsigned int mine = 0;
	struct cpuset set;

	if (!placement_parse(&set, core->cpus))
		return;
	for (unsigned int i = 0; i < cpu; i++)
		if (cpuset_has(&set, i) && cpuset_has(&p->cpus, i))
			return;
	for (unsigned int i = 0; i < array_size(set.bits); i++) {
		mine += (unsigned int)__builtin_popcountll(set.bits[i] & p->cpus.bits[i]);
		p->siblings.bits[i] |= set.bits[i] & ~p->cpus.bits[i];
	}
	p->cores++;
	p->doubled += mine > 1;
	if (core->package >= 0)
		cpuset_add(&p->packages, (unsigned int)core->package);
	if (core->node >= 0)
		cpuset_add(&p->nodes, (unsigned int)core->node);
}

bool placement_of(struct placement *p, const struct machine *m, const char *cpus)
{
	*p = (struct placement){0};
	if (!cpus)
		p->cpus = m->all;
	else if (!placement_parse(&p->cpus, cpus))
		return false;
	p->all = !memcmp(p->cpus.bits, m->all.bits, sizeof(m->all.bits));
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&p->cpus, cpu) && cpuset_has(&m->all, cpu))
			placement_add_core(p, &m->rows[m->core_of[cpu]], cpu);
	return p->cores > 0;
}

static bool placement_is_candidate(const struct topology_row *r)
{
	return placement_is(r, "nic") && r->node >= 0 && r->up != 0;
}

bool placement_counts(const struct machine *m, const struct topology_row *nic)
{
	if (!placement_is_candidate(nic))
		return false;
	return !array_find(other, m->rows, m->n,
			   placement_is_candidate(other) && !isnan(other->speed) &&
				   (isnan(nic->speed) || other->speed > nic->speed));
}

/* --- notes --- */

static void placement_note_smt(struct notes *notes, const struct placement *p)
{
	autofree char *mine = cpuset_format(&p->cpus);

	if (p->doubled && !p->all)
		note_add(notes, topology_smt, mine, p->doubled);
}

static void placement_note_cores(struct notes *notes, const struct placement *p,
				 const char *other_side, const struct placement *other)
{
	autofree char *mine = cpuset_format(&p->cpus), *text = NULL;
	struct cpuset both = {0};

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&p->siblings, cpu) && cpuset_has(&other->cpus, cpu))
			cpuset_add(&both, cpu);
	text = cpuset_format(&both);
	if (cpuset_count(&both) && !other->all)
		note_add(notes, topology_shared_cores, mine, text, other_side);
}

/*
 * Adds a note for each card on another node than the side's CPUs. Some of the CPUs may still be on
 * the card's node.
 */
static void placement_note_nics(struct notes *notes, const struct machine *m,
				const struct placement *p)
{
	autofree char *cpus = cpuset_format(&p->cpus), *nodes = cpuset_format(&p->nodes);

	for (int i = 0; i < m->n && cpuset_count(&p->nodes); i++) {
		const struct topology_row *nic = &m->rows[i];

		if (!placement_counts(m, nic) || p->all)
			continue;
		if (!cpuset_has(&p->nodes, (unsigned int)nic->node))
			note_add(notes, topology_remote_nic, cpus, nodes, nic->name,
				 (long long)nic->node, "its");
		else if (cpuset_count(&p->nodes) > 1)
			note_add(notes, topology_remote_nic, cpus, nodes, nic->name,
				 (long long)nic->node, "some of its")
				->severity = SEVERITY_INFO;
	}
}

/* --- of all runs --- */

bool placement_is_one_host(const struct run *a, const struct run *b)
{
	return a->host && b->host && !strcmp(a->host, b->host);
}

static int placement_note_one(struct store *s, const struct run *runs, int n, const struct run *run,
			      struct error *err)
{
	struct notes notes = {0};
	struct placement p, other;
	freed(machine_free) struct machine m;
	int rc = machine_read(&m, s, run->host, err);

	if (rc || !placement_of(&p, &m, run->cpus))
		return rc;
	placement_note_smt(&notes, &p);
	for (int i = 0; i < n; i++)
		if (run_is_of(run, &runs[i]) && strcmp(run->side, runs[i].side) &&
		    placement_is_one_host(run, &runs[i]) && placement_of(&other, &m, runs[i].cpus))
			placement_note_cores(&notes, &p, runs[i].side, &other);
	placement_note_nics(&notes, &m, &p);
	return store_notes_add(s, run->id, &notes, err);
}

int placement_notes(struct store *s, const struct run *runs, int n, struct error *err)
{
	int rc = 0;

	for (int i = 0; i < n && !rc; i++)
		if (runs[i].host)
			rc = placement_note_one(s, runs, n, &runs[i], err);
	return rc;
}

/* --- CPUs that sides share --- */

/* Returns "CPU 0", "CPUs 0-1", "all CPUs", or NULL if the runs share no CPU. */
static char *placement_common_cpus(const struct run *a, const struct run *b)
{
	struct cpuset of_a, of_b, both = {0};
	bool all_a = !placement_parse(&of_a, a->cpus), all_b = !placement_parse(&of_b, b->cpus);
	autofree char *list = NULL;

	if (!placement_is_one_host(a, b))
		return NULL;
	if (all_a && all_b)
		return xstrdup("all CPUs");
	for (int i = 0; i < CPUSET_MAX / 64; i++)
		both.bits[i] = (all_a ? ~0ULL : of_a.bits[i]) & (all_b ? ~0ULL : of_b.bits[i]);
	if (!cpuset_count(&both))
		return NULL;
	list = cpuset_format(&both);
	return xasprintf("CPU%s %s", cpuset_count(&both) > 1 ? "s" : "", list);
}

char *shared_cpus(const struct run *const sides[], int n)
{
	for (int i = 0; i < n; i++)
		for (int k = i + 1; k < n; k++) {
			autofree char *cpus = placement_common_cpus(sides[i], sides[k]);

			if (cpus)
				return xasprintf("%s and %s share %s", sides[i]->side,
						 sides[k]->side, cpus);
		}
	return NULL;
}

/* Returns the CPU use on the side's CPUs that are not in `before`. */
static double placement_cpu_pct_elsewhere(struct store *s, const struct run *side,
					  const struct cpuset *before)
{
	autofree struct metric_row *rows = NULL;
	int n = store_metrics(s, side->id, "cpu_pct", OF_EACH_CPU, &rows, NULL);
	double sum = n > 0 ? 0 : NAN;

	for (int i = 0; i < n; i++)
		if (!cpuset_has(before, (unsigned int)rows[i].key.cpu))
			sum += rows[i].value;
	return sum;
}

double cpu_pct_unshared(struct store *s, const struct run *const sides[], int i)
{
	struct cpuset before = {0}, set;
	bool shares = false;
	char *common;

	for (int k = 0; k < i; k++) {
		if (!placement_is_one_host(sides[k], sides[i]))
			continue;
		common = placement_common_cpus(sides[k], sides[i]);
		shares |= common != NULL;
		free(common);
		if (!placement_parse(&set, sides[k]->cpus))
			return 0; /* an earlier side has all CPUs of the host */
		for (int word = 0; word < CPUSET_MAX / 64; word++)
			before.bits[word] |= set.bits[word];
	}
	return shares ? placement_cpu_pct_elsewhere(s, sides[i], &before)
		      : figure_metric(s, sides[i], "cpu_pct");
}
