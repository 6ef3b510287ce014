// SPDX-License-Identifier: GPL-2.0-only
/* The table of distinct stacks, and the order in which they are resolved. */
#include "analyze/perfdata/fold.h"

#include "lib/alloc.h"
#include "lib/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void stacks_init(struct stacks *s)
{
	*s = (struct stacks){.nslots = 1 << 12};
	s->slots = xcalloc_touched(s->nslots, sizeof(*s->slots));
}

void stacks_free(struct stacks *s)
{
	arena_free(&s->arena);
	free(s->list);
	free(s->keys);
	free(s->slots);
	*s = (struct stacks){0};
}

void stacks_finish(struct stacks *s)
{
	free(s->slots);
	s->slots = NULL;
}

static size_t stacks_first_slot(const struct stacks *s, uint64_t hash)
{
	return (uint32_t)hash & (s->nslots - 1);
}

/* Returns the slot with this half of the hash, or a free slot. */
static uint64_t *stacks_likely_slot(const struct stacks *s, uint64_t hash, size_t i)
{
	while (s->slots[i] && (s->slots[i] ^ hash << 32) >> 32)
		i = (i + 1) & (s->nslots - 1);
	return &s->slots[i];
}

void stacks_prefetch_stack(const struct stacks *s, uint64_t hash)
{
	uint32_t id = (uint32_t)*stacks_likely_slot(s, hash, stacks_first_slot(s, hash));
	const struct stack *stack;

	if (!id)
		return;
	stack = s->list[id - 1];
	__builtin_prefetch(stack);
	__builtin_prefetch(&stack->chain[4]);
	__builtin_prefetch(&stack->chain[12]);
}

static void stacks_grow(struct stacks *s)
{
	s->slots = slots_grow(s->slots, s->nslots, 2 * s->nslots);
	s->nslots *= 2;
}

static uint64_t stack_root_key(const struct stack *s)
{
	static const uint32_t lengths[] = {3, 6, 10, 15, UINT32_MAX};
	uint64_t h = 0, key = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < array_size(lengths); k++) {
		for (; i < lengths[k] && i < s->head.nr; i++)
			h = stacks_mix(h ^ s->chain[s->head.nr - 1 - i], 0x9e3779b97f4a7c15ULL);
		key = key << 12 | h >> 52;
	}
	return key;
}

uint32_t stacks_append(struct stacks *s, const struct stack_head *head, const void *chain)
{
	struct stack *new = arena_alloc(&s->arena, sizeof(*new) + head->nr * sizeof(uint64_t));

	new->head = *head;
	if (head->nr)
		memcpy(new->chain, chain, head->nr * sizeof(uint64_t));
	array_grow(s->list, s->n, s->cap);
	array_grow(s->keys, s->n, s->keys_cap);
	s->keys[s->n] = (struct stack_key){(uint64_t)(head->version + 1) << 32 | head->pid,
					   stack_root_key(new)};
	s->list[s->n] = new;
	return (uint32_t)s->n++;
}

static bool stack_equals(const struct stack *a, const struct stack_head *head, const void *chain)
{
	return !memcmp(&a->head, head, sizeof(*head)) &&
	       !(head->nr && memcmp(a->chain, chain, head->nr * sizeof(uint64_t)));
}

/* Returns the slot of the stack, or a free slot. */
static uint64_t *stacks_find_slot(const struct stacks *s, uint64_t hash,
				  const struct stack_head *head, const void *chain)
{
	size_t i = stacks_first_slot(s, hash);
	uint64_t *slot;

	for (;;) {
		slot = stacks_likely_slot(s, hash, i);
		if (!*slot || stack_equals(s->list[(uint32_t)*slot - 1], head, chain))
			return slot;
		i = ((size_t)(slot - s->slots) + 1) & (s->nslots - 1);
	}
}

bool stacks_has(const struct stacks *s, uint64_t hash, const struct stack_head *head,
		const void *chain)
{
	return *stacks_find_slot(s, hash, head, chain);
}

