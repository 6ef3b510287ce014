/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass two: samples become distinct stacks with costs.
 *
 * A distinct stack has raw addresses, the CPU mode and, for user addresses, the version of an
 * address space. Many leaves have the same callers, so a stack is a leaf and a chain of callers,
 * which is stored once. The tables are larger than the caches and see millions of look-ups. A
 * look-up therefore has separate steps: the caller does each step for many stacks, so that it waits
 * for memory only once.
 */
#ifndef ZC_PERFDATA_FOLD_H
#define ZC_PERFDATA_FOLD_H

#include "analyze/model/profile.h"
#include "analyze/perfdata/recording.h"

/* Parts of a mode. A sample that is late has the label (struct exact) where it was due, + 1. */
enum { STACK_MODE = 0xffff, STACK_DUE = 16 /* the bit */ };

/* The stack of a sample. Its chain mostly begins with a marker and the leaf again. */
struct stack_head {
	uint64_t ip;
	uint32_t pid;	  /* KERNEL_PID: no user addresses */
	uint32_t version; /* side-band version of that space, or of the kernel's */
	uint32_t mode;	  /* STACK_MODE: PERF_RECORD_MISC_CPUMODE_MASK, or a MODE_ of exact.c */
	uint32_t nr;	  /* addresses in the chain */
};

/* What is before the callers: a marker, and the leaf again; only the leaf; or neither. */
#define LEAF_BARE 1
#define LEAF_NONE 0

struct chain_head {
	uint64_t leaf; /* that marker, LEAF_BARE or LEAF_NONE */
	uint32_t pid, version, nr, unused;
};

struct chain {
	struct chain_head head;
	uint64_t addr[];
};

struct stack {
	uint64_t ip;
	uint32_t mode, chain; /* chain: an id */
	uint32_t last_cost;   /* row + 1 in struct fold_costs; 0 at first */
};

/* The sort key of a chain, computed when the chain is added. */
struct stack_key {
	uint64_t space; /* version + 1 and pid */
	uint64_t root;	/* five hashes of 12 bits, over ever longer parts of the root */
};

struct stacks {
	struct arena arena;
	struct chain **chains;	/* by id */
	struct stack_key *keys; /* by id of the chain */
	struct stack *list;	/* by id */
	struct row_slots chain_slots, slots;
	size_t n, cap, nchains, chains_cap, keys_cap;
};

#define STACKS_NONE UINT32_MAX

void stacks_init(struct stacks *s);
void stacks_free(struct stacks *s);
/* Frees what look-ups need. */
void stacks_finish(struct stacks *s);
/* Adds a stack without a look-up, and returns its id. */
uint32_t stacks_append(struct stacks *s, const struct stack_head *head, const void *chain);

static inline uint64_t stacks_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Returns the head of a stack's callers, and moves *chain to the first of them. */
struct chain_head stacks_split(const struct stack_head *head, const uint8_t **chain);

/* The steps of a look-up. First the chain: */
static inline uint64_t stacks_hash_chain(const struct chain_head *head, uint64_t chain_hash)
{
	uint64_t space = (uint64_t)head->version << 32 | head->pid;

	chain_hash = stacks_mix(chain_hash ^ head->leaf, space ^ 0x9e3779b97f4a7c15ULL);
	return stacks_mix(chain_hash ^ head->nr, 0xd6e8feb86659fd93ULL);
}

static inline void stacks_prefetch_slot(const struct row_slots *s, uint64_t hash)
{
	__builtin_prefetch(&s->of[(uint32_t)hash & (s->n - 1)]);
}

void stacks_prefetch_chain(const struct stacks *s, uint64_t hash);
/* Returns the id of the chain, or STACKS_NONE. `chain` need not be aligned. */
uint32_t stacks_find_chain(const struct stacks *s, uint64_t hash, const struct chain_head *head,
			   const void *chain);
/* Returns the id of the chain, and adds it if it is new. */
uint32_t stacks_chain(struct stacks *s, uint64_t hash, const struct chain_head *head,
		      const void *chain);

/* Then the stack: */
static inline uint64_t stacks_hash(uint64_t ip, uint32_t mode, uint32_t chain)
{
	return stacks_mix(ip ^ 0x9e3779b97f4a7c15ULL,
			  ((uint64_t)mode << 32 | chain) ^ 0xd6e8feb86659fd93ULL);
}

/* Returns the id of the stack, or STACKS_NONE. */
uint32_t stacks_find(const struct stacks *s, uint64_t hash, uint64_t ip, uint32_t mode,
		     uint32_t chain);
/* Returns the id of the stack, and adds it if it is new. */
uint32_t stacks_id(struct stacks *s, uint64_t hash, uint64_t ip, uint32_t mode, uint32_t chain);

/* --- costs.c --- */

/*
 * Samples and weight per stack, event, CPU and thread.
 */
