/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that come in turns from several ring buffers into one order of time: see tracepoints.h. */
#ifndef ZC_PERFDATA_TIME_ORDER_H
#define ZC_PERFDATA_TIME_ORDER_H

#include "analyze/perfdata/spool.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/error.h"

enum { TIME_ORDER_PIECE = 1 << 20 };

/* Events in order: a stretch of what is in memory, or a sorted piece in the temporary file. */
struct time_order_run {
	const struct tracepoint *at, *end; /* in memory and not delivered yet */
	size_t number;			   /* runs with a lower one came in before */
	struct tracepoint *buf;		   /* of a piece: what at and end point into */
	uint64_t offset, left;		   /* of a piece: what is not read yet: where, events */
};

struct time_order {
	struct tracepoint *list; /* `piece` */
	size_t piece, n;	 /* they ascend, but for `starts`: */
	size_t *starts;		 /* where an ascending stretch begins: one of each ring buffer */
	size_t nstarts, starts_cap;
	uint64_t limit, max, last;   /* times: may go out; latest come in; last gone out */
	bool fresh;		     /* something came in since the round before */
	uint64_t late;		     /* went out behind a later one */
	struct time_order_run *runs; /* pieces */
	size_t nruns, runs_cap;
	struct spool spool;
	void (*deliver)(void *ctx, const struct tracepoint *t);
	void *ctx;
};

void time_order_init(struct time_order *o, size_t piece,
		     void (*deliver)(void *ctx, const struct tracepoint *t), void *ctx);
/* Fill in the slot, then keep it; equal times go out as they came in. 0, or -errno where a
 * temporary file cannot be written. */
static inline struct tracepoint *time_order_slot(struct time_order *o)
{
	return &o->list[o->n];
}

int time_order_keep(struct time_order *o, struct error *err);
int time_order_round(struct time_order *o, struct error *err);
int time_order_finish(struct time_order *o, struct error *err);
void time_order_free(struct time_order *o);

#endif
