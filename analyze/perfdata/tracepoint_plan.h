/* SPDX-License-Identifier: GPL-2.0-only */
/* What to take from the samples of one event, and where it lies: see tracepoints.h. */
#ifndef ZC_PERFDATA_TRACEPOINT_PLAN_H
#define ZC_PERFDATA_TRACEPOINT_PLAN_H

#include "analyze/perfdata/attr.h"
#include "analyze/perfdata/tracepoints.h"
#include "analyze/perfdata/tracing.h"

struct tracepoint_plan {
	bool wanted;
	uint16_t want, event;
	struct tracing_field fields[TRACEPOINT_FIELDS];
	uint32_t nfields;
	/*
	 * Nothing of variable length stands before the raw data, as in all that perf record
	 * writes of itself: then these are bytes from the sample's start.
	 */
	bool fixed;
	uint32_t ids, time, cpu, raw; /* ids: pid and tid; cpu 0: not recorded; raw: its size */
	uint32_t need;		      /* bytes of raw data that the fields lie in */
};

/* After wanted, want, event and fields are set. */
void tracepoint_plan_finish(struct tracepoint_plan *p, const struct event *e);

/* NULL, or what is wrong with the sample. */
const char *tracepoint_take(const struct tracepoint_plan *p, const struct event *e,
			    const struct cursor *body, struct tracepoint *t);

#endif
