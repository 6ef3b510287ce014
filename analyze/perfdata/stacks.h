/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinct stacks as recorded: raw addresses, the CPU mode, and, where user addresses are in it,
 * whose address space in which version. Made for millions of look-ups in tables larger than the
 * caches: a look-up goes in steps, so that the caller can do each step for many stacks and wait
 * for memory once.
 */
#ifndef ZC_PERFDATA_STACKS_H
#define ZC_PERFDATA_STACKS_H

#include "lib/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stack_head {
	uint64_t ip;
	uint32_t pid;	  /* KERNEL_PID: no user address in it */
	uint32_t version; /* of that address space, or of the kernel's: an index of the side-band */
	uint32_t mode;	  /* PERF_RECORD_MISC_CPUMODE_MASK of the sample */
	uint32_t nr;	  /* addresses in the chain */
};

struct stack {
	struct stack_head head;
	uint32_t last_cost, first_cost; /* for fold_costs.c: rows + 1; 0 at first */
	uint64_t chain[];
};

/* What order.c sorts by, made while the stack is at hand. */
struct stack_key {
	uint64_t space; /* version, UINT32_MAX first, and process */
	uint64_t
		root; /* 12 bits for each of five lengths of the chain's root, the last the whole */
};

struct stacks {
	struct arena arena;
	struct stack **list;	/* by id */
	struct stack_key *keys; /* by id */
	uint64_t *slots;	/* open addressing: low half of the hash, id + 1 */
	size_t n, cap, keys_cap, nslots;
};

void stacks_init(struct stacks *s);
void stacks_free(struct stacks *s);
/* No stack is looked for any more: only `list` stays. */
void stacks_finish(struct stacks *s);
/* The stacks alone stay, for who has a list of them. */
void stacks_unlist(struct stacks *s);

static inline uint64_t stacks_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Three steps of a look-up: hash, fetch the slot, fetch the stack; then ask for its id. */
static inline uint64_t stacks_hash(const struct stack_head *head, uint64_t chain_hash)
{
	uint64_t space = (uint64_t)head->version << 32 | head->pid;
	uint64_t shape = (uint64_t)head->nr << 32 | head->mode;

	chain_hash = stacks_mix(chain_hash ^ head->ip, space ^ 0x9e3779b97f4a7c15ULL);
	return stacks_mix(chain_hash ^ shape, 0xd6e8feb86659fd93ULL);
}

static inline void stacks_prefetch_slot(const struct stacks *s, uint64_t hash)
{
	__builtin_prefetch(&s->slots[(uint32_t)hash & (s->nslots - 1)]);
}

void stacks_prefetch_stack(const struct stacks *s, uint64_t hash);

/* The id of an equal stack, which is added where there is none. `chain` need not be aligned. */
uint32_t stacks_id(struct stacks *s, uint64_t hash, const struct stack_head *head,
		   const void *chain);

#endif
