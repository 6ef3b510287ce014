/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place of a side's CPUs in the host: relative to each other, to the other side's CPUs, and to
 * the network cards.
 */
#ifndef ZC_PLACEMENT_H
#define ZC_PLACEMENT_H

#include "analyze/scope/scope.h"
#include "analyze/store/store.h"

/* The topology of a host in the store. n is 0 if the topology is not known. */
struct machine {
	struct topology_row *rows;
	int n;
	struct cpuset all;	 /* CPUs of the host's cores */
	int core_of[CPUSET_MAX]; /* row of the CPU's core, valid only for CPUs in `all` */
};

int machine_read(struct machine *m, struct store *s, const char *host, struct error *err);
void machine_free(struct machine *m);

struct placement {
	struct cpuset cpus;
	bool all;		       /* every CPU of the host */
	struct cpuset packages, nodes; /* numbers of the packages and nodes */
	unsigned int cores, doubled;   /* cores of the CPUs; cores with several of the CPUs */
	struct cpuset siblings; /* hardware threads of the cores that are not among the CPUs */
};

/*
 * Fills the placement of `cpus`, a CPU list or NULL for all CPUs. Returns false if the topology of
 * the host or of the CPUs is not known.
 */
bool placement_of(struct placement *p, const struct machine *m, const char *cpus);

/*
 * Returns true if row `nic` is a card to warn about. That is the fastest card that is up and has a
 * known node, or each such card if the speeds are not known.
 */
bool placement_counts(const struct machine *m, const struct topology_row *nic);

/* Stores the placement notes of the runs. Returns 0 or -errno. */
int placement_notes(struct store *s, const struct run *runs, int n, struct error *err);

/* Returns false if a host is not known. */
bool placement_is_one_host(const struct run *a, const struct run *b);

/*
 * Two sides on one host may share CPUs. Figures measured by CPU then belong to both sides, and the
 * sum of both sides counts them twice.
 */

/*
 * Returns "receiver and sender share CPU 0", or NULL if no two runs share a CPU. The caller frees
 * the text.
 */
char *shared_cpus(const struct run *const sides[], int n);

/*
 * Returns the CPU use of sides[i] on the CPUs that no earlier side uses. The sum over the sides
 * thus counts each CPU once. Returns NAN if the CPU use, or the CPU use of one CPU, is not known.
 */
double cpu_pct_unshared(struct store *s, const struct run *const sides[], int i);

/* Follows the text of shared_cpus() and says why the sum is missing. */
#define SHARED_CPUS_TWICE "their sum would count them twice; give each side separate CPUs"

#endif
