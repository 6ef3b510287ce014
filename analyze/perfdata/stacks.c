// SPDX-License-Identifier: GPL-2.0-only
/* The tables of distinct chains and stacks, and the order in which they are resolved. */
#include "analyze/perfdata/fold.h"

void stacks_init(struct stacks *s)
{
	*s = (struct stacks){0};
	slots_make_room(&s->chain_slots, 0);
	slots_make_room(&s->slots, 0);
}

void stacks_free(struct stacks *s)
{
	stacks_finish(s);
	arena_free(&s->arena);
	free(s->chains);
	free(s->keys);
	free(s->list);
	*s = (struct stacks){0};
}

void stacks_finish(struct stacks *s)
{
	free(s->chain_slots.of);
	free(s->slots.of);
	s->chain_slots.of = s->slots.of = NULL;
}

/* --- chains --- */

struct chain_head stacks_split(const struct stack_head *head, const uint8_t **chain)
{
	struct chain_head c = {.pid = head->pid, .version = head->version, .nr = head->nr};
	uint64_t first[2] = {0};
	uint32_t marked;

	if (head->nr)
		memcpy(&first[0], *chain, 8);
	if (head->nr > 1)
		memcpy(&first[1], *chain + 8, 8);
	marked = head->nr > 1 && first[0] >= (uint64_t)PERF_CONTEXT_MAX;
	if (head->nr && first[marked] == head->ip && head->ip < (uint64_t)PERF_CONTEXT_MAX) {
		c.leaf = marked ? first[0] : LEAF_BARE;
		c.nr -= 1 + marked;
		*chain += 8 * (1 + (size_t)marked);
	}
	return c;
}

void stacks_prefetch_chain(const struct stacks *s, uint64_t hash)
{
	const struct chain *chain;
	uint64_t *slot = NULL;
	uint32_t id;

	if (!slots_next(&s->chain_slots, hash, &slot, &id))
		return;
	chain = s->chains[id];
	__builtin_prefetch(chain);
	__builtin_prefetch(&chain->addr[5]);
	__builtin_prefetch(&chain->addr[13]);
}

static uint64_t chain_root_key(const struct chain *c)
{
	static const uint32_t lengths[] = {3, 6, 10, 15, UINT32_MAX};
	uint64_t h = 0, key = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < array_size(lengths); k++) {
		for (; i < lengths[k] && i < c->head.nr; i++)
			h = stacks_mix(h ^ c->addr[c->head.nr - 1 - i], 0x9e3779b97f4a7c15ULL);
		key = key << 12 | h >> 52;
	}
	return key;
}

static uint32_t stacks_append_chain(struct stacks *s, const struct chain_head *head,
				    const void *chain)
{
	struct chain *new = arena_alloc(&s->arena, sizeof(*new) + head->nr * sizeof(uint64_t));

	new->head = *head;
	if (head->nr)
		memcpy(new->addr, chain, head->nr * sizeof(uint64_t));
	array_grow(s->chains, s->nchains, s->chains_cap);
	array_grow(s->keys, s->nchains, s->keys_cap);
	s->keys[s->nchains] = (struct stack_key){(uint64_t)(head->version + 1) << 32 | head->pid,
						 chain_root_key(new)};
	s->chains[s->nchains] = new;
	return (uint32_t)s->nchains++;
}

static bool chain_equals(const struct chain *a, const struct chain_head *head, const void *chain)
{
	return !memcmp(&a->head, head, sizeof(*head)) &&
	       !(head->nr && memcmp(a->addr, chain, head->nr * sizeof(uint64_t)));
}

/* Returns the slot of the chain, or a free slot. */
static uint64_t *chain_find_slot(const struct stacks *s, uint64_t hash,
				 const struct chain_head *head, const void *chain)
{
	uint64_t *slot = NULL;
	uint32_t id;

	while (slots_next(&s->chain_slots, hash, &slot, &id))
		if (chain_equals(s->chains[id], head, chain))
			break;
	return slot;
}

uint32_t stacks_find_chain(const struct stacks *s, uint64_t hash, const struct chain_head *head,
			   const void *chain)
{
	return (uint32_t)*chain_find_slot(s, hash, head, chain) -
	       1; /* STACKS_NONE of a free slot */
}

uint32_t stacks_chain(struct stacks *s, uint64_t hash, const struct chain_head *head,
		      const void *chain)
{
	uint64_t *slot;

	slots_make_room(&s->chain_slots, s->nchains);
	slot = chain_find_slot(s, hash, head, chain);
	if (!*slot)
		*slot = hash << 32 | (stacks_append_chain(s, head, chain) + 1);
	return (uint32_t)*slot - 1;
}

/* --- stacks --- */

static uint64_t *stack_find_slot(const struct stacks *s, uint64_t hash, uint64_t ip, uint32_t mode,
				 uint32_t chain)
{
	const struct stack *stack;
	uint64_t *slot = NULL;
	uint32_t id;

	while (slots_next(&s->slots, hash, &slot, &id)) {
		stack = &s->list[id];
		if (stack->ip == ip && stack->mode == mode && stack->chain == chain)
			break;
	}
	return slot;
}

uint32_t stacks_find(const struct stacks *s, uint64_t hash, uint64_t ip, uint32_t mode,
		     uint32_t chain)
{
	return (uint32_t)*stack_find_slot(s, hash, ip, mode, chain) - 1;
}

static uint32_t stacks_add(struct stacks *s, uint64_t ip, uint32_t mode, uint32_t chain)
{
	array_add(s->list, s->n, s->cap, (struct stack){.ip = ip, .mode = mode, .chain = chain});
	return (uint32_t)s->n - 1;
}

