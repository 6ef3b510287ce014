/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sides of one host may be measured on the same CPUs. What was measured by CPU is then in the
 * figures of both, and their sum has it twice.
 */
#ifndef ZC_SHARED_CPUS_H
#define ZC_SHARED_CPUS_H

#include "analyze/measures/scope.h"

/* "receiver and sender share CPU 0"; NULL: no two of these runs do. The caller frees. */
char *shared_cpus(const struct run *const sides[], int n);

/* The same of the sides named, of the query's variant: of the first repeat that has it. */
char *shared_cpus_of(struct store *s, const struct query *q, const char *const sides[], int n);

/*
 * CPU use of sides[i] on the CPUs that no side before it has: added up over the sides, each CPU
 * counts once. NAN where it is not known, be it CPU by CPU.
 */
double cpu_pct_besides(struct store *s, const struct run *const sides[], int i);

/* Why a sum of costs has no value there, and the way out; follows the text of shared_cpus(). */
#define SHARED_CPUS_TWICE "their sum would count them twice: give each side its own cpus"

#endif
