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

enum { THREADS_RECENT = 256 };

struct tracepoint_threads {
	struct tracepoint_thread *list;
	size_t n, cap;
	struct map now; /* tid -> index + 1 */
	struct thread_start *starts;
	size_t nstarts, starts_cap, next; /* `next`: the first that is still to come */
	struct {
		uint32_t tid, thread; /* index + 1; 0: free */
	} recent[THREADS_RECENT];     /* asked for last, by tid */
};

/* The side-band is finished: in order of time. */
void tracepoint_threads_init(struct tracepoint_threads *t, const struct sideband *side);
/* All that happened up to `time`; times ascend. */
void tracepoint_threads_start(struct tracepoint_threads *t);
static inline void tracepoint_threads_advance(struct tracepoint_threads *t, uint64_t time)
{
	while (t->next < t->nstarts && t->starts[t->next].time <= time)
		tracepoint_threads_start(t);
}

/* The index of the thread that has this id now. */
uint32_t tracepoint_threads_look_up(struct tracepoint_threads *t, uint32_t tid);
static inline uint32_t tracepoint_threads_at(struct tracepoint_threads *t, uint32_t tid)
{
	uint32_t i = tid % THREADS_RECENT;

	if (t->recent[i].tid == tid && t->recent[i].thread)
		return t->recent[i].thread - 1;
	return tracepoint_threads_look_up(t, tid);
}

void tracepoint_threads_free(struct tracepoint_threads *t);

#endif
