/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples and weight per stack, event, CPU and thread. Most stacks have one or two rows, which hang
 * at the stack itself; only what more there is of a stack is found through a table.
 */
#ifndef ZC_PERFDATA_FOLD_COSTS_H
#define ZC_PERFDATA_FOLD_COSTS_H

#include "analyze/perfdata/stacks.h"

struct fold_cost {
	uint32_t stack, event, cpu, comm, pid, tid; /* the key */
	uint64_t samples, weight;
	uint32_t next; /* row of the same stack + 1; 0: none */
};

struct fold_costs {
	struct fold_cost *list;
	uint64_t *slots; /* open addressing: low half of the hash, index into list + 1 */
	size_t n, cap, nslots, used;
};

/* The key's row of its stack, made where there is none. Valid until the next call. */
struct fold_cost *fold_costs_row(struct fold_costs *c, struct stack *stack,
				 const struct fold_cost *key);

/* The row that will most likely be asked for is fetched. */
static inline void fold_costs_prefetch(const struct fold_costs *c, const struct stack *stack)
{
	if (stack->last_cost)
		__builtin_prefetch(&c->list[stack->last_cost - 1], 1);
}

/* No row is looked for any more: only `list` stays. */
void fold_costs_finish(struct fold_costs *c);
void fold_costs_free(struct fold_costs *c);

#endif
