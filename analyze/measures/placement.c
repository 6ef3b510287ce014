// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/placement.h"

#include "analyze/model/notes.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	unsigned int cpu;
	int i;

	*m = (struct machine){0};
	m->n = host ? store_topology(s, host, &m->rows, err) : 0;
	if (m->n < 0)
		return m->n;
	for (i = 0; i < m->n; i++)
		if (placement_is(&m->rows[i], "core") && placement_parse(&set, m->rows[i].cpus))
			for (cpu = 0; cpu < CPUSET_MAX; cpu++)
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

static bool placement_same(const struct cpuset *a, const struct cpuset *b)
{
	return !memcmp(a->bits, b->bits, sizeof(a->bits));
}

/* Adds the core of a CPU, unless a lower CPU of the placement has the same core. */
static void add_core(struct placement *p, const struct topology_row *core, unsigned int cpu)
{
	unsigned int mine = 0, i;
	struct cpuset set;

	if (!placement_parse(&set, core->cpus))
		return;
	for (i = 0; i < cpu; i++)
		if (cpuset_has(&set, i) && cpuset_has(&p->cpus, i))
			return;
	for (i = 0; i < array_size(set.bits); i++) {
		mine += (unsigned int)__builtin_popcountll(set.bits[i] & p->cpus.bits[i]);
		p->siblings.bits[i] |= set.bits[i] & ~p->cpus.bits[i];
	}
	p->cores++;
	p->doubled += mine > 1;
	if (core->package >= 0 && core->package < CPUSET_MAX)
		cpuset_add(&p->packages, (unsigned int)core->package);
	if (core->node >= 0 && core->node < CPUSET_MAX)
		cpuset_add(&p->nodes, (unsigned int)core->node);
}

bool placement_of(struct placement *p, const struct machine *m, const char *cpus)
{
	unsigned int cpu;

	*p = (struct placement){0};
	if (!cpus)
		p->cpus = m->all;
	else if (!placement_parse(&p->cpus, cpus))
		return false;
	p->all = placement_same(&p->cpus, &m->all);
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&p->cpus, cpu) && cpuset_has(&m->all, cpu))
			add_core(p, &m->rows[m->core_of[cpu]], cpu);
	return p->cores > 0;
}

static bool is_candidate(const struct topology_row *r)
{
	return placement_is(r, "nic") && r->node >= 0 && r->node < CPUSET_MAX && r->up != 0;
}

bool placement_counts(const struct machine *m, const struct topology_row *nic)
{
	int i;

	if (!is_candidate(nic))
		return false;
	for (i = 0; i < m->n; i++)
		if (is_candidate(&m->rows[i]) && !isnan(m->rows[i].speed) &&
		    (isnan(nic->speed) || m->rows[i].speed > nic->speed))
			return false;
	return true;
}

/* --- notes --- */

static void placement_note_smt(struct notes *notes, const struct placement *p,
			       const char *other_side, const struct placement *other)
{
	char *mine = cpuset_format(&p->cpus), *text;
	struct cpuset both = {0};
	unsigned int cpu;

	if (p->doubled && !p->all)
		note_add(notes, topology_smt, mine, p->doubled);
	for (cpu = 0; other && cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&p->siblings, cpu) && cpuset_has(&other->cpus, cpu))
			cpuset_add(&both, cpu);
	text = cpuset_format(&both);
	if (cpuset_count(&both) && !other->all)
		note_add(notes, topology_shared_cores, mine, text, other_side);
	free(text);
	free(mine);
}

/* Cards on other nodes than the CPUs; a side that has CPUs on the card's node too is half there. */
static void placement_note_nics(struct notes *notes, const struct machine *m,
				const struct placement *p)
{
	char *cpus = cpuset_format(&p->cpus), *nodes = cpuset_format(&p->nodes);
	int i;

	for (i = 0; i < m->n && cpuset_count(&p->nodes); i++) {
		const struct topology_row *nic = &m->rows[i];

		if (!placement_counts(m, nic) || p->all)
			continue;
		if (!cpuset_has(&p->nodes, (unsigned int)nic->node))
			note_add(notes, topology_remote_nic, cpus, nodes, nic->name,
				 (long long)nic->node);
		else if (cpuset_count(&p->nodes) > 1)
			note_add(notes, topology_half_remote_nic, cpus, nodes, nic->name,
				 (long long)nic->node);
	}
	free(nodes);
	free(cpus);
}

void placement_add_notes(const struct machine *m, const struct placement *p, const char *other_side,
			 const struct placement *other, struct notes *notes)
{
	placement_note_smt(notes, p, other_side, other);
	placement_note_nics(notes, m, p);
}

/* --- of all runs --- */

static bool placement_one_repeat(const struct run *a, const struct run *b)
{
	return a->repeat == b->repeat && !strcmp(a->variant, b->variant) &&
	       !strcmp(a->pass, b->pass) && strcmp(a->side, b->side) && b->host &&
	       !strcmp(a->host, b->host);
}

static int placement_note_one(struct store *s, const struct run *runs, int n, const struct run *run,
			      struct error *err)
{
	struct notes notes = {0};
	struct placement p, other;
	struct machine m;
	bool said = false;
	size_t k;
	int i, rc = machine_read(&m, s, run->host, err);

	if (rc || !placement_of(&p, &m, run->cpus)) {
		machine_free(&m);
		return rc;
	}
	for (i = 0; i < n; i++)
		if (placement_one_repeat(run, &runs[i]) && placement_of(&other, &m, runs[i].cpus)) {
			placement_add_notes(&m, &p, runs[i].side, &other, &notes);
			said = true;
		}
	if (!said)
		placement_add_notes(&m, &p, NULL, NULL, &notes);
	machine_free(&m);
	for (k = 0; k < notes.n && !rc; k++)
		rc = store_note_add(s, run->id, &notes.note[k], err);
	notes_free(&notes);
	return rc;
}

int placement_notes(struct store *s, struct error *err)
{
	struct run_filter f = {0};
	struct run *runs;
	int n = store_runs(s, &f, &runs, err), i, rc;

	if (n < 0)
		return n;
	rc = store_begin(s, err);
	for (i = 0; i < n && !rc; i++)
		if (runs[i].host)
			rc = placement_note_one(s, runs, n, &runs[i], err);
	free(runs);
	return rc ? rc : store_commit(s, err);
}
