/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinct stacks as recorded: raw addresses, the CPU mode, and, where user addresses are in it,
 * whose address space in which version. Made for millions of look-ups in tables larger than the
 * caches: a look-up goes in steps, so that the caller can do each step for many stacks and wait
 * for memory once.
 */
#ifndef ZC_PERFDATA_FOLD_H
#define ZC_PERFDATA_FOLD_H

#include "analyze/model/profile.h"
#include "analyze/perfdata/recording.h"
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

/*
 * Samples and weight per stack, event, CPU and thread. Most stacks have one or two rows, which hang
 * at the stack itself; only what more there is of a stack is found through a table.
 */

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

/*
 * How long the periods of an event are. At a given frequency the kernel finds the period by trial:
 * a stream begins with very short ones, and an overshoot gives a single sample much weight. Both
 * are true events, and no good sample of what ran: they are counted, and said.
 */

/* By the number of binary digits: 0 for 0, 1 for 1, 2 for 2 and 3, ... */
struct periods {
	struct {
		uint64_t samples, weight;
	} digits[65];
};

static inline void periods_add(struct periods *p, uint64_t period)
{
	int digits = period ? 64 - __builtin_clzll(period) : 0;

	p->digits[digits].samples++;
	p->digits[digits].weight += period;
}

void periods_join(struct periods *to, const struct periods *from);

/* Adds what is far from the usual to the event's outliers and starts. */
void periods_flag(const struct periods *p, struct profile_event *e);

/*
 * Pass two: the samples of a chunk, in any order, equal ones added up. One `struct fold` per
 * thread; a stack may be in several of them.
 */

static inline int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

struct fold_event {
	uint64_t samples, weight;
	double weight2;
	struct periods *periods; /* NULL: no sample; there may be more events than those with any */
};

/* What the side-band says of a thread or process, kept at hand: few of them run at a time. */
enum { FOLD_CACHE = 64, FOLD_BATCH = 32 };
struct fold_cached {
	uint32_t key; /* + 1; 0: free */
	const struct side_timeline *line;
};

struct fold {
	const struct recording *r;
	const struct perfdata_options *o;
	struct stacks stacks;
	size_t nstacks; /* once the stacks are freed */
	struct fold_costs costs;
	struct fold_event *events;
	struct map last_values; /* PERF_SAMPLE_READ: id (and thread) -> its last value */
	struct fold_cached comms[FOLD_CACHE], spaces[FOLD_CACHE];
	const struct side_timeline *kernel;
	struct unwinder *unwinder;  /* or NULL */
	struct fold_pending *batch; /* FOLD_BATCH of them */
	size_t pending;
	uint8_t *swapped; /* their chains in our endianness, where they are not */
	struct chunk_reader reader;
	uint64_t first_ns, last_ns, unknown_ids, outside, backwards, bad_samples, bad_order;
};

void fold_init(struct fold *f, const struct recording *r, const struct perfdata_options *o);
void fold_chunk(struct fold *f, const struct chunk *c);
/* After the last chunk: what only folding needs is freed. */
void fold_finish(struct fold *f);
/* The stacks alone: what they cost stays, and how many there were. */
void fold_free_stacks(struct fold *f);
void fold_free(struct fold *f);

/* Pass two on several threads: each takes the next chunk that nobody has, into a fold of its own.
 */

struct folds {
	struct fold *list;
	size_t n;
};

/* Folds all chunks; the caller frees. */
void folds_run(struct folds *f, const struct recording *r, const struct perfdata_options *o);
void folds_free(struct folds *f);

/*
 * The order in which stacks are resolved: by version of the address space, so that maps are
 * replayed once, then by process, then by their frames from the root on, so that neighbours have
 * most of them in common. It depends on the stacks alone, not on which thread folded them.
 */

struct stack_order {
	struct stack **stacks; /* those of all folds, one fold behind the other */
	uint32_t *order;       /* indexes of stacks */
	size_t n;
};

/* The folds keep the stacks, and how many they are, but no list of them. */
void stack_order_make(struct stack_order *so, struct folds *f);
void stack_order_free(struct stack_order *so);

#endif