uint32_t stacks_id(struct stacks *s, uint64_t hash, const struct stack_head *head,
		   const void *chain)
{
	uint64_t *slot;

	if (s->n * 2 >= s->nslots)
		stacks_grow(s);
	slot = stacks_find_slot(s, hash, head, chain);
	if (!*slot)
		*slot = hash << 32 | (stacks_append(s, head, chain) + 1);
	return (uint32_t)*slot - 1;
}

/* --- order --- */

/* Moves the folds' lists into `so`. Returns the keys, which the caller frees. */
static struct stack_key *stack_order_collect(struct stack_order *so, struct folds *f)
{
	struct stack_key *keys;
	size_t i;

	for (i = 0; i < f->n; i++)
		so->n += f->list[i].stacks.n;
	so->stacks = xcalloc(so->n + 1, sizeof(*so->stacks));
	keys = xcalloc(so->n + 1, sizeof(*keys));
	for (so->n = i = 0; i < f->n; i++) {
		struct stacks *s = &f->list[i].stacks;

		if (s->n) {
			memcpy(so->stacks + so->n, s->list, s->n * sizeof(*s->list));
			memcpy(keys + so->n, s->keys, s->n * sizeof(*keys));
		}
		so->n += s->n;
		free(s->list); /* but not the stacks */
		free(s->keys);
		s->list = NULL;
		s->keys = NULL;
	}
	return keys;
}

static int stack_compare_chain(const void *a, const void *b, void *arg)
{
	struct stack *const *stacks = arg;
	const struct stack *l = stacks[*(const uint32_t *)a], *r = stacks[*(const uint32_t *)b];
	int c = 0;

	for (uint32_t i = 1; !c && i <= l->head.nr && i <= r->head.nr; i++)
		c = compare_u64(l->chain[l->head.nr - i], r->chain[r->head.nr - i]);
	c = c ? c : compare_u64(l->head.nr, r->head.nr);
	c = c ? c : compare_u64(l->head.ip, r->head.ip);
	c = c ? c : compare_u64(l->head.mode, r->head.mode);
	return c ? c : compare_u64(l->head.due, r->head.due);
}

static void stack_order_sort_run(struct stack_order *so, size_t from, size_t to)
{
	if (to - from > 1)
		qsort_r(so->order + from, to - from, sizeof(*so->order), stack_compare_chain,
			so->stacks);
}

/* Sorts stacks with equal keys by their chains. */
static void stack_order_sort_runs(struct stack_order *so, const struct stack_key *keys)
{
	const struct stack_key *run = NULL, *key;
	size_t from = 0;

	for (size_t i = 0; i < so->n; i++) {
		key = &keys[so->order[i]];
		if (run && key->space == run->space && key->root == run->root)
			continue;
		stack_order_sort_run(so, from, i);
		run = key;
		from = i;
	}
	stack_order_sort_run(so, from, so->n);
}

void stack_order_make(struct stack_order *so, struct folds *f)
{
	autofree struct stack_key *keys = NULL;
	autofree struct radix_row *rows = NULL;

	*so = (struct stack_order){0};
	keys = stack_order_collect(so, f);
	rows = xcalloc(so->n, sizeof(*rows));
	so->order = xcalloc(so->n, sizeof(*so->order));
	for (size_t i = 0; i < so->n; i++)
		rows[i] = (struct radix_row){keys[i].root, i};
	radix_sort(rows, so->n);
	for (size_t i = 0; i < so->n; i++)
		rows[i].key = keys[rows[i].value].space;
	radix_sort(rows, so->n);
	for (size_t i = 0; i < so->n; i++)
		so->order[i] = (uint32_t)rows[i].value;
	stack_order_sort_runs(so, keys);
}

void stack_order_free(struct stack_order *so)
{
	free(so->stacks);
	free(so->order);
	*so = (struct stack_order){0};
}
