/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of tracepoints.c: formats, plans, threads and the order of time.
 *
 * The tracing data of perf.data describes the fields of each recorded tracepoint. libtraceevent
 * parses the text of one format. The container is perf's own (tools/perf/util/trace-event-read.c):
 *   17 08 44 "tracing"  version\0  big-endian?:1  long size:1  page size:4
 *   "header_page\0" size:8 ...  "header_event\0" size:8 ...
 *   ftrace's own formats: n:4, n x (size:8 text)
 *   systems: n:4, n x (name\0, m:4, m x (size:8 text))
 *   kallsyms size:4 ...  printk formats size:4 ...  version 0.6: command names size:8 ...
 *
 * zcost needs nothing after the systems. The texts stay in the bytes, which must outlive the
 * struct.
 */
#ifndef ZC_PERFDATA_TRACEPOINT_PARTS_H
#define ZC_PERFDATA_TRACEPOINT_PARTS_H

#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/tracepoints.h"

struct tep_handle;

struct tracing_format {
	uint64_t id;  /* the event's `config` */
	char *system; /* "sched"; owned */
	char *name;   /* "sched_switch"; owned */
	const char *text;
	size_t size;
	bool parsed;
};

struct tracing {
	struct tep_handle *tep;
	struct tracing_format *formats;
	size_t n, cap;
	bool big_endian;
	unsigned int long_size; /* that of the recorded kernel, in bytes */
	const char *cut; /* where the data is cut off; formats before that count. NULL: whole */
};

/* Returns false if the bytes are no tracing data, or are cut off before the formats. */
bool tracing_read(struct tracing *t, struct cursor data);
void tracing_free(struct tracing *t);

/* Returns the format of an event, or NULL. */
struct tracing_format *tracing_find(const struct tracing *t, uint64_t id);

/* The place of a number in the event's raw data. */
struct tracing_field {
	uint32_t at;
	uint8_t size; /* 1, 2, 4 or 8; 0: the event has no such number */
	bool sign;
};

struct tracing_field tracing_field(struct tracing *t, struct tracing_format *f, const char *name);

/* Returns the text after "print fmt:", not terminated, or NULL. */
const char *tracing_print_format(const struct tracing_format *f, size_t *len);

/* Returns the field's value, sign-extended. The raw data must hold the field. */
static inline __attribute__((always_inline)) uint64_t tracing_value(struct tracing_field f,
								    const uint8_t *raw, bool swap)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (f.size) {
	case 1:
		return f.sign ? (uint64_t)(int8_t)raw[f.at] : raw[f.at];
	case 2:
		memcpy(&two, raw + f.at, sizeof(two));
		two = swap ? __builtin_bswap16(two) : two;
		return f.sign ? (uint64_t)(int16_t)two : two;
	case 4:
		memcpy(&four, raw + f.at, sizeof(four));
		four = swap ? __builtin_bswap32(four) : four;
		return f.sign ? (uint64_t)(int32_t)four : four;
	default:
		memcpy(&eight, raw + f.at, sizeof(eight));
		return swap ? __builtin_bswap64(eight) : eight;
	}
}

/* What to read from the samples of one event, and where it lies. */
struct tracepoint_plan {
	bool wanted;
	uint16_t want;
	struct tracing_field fields[TRACEPOINT_FIELDS];
	uint32_t nfields;
	/*
	 * No field of variable length precedes the raw data, as in all recordings that perf makes
	 * by default. The members below are then offsets in the sample.
	 */
	bool fixed;
	uint32_t ids, time, cpu,
		raw;   /* ids: pid and tid; cpu: 0 if not recorded; raw: the size of the raw data */
	uint32_t need; /* bytes of raw data up to the end of the last field */
};

/* The caller sets wanted, want and fields first. */
void tracepoint_plan_finish(struct tracepoint_plan *p, const struct event *e);

/* Returns NULL, or what is wrong with the sample. */
const char *tracepoint_plan_read(const struct tracepoint_plan *p, const struct event *e,
				 const struct cursor *body, struct tracepoint *t);

/* Which thread a tid means at a time, and the thread's last name. */

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
	size_t nstarts, starts_cap, next; /* next: the first start that is still to come */
	struct {
		uint32_t tid, thread; /* thread: index + 1; 0: free */
	} recent[THREADS_RECENT];     /* the last look-ups, by tid */
};

/* `side` must be finished. */
void tracepoint_threads_init(struct tracepoint_threads *t, const struct sideband *side);
/* Apply the starts up to `time`, which must not decrease. */
void tracepoint_threads_start(struct tracepoint_threads *t);
static inline void tracepoint_threads_advance(struct tracepoint_threads *t, uint64_t time)
{
	while (t->next < t->nstarts && t->starts[t->next].time <= time)
		tracepoint_threads_start(t);
}

/* Returns the index of the thread that has this tid now. */
uint32_t tracepoint_threads_look_up(struct tracepoint_threads *t, uint32_t tid);
static inline uint32_t tracepoint_threads_at(struct tracepoint_threads *t, uint32_t tid)
{
	uint32_t i = tid % THREADS_RECENT;

	if (t->recent[i].tid == tid && t->recent[i].thread)
		return t->recent[i].thread - 1;
	return tracepoint_threads_look_up(t, tid);
}

void tracepoint_threads_free(struct tracepoint_threads *t);

/*
 * Sorts events from several ring buffers by time. Events with equal times stay in order. The user
 * sets `deliver` and `ctx` of a zeroed struct.
 */
struct time_order {
	struct tracepoint *list, *merged; /* merged: a second place while it sorts */
	size_t n, cap;
	size_t *starts; /* the first events of ascending stretches, one per ring buffer */
	size_t nstarts, starts_cap;
	uint64_t limit, max, last; /* times: deliverable, latest, delivered last */
	bool fresh;		   /* an event arrived since the last round */
	uint64_t late;		   /* events delivered after a later one */
	void (*deliver)(void *ctx, const struct tracepoint *t);
	void *ctx;
};

/* Returns the place for the next event. The caller fills it, and then may keep it. */
struct tracepoint *time_order_slot(struct time_order *o);
void time_order_keep(struct time_order *o);
/* Ends a round: delivers the events up to the latest time of the round before. */
void time_order_round(struct time_order *o);
void time_order_finish(struct time_order *o);
void time_order_free(struct time_order *o);

#endif
