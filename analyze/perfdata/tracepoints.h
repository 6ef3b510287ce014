/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of a perf.data in the order of time, for tables of events. (Profiles need no
 * order.) Of each event, only the requested numbers are read. Its format gives their offsets once.
 *
 * Each ring buffer is in order, and the file has the buffers in turns. perf marks the end of each
 * round of turns. Events up to the latest time of the previous round are then complete and can be
 * delivered (as in tools/perf/util/ordered-events.c). So memory holds two rounds, and without marks
 * all events.
 *
 * A tid that is forked again is a new thread. A thread has the last name that it got.
 */
#ifndef ZC_PERFDATA_TRACEPOINTS_H
#define ZC_PERFDATA_TRACEPOINTS_H

#include "analyze/model/profile.h"

struct notes; /* lib/note.h */
struct tracepoints;

enum { TRACEPOINT_FIELDS = 3 };

/* Events to deliver. The values are in the order of `fields`. */
struct tracepoint_want {
	const char *system, *name;
	const char *fields[TRACEPOINT_FIELDS]; /* "id" or "args[1]"; ends with NULL */
};

struct tracepoint {
	uint64_t time; /* ns, perf's clock */
	uint64_t v[TRACEPOINT_FIELDS];
	uint32_t pid, tid, cpu;
	uint16_t want; /* index into the query's wants */
};

struct tracepoint_thread {
	uint32_t pid, tid; /* pid UINT32_MAX: not recorded */
	uint32_t name;	   /* string id; UINT32_MAX: not recorded */
};

/*
 * Reads everything but the samples. Only samples in `slice` will be delivered. The caller calls
 * tracepoints_close, also after an error.
 */
int tracepoints_open(struct tracepoints **tp, const char *path, const struct time_slice *slice,
		     struct error *err);
void tracepoints_close(struct tracepoints *tp);

const char *tracepoints_path(const struct tracepoints *tp);
const char *tracepoints_arch(const struct tracepoints *tp); /* as uname -m; NULL: not recorded */
/* Returns whether the event is recorded. */
bool tracepoints_has(const struct tracepoints *tp, const char *system, const char *name);

/* Delivers the wanted events, once. `thread` is for tracepoints_thread. */
struct tracepoints_query {
	const struct tracepoint_want *wants;
	size_t n;
	void (*deliver)(void *ctx, const struct tracepoint *t, uint32_t thread);
	void *ctx;
};
int tracepoints_read(struct tracepoints *tp, const struct tracepoints_query *q, struct error *err);

/* Returns the thread that has this tid at the current event. Adds an unknown thread. */
uint32_t tracepoints_thread_of(struct tracepoints *tp, uint32_t tid);
const struct tracepoint_thread *tracepoints_thread(const struct tracepoints *tp, uint32_t thread);
/* Returns the thread's name, or ":<tid>". Valid until the next call. */
const char *tracepoints_comm(struct tracepoints *tp, uint32_t thread);
/* Returns the event's print format, not terminated, or NULL. */
const char *tracepoints_print_format(const struct tracepoints *tp, const char *system,
				     const char *name, size_t *len);

/* Adds what was lost or odd, after tracepoints_read. */
void tracepoints_add_notes(const struct tracepoints *tp, struct notes *notes);

#endif
