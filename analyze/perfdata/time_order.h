/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that come in turns from several ring buffers into one order of time: see tracepoints.h. */
#ifndef ZC_PERFDATA_TIME_ORDER_H
#define ZC_PERFDATA_TIME_ORDER_H

#include "analyze/perfdata/spool.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/error.h"

enum { TIME_ORDER_PIECE = 1 << 19 };

/* A sorted piece in the temporary file. */
struct time_order_run {
	uint64_t at, left;	/* what is not read yet: offset, events */
	struct tracepoint *buf; /* what is read and not delivered yet: buf[first .. n) */
	size_t first, n;
};

struct time_order {
	struct tracepoint *list, *tmp; /* `piece` of each */
	size_t piece, n, *bounds, bounds_cap;
	uint64_t limit, max, last; /* times: may go out; latest come in; last gone out */
	bool fresh;		   /* something came in since the round before */
	uint64_t late;		   /* went out behind a later one */
	struct time_order_run *runs;
	size_t nruns, runs_cap;
	struct spool spool;
	void (*deliver)(void *ctx, const struct tracepoint *t);
	void *ctx;
};

void time_order_init(struct time_order *o, size_t piece,
		     void (*deliver)(void *ctx, const struct tracepoint *t), void *ctx);
/* Equal times go out as they came in. 0, or -errno where a temporary file cannot be written. */
int time_order_add(struct time_order *o, const struct tracepoint *t, struct error *err);
int time_order_round(struct time_order *o, struct error *err);
int time_order_finish(struct time_order *o, struct error *err);
void time_order_free(struct time_order *o);

#endif
