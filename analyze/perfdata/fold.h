/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass two: samples of a chunk, in any order, equal ones added up. A stack is kept as recorded:
 * raw addresses, the CPU mode, and, where user addresses are in it, whose address space in which
 * version. One `struct fold` per thread; fold_merge adds one to another.
 */
#ifndef ZC_PERFDATA_FOLD_H
#define ZC_PERFDATA_FOLD_H

#include "analyze/perfdata/recording.h"

/* The head of a stack's bytes; `nr` addresses of the chain follow, in our endianness. */
struct stack_head {
	uint64_t ip;
	uint32_t pid;	  /* KERNEL_PID: no user address in it */
	uint32_t version; /* of that address space, or of the kernel's: an index of the side-band */
	uint32_t mode;	  /* PERF_RECORD_MISC_CPUMODE_MASK of the sample */
	uint32_t zero;
};

struct fold_cost {
	uint32_t stack, event, cpu, comm, pid, tid;
	uint64_t samples, weight;
};

struct fold_event {
	uint64_t samples, weight;
	double weight2;
};

struct fold {
	const struct recording *r;
	const struct perfdata_options *o;
	struct intern stacks;
	struct fold_cost *costs;
	uint32_t *slots; /* open addressing: index into costs + 1 */
	size_t ncosts, costs_cap, nslots;
	struct fold_event *events;
	struct map last_values; /* PERF_SAMPLE_READ: id -> value when it was last seen */
	uint64_t first_ns, last_ns, unknown_ids, outside, bad_samples, bad_order;
	uint8_t *scratch;
};

void fold_init(struct fold *f, const struct recording *r, const struct perfdata_options *o);
void fold_chunk(struct fold *f, const struct chunk *c);
/* Adds `from` to `to`; frees `from`. */
void fold_merge(struct fold *to, struct fold *from);
void fold_free(struct fold *f);

#endif
