/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the runs of a plan. Measure runs are interleaved, and each second round is reversed
 * (A B C, C B A, A B C ...), so that a drift over the hour affects all variants alike. The passes
 * profile and syscalls disturb more and come later. Settings change within a round, the first one
 * of the matrix least often, and they do not change between two rounds.
 *
 * With ORDER_BLOCKS all runs of one combination of settings come before those of the next. Each
 * combination is set up once, but a drift over the hour looks like an effect of the settings.
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

/* Returns the folder of a run under runs/, such as "mmap/measure-01". The caller frees. */
char *run_name(const struct plan *p, const struct run_id *id);

#endif
