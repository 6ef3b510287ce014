/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of a perf.data in the order of time: what tables of events rest on, where
 * profiles need no order. Of each event only the numbers asked for are taken, at offsets that its
 * format gives once.
 *
 * Order: each ring buffer is in order, the file holds them in turns. perf marks the end of such a
 * round; what is not later than the latest of the round before cannot be overtaken any more and is
 * delivered (as tools/perf/util/ordered-events.c does). Where no rounds are marked, sorted pieces
 * are put aside in a temporary file and merged. So memory holds a round, or a piece.
 *
 * Threads: an id that is forked anew is another thread. A thread has the name it had last.
 */
#ifndef ZC_PERFDATA_TRACEPOINTS_H
#define ZC_PERFDATA_TRACEPOINTS_H

#include "analyze/model/slice.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracepoints;

enum { TRACEPOINT_FIELDS = 3 };

/* Events to deliver. `name` is a glob; the fields' values come in this order. */
struct tracepoint_want {
	const char *system, *name;
	const char *fields[TRACEPOINT_FIELDS]; /* "name|other name"; NULL: no more */
};

struct tracepoint {
	uint64_t time; /* ns, perf's clock */
	uint64_t v[TRACEPOINT_FIELDS];
	uint32_t pid, tid, cpu;
	uint16_t want;	/* index */
	uint16_t event; /* for tracepoints_event */
};

struct tracepoint_thread {
	uint32_t pid, tid; /* pid UINT32_MAX: not recorded */
	uint32_t name;	   /* for tracepoints_string, UINT32_MAX: not recorded */
};

/* Reads all but the samples. Of those, `slice` counts. The caller closes also after an error. */
int tracepoints_open(struct tracepoints **tp, const char *path, const struct time_slice *slice,
		     struct error *err);
void tracepoints_close(struct tracepoints *tp);

const char *tracepoints_path(const struct tracepoints *tp);
const char *tracepoints_arch(const struct tracepoints *tp); /* as uname -m; NULL: not recorded */
/* Is such an event recorded? NULL: no; else the name of the first, without its system. */
const char *tracepoints_has(const struct tracepoints *tp, const char *system, const char *name);

/* Delivers the wanted events to `deliver`, whose thread is for tracepoints_thread. Once only. */
struct tracepoints_query {
	const struct tracepoint_want *wants;
	size_t n;
	void (*deliver)(void *ctx, const struct tracepoint *t, uint32_t thread);
	void *ctx;
};
int tracepoints_read(struct tracepoints *tp, const struct tracepoints_query *q, struct error *err);

/* The thread that has this id at the event being delivered; made up where none is known. */
uint32_t tracepoints_thread_of(struct tracepoints *tp, uint32_t tid);
const struct tracepoint_thread *tracepoints_thread(const struct tracepoints *tp, uint32_t thread);
/* Its name, ":<tid>" where that is not known: good until the next call then. */
const char *tracepoints_comm(struct tracepoints *tp, uint32_t thread);
/* The event's own name: "sys_enter". */
const char *tracepoints_event(const struct tracepoints *tp, uint16_t event);
/* Its print format, not terminated; NULL: it has none. */
const char *tracepoints_print_format(const struct tracepoints *tp, const char *system,
				     const char *name, size_t *len);

/* What was lost or odd; complete after tracepoints_read. */
struct tracepoints_health {
	uint64_t lost_records, lost_samples, late, outside;
	uint64_t doubled;   /* samples that stand twice in the file; delivered once */
	const char *damage; /* NULL: none */
};
struct tracepoints_health tracepoints_health(const struct tracepoints *tp);

#endif
