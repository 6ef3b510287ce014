// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/fold_costs.h"

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ROWS_AT_STACK = 8, FIRST_SLOTS = 1 << 10 };

static uint64_t cost_hash(const struct fold_cost *c)
{
	uint64_t w[3];

	memcpy(w, c, sizeof(w));
	return stacks_mix(stacks_mix(w[0], 0x9e3779b97f4a7c15ULL) ^ w[1],
			  w[2] ^ 0xd6e8feb86659fd93);
}

static bool same_cost(const struct fold_cost *a, const struct fold_cost *b)
{
	return !memcmp(a, b, offsetof(struct fold_cost, samples));
}

static uint64_t *find_slot(const struct fold_costs *c, const struct fold_cost *key, uint64_t hash)
{
	size_t i = (uint32_t)hash & (c->nslots - 1);

	while (c->slots[i] && (c->slots[i] >> 32 != (uint32_t)hash ||
			       !same_cost(&c->list[(uint32_t)c->slots[i] - 1], key)))
		i = (i + 1) & (c->nslots - 1);
	return &c->slots[i];
}

static void grow_slots(struct fold_costs *c)
{
	uint64_t *old = c->slots;
	size_t n = c->nslots, i, at;

	c->nslots = n ? n * 2 : FIRST_SLOTS;
	c->slots = xcalloc_touched(c->nslots, sizeof(*c->slots));
	for (i = 0; i < n; i++) {
		if (!old[i])
			continue;
		for (at = (old[i] >> 32) & (c->nslots - 1); c->slots[at];)
			at = (at + 1) & (c->nslots - 1);
		c->slots[at] = old[i];
	}
	free(old);
}

static uint32_t add_row(struct fold_costs *c, const struct fold_cost *key, uint32_t next)
{
	struct fold_cost *row;

	array_grow(c->list, c->n, c->cap);
	row = &c->list[c->n];
	*row = *key;
	row->samples = row->weight = 0;
	row->next = next;
	return (uint32_t)++c->n;
}

static uint32_t find_in_table(struct fold_costs *c, const struct fold_cost *key)
{
	uint64_t hash = cost_hash(key), *slot;

	if (c->used * 2 >= c->nslots)
		grow_slots(c);
	slot = find_slot(c, key, hash);
	if (!*slot) {
		*slot = hash << 32 | add_row(c, key, 0);
		c->used++;
	}
	return (uint32_t)*slot;
}

static uint32_t find_row(struct fold_costs *c, struct stack *stack, const struct fold_cost *key)
{
	uint32_t at = stack->first_cost;
	int rows = 0;

	for (; at; at = c->list[at - 1].next, rows++)
		if (same_cost(&c->list[at - 1], key))
			return at;
	if (rows >= ROWS_AT_STACK)
		return find_in_table(c, key);
	stack->first_cost = add_row(c, key, stack->first_cost);
	return stack->first_cost;
}

/* Mostly it is the row that the stack had last: its thread is back on its CPU. */
struct fold_cost *fold_costs_row(struct fold_costs *c, struct stack *stack,
				 const struct fold_cost *key)
{
	if (!stack->last_cost || !same_cost(&c->list[stack->last_cost - 1], key))
		stack->last_cost = find_row(c, stack, key);
	return &c->list[stack->last_cost - 1];
}

void fold_costs_finish(struct fold_costs *c)
{
	free(c->slots);
	c->slots = NULL;
	c->nslots = c->used = 0;
}

void fold_costs_free(struct fold_costs *c)
{
	free(c->list);
	free(c->slots);
	*c = (struct fold_costs){0};
}
