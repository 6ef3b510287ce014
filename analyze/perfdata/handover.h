/* SPDX-License-Identifier: GPL-2.0-only */
/* Events from the thread that decodes them to the one that puts them in order and counts. */
#ifndef ZC_PERFDATA_HANDOVER_H
#define ZC_PERFDATA_HANDOVER_H

#include "analyze/perfdata/tracepoints.h"

#include <pthread.h>

enum { HANDOVER_EVENTS = 4096, HANDOVER_BATCHES = 8 };

struct handover_batch {
	size_t n;
	bool round, last; /* behind its events: a round ends; there are no more */
	struct tracepoint list[HANDOVER_EVENTS];
};

struct handover {
	struct handover_batch *batches;
	size_t made, taken; /* batches so far */
	bool stop;	    /* the taker wants no more */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

void handover_init(struct handover *h);
void handover_free(struct handover *h);

/* The maker: false, the taker wants no more. */
struct tracepoint *handover_slot(struct handover *h); /* fill it in, then keep it */
bool handover_keep(struct handover *h);
bool handover_round(struct handover *h);
void handover_end(struct handover *h);

/* The taker: waits for the next batch, which stays until handover_done. */
const struct handover_batch *handover_next(struct handover *h);
void handover_done(struct handover *h);
void handover_stop(struct handover *h);

#endif
