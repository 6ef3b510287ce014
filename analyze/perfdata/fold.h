/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass two: the samples of a chunk, in any order, equal ones added up. One `struct fold` per
 * thread; a stack may be in several of them.
 */
#ifndef ZC_PERFDATA_FOLD_H
#define ZC_PERFDATA_FOLD_H

#include "analyze/perfdata/fold_costs.h"
#include "analyze/perfdata/periods.h"
#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/stacks.h"

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

#endif
