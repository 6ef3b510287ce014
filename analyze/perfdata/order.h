/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which stacks are resolved: by version of the address space, so that maps are
 * replayed once, then by process, then by their frames from the root on, so that neighbours have
 * most of them in common. It depends on the stacks alone, not on which thread folded them.
 */
#ifndef ZC_PERFDATA_ORDER_H
#define ZC_PERFDATA_ORDER_H

#include "analyze/perfdata/pass_two.h"

struct stack_order {
	struct stack **stacks; /* those of all folds, one fold behind the other */
	uint32_t *order;       /* indexes of stacks */
	size_t n;
};

/* The folds keep the stacks, and how many they are, but no list of them. */
void stack_order_make(struct stack_order *so, struct folds *f);
void stack_order_free(struct stack_order *so);

#endif
