/* SPDX-License-Identifier: GPL-2.0-only */
/* Which thread an id stands for at a time, and what it was called in the end: see tracepoints.h. */
#ifndef ZC_PERFDATA_TRACEPOINT_THREADS_H
#define ZC_PERFDATA_TRACEPOINT_THREADS_H

#include "analyze/perfdata/sideband.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/hash.h"

/* From `time` on `tid` is another thread. */
struct thread_start {
	uint64_t time;
	uint32_t tid, thread;
};

struct tracepoint_threads {
	struct tracepoint_thread *list;
	size_t n, cap;
	struct map now; /* tid -> index + 1 */
	struct thread_start *starts;
	size_t nstarts, starts_cap, next; /* `next`: the first that is still to come */
	uint32_t last_tid, last;	  /* the one asked for last; UINT32_MAX: none */
};

/* The side-band is finished: in order of time. */
void tracepoint_threads_init(struct tracepoint_threads *t, const struct sideband *side);
/* All that happened up to `time`; times ascend. */
void tracepoint_threads_advance(struct tracepoint_threads *t, uint64_t time);
/* The index of the thread that has this id now. */
uint32_t tracepoint_threads_at(struct tracepoint_threads *t, uint32_t tid);
void tracepoint_threads_free(struct tracepoint_threads *t);

#endif