struct fold_cost {
	/* the key */
	uint32_t stack, event : 16, place : 8, label : 8; /* an exact_place; of exact, + 1 */
	uint32_t cpu, comm, pid, tid;
	uint64_t samples, weight;
};

struct fold_costs {
	struct fold_cost *list;
	struct row_slots slots;
	size_t n, cap;
};

/* Returns the row with this key, and adds it if it is new. Valid until the next call. */
struct fold_cost *fold_costs_row(struct fold_costs *c, struct stack *stack,
				 const struct fold_cost *key);

/* Fetches the row that the stack used last. */
static inline void fold_costs_prefetch(const struct fold_costs *c, const struct stack *stack)
{
	if (stack->last_cost)
		__builtin_prefetch(&c->list[stack->last_cost - 1], 1);
}

/* Frees what look-ups need. */
void fold_costs_finish(struct fold_costs *c);
void fold_costs_free(struct fold_costs *c);

/* --- fold.c --- */

struct fold_event {
	uint64_t samples, weight;
	double weight2;
	bool exact; /* weighed by the exact time of the CPUs (exact.c) */
};

/* Timelines of recently seen threads and processes. Few of them run at a time. */
enum { FOLD_CACHE = 256, FOLD_BATCH = 32 };
struct fold_cached {
	uint32_t key; /* + 1; 0: free */
	const struct side_timeline *line;
	uint64_t after, before; /* the last value holds between these times */
	uint32_t value;		/* UINT32_MAX: none */
};

/*
 * The folded samples of some chunks. Each thread has one struct fold, and several may have the same
 * stack.
 */
struct fold {
	const struct recording *r;
	const struct perfdata_options *o;
	struct stacks stacks;
	size_t nstacks; /* set when the stacks are freed */
	struct fold_costs costs;
	struct fold_event *events;
	struct map last_values;	     /* PERF_SAMPLE_READ: id (and thread) -> last value */
	const struct exact_due *due; /* belongs to the sample that is counted, or NULL */
	struct fold_cached comms[FOLD_CACHE], spaces[FOLD_CACHE], kernel;
	struct unwinder *unwinder;  /* NULL where nothing is to be unwound */
	struct fold_pending *batch; /* FOLD_BATCH of them */
	size_t pending;
	unsigned int odd; /* how many more samples are searched for odd addresses */
	bool hides;	  /* makes user addresses in no mapping equal */
	uint64_t *room; /* chains of the batch that differ from the file's; room_used: addresses */
	size_t room_used;
	struct history_seen *seen;
	struct chunk_reader reader;
	uint64_t first_ns, last_ns, unknown_ids, outside, backwards, bad_samples, bad_order;
};

/* Frees the stacks. Their costs and their number remain. */
void fold_free_stacks(struct fold *f);

/* Pass two on several threads. Each takes the next free chunk and has its own fold. */
struct folds {
	struct fold *list;
	size_t n;
};

/* Folds all chunks. The caller calls folds_free. */
void folds_run(struct folds *f, const struct recording *r, const struct perfdata_options *o);
void folds_free(struct folds *f);

/* --- exact.c --- */

/* Modes of addresses that are labels of struct exact, or the one symbol below. */
enum { MODE_LABEL = 0x100, MODE_INTERRUPTS_OFF };
#define INTERRUPTS_OFF "[interrupts off]"

/* Returns the context of samples in a place. `by_stack` is the one that their stack reveals. */
enum context exact_context(enum exact_place place, enum context by_stack);
/*
 * Returns whether `x` knows when the samples of an event were due: those of cpu-clock, with the CPU
 * and the time. `x` may be NULL.
 */
bool exact_has_due(const struct exact *x, const struct event *e);
/* Returns what the CPU did when a sample of the clock was due, or NULL if that is not known. */
const struct exact_due *exact_find(const struct exact *x, const struct sample *s);
/* Moves a sample to where it was due. */
void exact_place_sample(struct fold_cost *c, struct stack_head *h, const struct exact *x,
			const struct exact_due *d);
/* Weighs the samples of the clock by the exact time of their places. */
void folds_weigh_exact(struct folds *f, const struct recording *r,
		       const struct perfdata_options *o);

/* --- stacks.c: the order --- */

/*
 * The order in which stacks are resolved: by version of the address space, so that maps are
 * replayed once; then by process; then by callers from the root on, so that neighbours share most
 * of their frames; then by leaf. The order does not depend on which thread folded a stack.
 */
struct stack_order {
	struct stack *stacks;  /* the stacks of all folds, one fold after the other */
	struct chain **chains; /* the chains of all folds; stack.chain is an index into them */
	uint32_t *order;       /* indexes into stacks */
	size_t n, nchains;
};

/* Takes the lists of stacks and chains from the folds. The folds still own the chains. */
void stack_order_make(struct stack_order *so, struct folds *f);
void stack_order_free(struct stack_order *so);

#endif
