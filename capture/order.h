/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In which order the runs of a plan go. Measure runs are interleaved and turned round each time
 * (A B C, C B A, A B C ...), so that what drifts over the hour drifts over all variants alike; the
 * passes that disturb, profile and syscalls, come after them. Settings change within each round,
 * the first one of the matrix least often, and not between two rounds.
 *
 * With ORDER_BLOCKS all runs of one combination of settings come before those of the next: each is
 * set up once, and what drifts over the hour looks like an effect of the settings.
 */
#ifndef ZC_CAPTURE_ORDER_H
#define ZC_CAPTURE_ORDER_H

#include "capture/plan.h"

struct run_id {
	size_t variant; /* index into the plan's variants */
	enum pass pass;
	unsigned int repeat; /* from 1 */
};

struct order {
	struct run_id *run;
	size_t n;
};

void order_make(struct order *o, const struct plan *p);
void order_free(struct order *o);

/* "mmap/measure-01": the run's folder under runs/; the caller frees. */
char *run_name(const struct plan *p, const struct run_id *id);

#endif
