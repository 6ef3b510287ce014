/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a side's CPUs lie in its host: relative to each other, to the other side's, to the network
 * cards. */
#ifndef ZC_PLACEMENT_H
#define ZC_PLACEMENT_H

#include "analyze/measures/scope.h"
#include "analyze/store/store.h"
#include "lib/cpuset.h"
#include "lib/str.h"

#include <stdbool.h>

/* A host as the store has it; n 0: nothing is known of it. */
struct machine {
	struct topology_row *rows;
	int n;
	struct cpuset all;	 /* CPUs of its cores */
	int core_of[CPUSET_MAX]; /* the row of a CPU's core, where `all` has the CPU */
};

int machine_read(struct machine *m, struct store *s, const char *host, struct error *err);
void machine_free(struct machine *m);

struct placement {
	struct cpuset cpus;
	bool all;		       /* every CPU of the host */
	struct cpuset packages, nodes; /* their numbers */
	unsigned int cores,
		doubled;	/* cores of these CPUs; those of which it has several threads */
	struct cpuset siblings; /* other threads of these cores, not among the CPUs */
};

/* `cpus` as in the run, NULL for all. False: nothing is known of the host, or of these CPUs. */
bool placement_of(struct placement *p, const struct machine *m, const char *cpus);

/*
 * The card that counts: of those that are up and whose node is told the fastest; all of them where
 * speeds are not told. False: row `nic` is not such a card.
 */
bool placement_counts(const struct machine *m, const struct topology_row *nic);

/* Adds what slows a side at its place; `other` is the other side's place on the same host, or NULL.
 */
void placement_add_notes(const struct machine *m, const struct placement *p, const char *other_side,
			 const struct placement *other, struct notes *notes);

/* Stores these notes for every run. 0 or -errno. */
int placement_notes(struct store *s, struct error *err);

/*
 * Sides of one host may be measured on the same CPUs. What was measured by CPU is then in the
 * figures of both, and their sum has it twice.
 */

/* "receiver and sender share CPU 0"; NULL: no two of these runs do. The caller frees. */
char *shared_cpus(const struct run *const sides[], int n);

/* Returns the same for named sides of the query's variant, in the first repeat that shares CPUs. */
char *shared_cpus_of(struct store *s, const struct query *q, const char *const sides[], int n);

/*
 * CPU use of sides[i] on the CPUs that no side before it has: added up over the sides, each CPU
 * counts once. NAN where it is not known, be it CPU by CPU.
 */
double cpu_pct_besides(struct store *s, const struct run *const sides[], int i);

/* Why a sum of costs has no value there, and the way out; follows the text of shared_cpus(). */
#define SHARED_CPUS_TWICE "their sum would count them twice: give each side its own cpus"

#endif
