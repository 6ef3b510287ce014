// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/stacks.h"

#include "lib/alloc.h"

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

void stacks_unlist(struct stacks *s)
{
	free(s->list);
	free(s->keys);
	s->list = NULL;
	s->keys = NULL;
}

static size_t first_slot(const struct stacks *s, uint64_t hash)
{
	return (uint32_t)hash & (s->nslots - 1);
}

/* The slot with the same half of the hash, or the free one. */
static uint64_t *likely_slot(const struct stacks *s, uint64_t hash, size_t i)
{
	while (s->slots[i] && (s->slots[i] ^ hash << 32) >> 32)
		i = (i + 1) & (s->nslots - 1);
	return &s->slots[i];
}

void stacks_prefetch_stack(const struct stacks *s, uint64_t hash)
{
	uint32_t id = (uint32_t)*likely_slot(s, hash, first_slot(s, hash));
	const struct stack *stack;

	if (!id)
		return;
	stack = s->list[id - 1];
	__builtin_prefetch(stack);
	__builtin_prefetch(&stack->chain[4]);
	__builtin_prefetch(&stack->chain[12]);
}

static void grow(struct stacks *s)
{
	uint64_t *old = s->slots;
	size_t n = s->nslots, i, at;

	s->nslots *= 2;
	s->slots = xcalloc_touched(s->nslots, sizeof(*s->slots));
	for (i = 0; i < n; i++) {
		if (!old[i])
			continue;
		at = first_slot(s, old[i] >> 32);
		while (s->slots[at])
			at = (at + 1) & (s->nslots - 1);
		s->slots[at] = old[i];
	}
	free(old);
}

static uint64_t root_key(const struct stack *s)
{
	static const uint32_t lengths[] = {3, 6, 10, 15, UINT32_MAX};
	uint64_t h = 0, key = 0;
	uint32_t i = 0, k;

	for (k = 0; k < array_size(lengths); k++) {
		for (; i < lengths[k] && i < s->head.nr; i++)
			h = stacks_mix(h ^ s->chain[s->head.nr - 1 - i], 0x9e3779b97f4a7c15ULL);
		key = key << 12 | h >> 52;
	}
	return key;
}

static uint32_t add(struct stacks *s, const struct stack_head *head, const void *chain)
{
	struct stack *new = arena_alloc(&s->arena, sizeof(*new) + head->nr * sizeof(uint64_t));

	new->head = *head;
	if (head->nr)
		memcpy(new->chain, chain, head->nr * sizeof(uint64_t));
	array_grow(s->list, s->n, s->cap);
	array_grow(s->keys, s->n, s->keys_cap);
	s->keys[s->n] =
		(struct stack_key){(uint64_t)(head->version + 1) << 32 | head->pid, root_key(new)};
	s->list[s->n++] = new;
	return (uint32_t)s->n;
}

static bool same(const struct stack *a, const struct stack_head *head, const void *chain)
{
	return !memcmp(&a->head, head, sizeof(*head)) &&
	       !(head->nr && memcmp(a->chain, chain, head->nr * sizeof(uint64_t)));
}

uint32_t stacks_id(struct stacks *s, uint64_t hash, const struct stack_head *head,
		   const void *chain)
{
	uint64_t *slot;
	size_t i;

	if (s->n * 2 >= s->nslots)
		grow(s);
	i = first_slot(s, hash);
	for (;;) {
		slot = likely_slot(s, hash, i);
		if (!*slot)
			break;
		if (same(s->list[(uint32_t)*slot - 1], head, chain))
			return (uint32_t)*slot - 1;
		i = ((size_t)(slot - s->slots) + 1) & (s->nslots - 1);
	}
	*slot = hash << 32 | add(s, head, chain);
	return (uint32_t)s->n - 1;
}