uint32_t stacks_id(struct stacks *s, uint64_t hash, uint64_t ip, uint32_t mode, uint32_t chain)
{
	uint64_t *slot;

	slots_make_room(&s->slots, s->n);
	slot = stack_find_slot(s, hash, ip, mode, chain);
	if (!*slot)
		*slot = hash << 32 | (stacks_add(s, ip, mode, chain) + 1);
	return (uint32_t)*slot - 1;
}

uint32_t stacks_append(struct stacks *s, const struct stack_head *head, const void *chain)
{
	const uint8_t *callers = chain;
	struct chain_head c = stacks_split(head, &callers);

	return stacks_add(s, head->ip, head->mode, stacks_append_chain(s, &c, callers));
}

/* --- order --- */

/* Moves the folds' lists into `so`. Returns the keys of the chains, which the caller frees. */
static struct stack_key *stack_order_collect(struct stack_order *so, struct folds *f)
{
	struct stack_key *keys;

	for (size_t i = 0; i < f->n; i++) {
		so->n += f->list[i].stacks.n;
		so->nchains += f->list[i].stacks.nchains;
	}
	so->stacks = xcalloc(so->n + 1, sizeof(*so->stacks));
	so->chains = xcalloc(so->nchains + 1, sizeof(*so->chains));
	keys = xcalloc(so->nchains + 1, sizeof(*keys));
	so->n = so->nchains = 0;
	for (size_t i = 0; i < f->n; i++) {
		struct stacks *s = &f->list[i].stacks;

		for (size_t k = 0; k < s->n; k++) {
			so->stacks[so->n] = s->list[k];
			so->stacks[so->n++].chain += (uint32_t)so->nchains;
		}
		for (size_t k = 0; k < s->nchains; k++) {
			keys[so->nchains] = s->keys[k];
			so->chains[so->nchains++] = s->chains[k];
		}
		free(s->list);
		free(s->chains); /* but not the chains */
		free(s->keys);
		s->list = NULL;
		s->chains = NULL;
		s->keys = NULL;
	}
	return keys;
}

static int chain_compare(const void *a, const void *b, void *arg)
{
	struct chain *const *chains = arg;
	const struct chain *l = chains[((const struct radix_row *)a)->value];
	const struct chain *r = chains[((const struct radix_row *)b)->value];
	int c = 0;

	for (uint32_t i = 1; !c && i <= l->head.nr && i <= r->head.nr; i++)
		c = ascending(l->addr[l->head.nr - i], r->addr[r->head.nr - i]);
	return c ?: ascending(l->head.nr, r->head.nr) ?: ascending(l->head.leaf, r->head.leaf);
}

/*
 * Sorts chains with equal keys by their addresses, and gives them ranks from `rank` on. Equal
 * chains of several folds have one rank. Returns the next rank.
 */
static uint32_t chains_rank_run(struct stack_order *so, struct radix_row *rows, size_t n,
				uint32_t *ranks, uint32_t rank)
{
	if (n > 1)
		qsort_r(rows, n, sizeof(*rows), chain_compare, so->chains);
	for (size_t i = 0; i < n; i++) {
		rank += i && chain_compare(&rows[i - 1], &rows[i], so->chains);
		ranks[rows[i].value] = rank;
	}
	return rank + 1;
}

/* Returns the rank of each chain, which the caller frees. */
static uint32_t *chains_rank(struct stack_order *so, const struct stack_key *keys)
{
	autofree struct radix_row *rows = xcalloc(so->nchains + 1, sizeof(*rows));
	uint32_t *ranks = xcalloc(so->nchains + 1, sizeof(*ranks)), rank = 0;
	size_t to;

	for (size_t i = 0; i < so->nchains; i++)
		rows[i] = (struct radix_row){keys[i].root, i};
	radix_sort(rows, so->nchains);
	for (size_t i = 0; i < so->nchains; i++)
		rows[i].key = keys[rows[i].value].space;
	radix_sort(rows, so->nchains);
	for (size_t from = 0; from < so->nchains; from = to) {
		const struct stack_key *first = &keys[rows[from].value], *key;

		for (to = from + 1; to < so->nchains; to++) {
			key = &keys[rows[to].value];
			if (key->space != first->space || key->root != first->root)
				break;
		}
		rank = chains_rank_run(so, rows + from, to - from, ranks, rank);
	}
	return ranks;
}

void stack_order_make(struct stack_order *so, struct folds *f)
{
	autofree struct stack_key *keys = NULL;
	autofree struct radix_row *rows = NULL;
	autofree uint32_t *ranks = NULL;

	*so = (struct stack_order){0};
	keys = stack_order_collect(so, f);
	ranks = chains_rank(so, keys);
	rows = xcalloc(so->n, sizeof(*rows));
	so->order = xcalloc(so->n, sizeof(*so->order));
	for (size_t i = 0; i < so->n; i++)
		rows[i] = (struct radix_row){so->stacks[i].ip, i};
	radix_sort(rows, so->n);
	for (size_t i = 0; i < so->n; i++) {
		const struct stack *s = &so->stacks[rows[i].value];

		rows[i].key = (uint64_t)ranks[s->chain] << 32 | s->mode;
	}
	radix_sort(rows, so->n);
	for (size_t i = 0; i < so->n; i++)
		so->order[i] = (uint32_t)rows[i].value;
}

void stack_order_free(struct stack_order *so)
{
	free(so->stacks);
	free(so->chains);
	free(so->order);
	*so = (struct stack_order){0};
}
