/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The CPU use of a driver, a component, a group: its share of the samples x the load under which
 * they were taken, in percent of all CPUs' time. The load is given, or, of a capture, measured: the
 * side's CPU use over its number of CPUs.
 */
#ifndef ZC_SYSTEM_LOAD_H
#define ZC_SYSTEM_LOAD_H

#include "analyze/measures/scope.h"

struct system_load {
	double pct,
		ci; /* NAN: not known; ci: half of its interval over the runs, 0 of a given one */
	bool measured, one_cpu; /* one_cpu: asked for with --cpu, which the load is not split by */
	int ncpus;
};

struct system_load system_load_of(struct store *s, const struct query *q, const struct block *b);

/* Half the interval of share x load, of both errors. */
double system_load_ci(const struct system_load *l, double share, double share_ci);

/* Into the notes; `b` without a variant: a file. */
void system_load_say(const struct system_load *l, const struct block *b, struct table *t);

#endif
