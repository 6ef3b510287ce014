/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The format of perf.data: constants, events and samples.
 *
 * The constants are those that <linux/perf_event.h> lacks: perf's own record types and header
 * features (tools/perf), and what newer kernels added. No size comes from a struct.
 */
#ifndef ZC_PERFDATA_FORMAT_H
#define ZC_PERFDATA_FORMAT_H

#include "lib/cursor.h"
#include "lib/hash.h"

#include <linux/perf_event.h>

/* perf writes these records, not the kernel. */
enum {
	REC_HEADER_ATTR = 64,
	REC_HEADER_TRACING_DATA = 66,
	REC_HEADER_BUILD_ID = 67,
	REC_FINISHED_ROUND = 68,
	REC_AUXTRACE = 71,
	REC_EVENT_UPDATE = 78,
	REC_HEADER_FEATURE = 80,
	REC_COMPRESSED = 81,
	REC_COMPRESSED2 = 83,
};

enum feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID = 2,
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_ARCH = 6,
	FEAT_EVENT_DESC = 12,
	FEAT_BITS = 256,
};

enum {
	MISC_BUILD_ID_SIZE = 1 << 15, /* in REC_HEADER_BUILD_ID */
	EVENT_UPDATE_NAME = 2,
	PIPE_HEADER_SIZE = 16,
	RECORD_HEADER_SIZE = 8,
};

#define MISC_FORK_EXEC	      (1 << 13) /* in FORK: perf wrote the record, and the maps follow */
#define MISC_MMAP_BUILD_ID    (1 << 14) /* in MMAP2: a build-id replaces the inode */
#define MISC_LOST_SAMPLES_BPF (1 << 15) /* in LOST_SAMPLES: a filter left them out */

/* --- sample.c: events --- */

/*
 * An event of a recording, from a struct perf_event_attr of any size and either endianness.
 */
struct event {
	uint32_t type;
	uint64_t config, sample_period, sample_type, read_format, branch_sample_type;
	uint64_t regs_user;  /* mask */
	uint32_t stack_user; /* bytes */
	bool freq, inherit, sample_id_all;
	char modifier[16]; /* ":u", or "" without a modifier */
	char *name;	   /* NULL until it is known; owned */
};

struct events {
	struct event *list;
	size_t n, cap;
	struct map ids; /* id in samples -> index + 1 */
};

/* Reads one attr. Its `size` field gives its size; 0 means 64. Returns false if it is cut off. */
bool event_parse(struct event *e, struct cursor *c, bool big_endian);

/* A large kernel has some thousands of events, so more than this is damage. */
enum { EVENTS_MAX = 1 << 16 };

struct event *events_add(struct events *ev, const struct event *e);
void events_add_id(struct events *ev, uint64_t id, size_t index);
void event_set_name(struct event *e, const char *name, size_t len);

/* Makes up names from type and config for events that the file does not name. */
void events_name_rest(struct events *ev);
void events_free(struct events *ev);

/* --- sample.c: samples --- */

/*
 * The fields of one sample in the kernel's order (perf_event.h, PERF_RECORD_SAMPLE). A field that
 * the event does not record is 0, but cpu, pid and tid are then UINT32_MAX, and period is the
 * event's.
 */
struct sample {
	uint64_t id, ip, time, period;
	uint32_t pid, tid, cpu;
	struct cursor read;   /* the bytes of PERF_SAMPLE_READ, for sample_read_value */
	const uint8_t *chain; /* nr addresses of 8 bytes, in the file's endianness */
	uint64_t nr;
};

/* The fields after the call chain, up to the user stack. NULL or 0: not recorded. */
struct sample_rest {
	const uint8_t *raw;
	uint32_t raw_size;
	const uint8_t *branches; /* { from, to, flags } each, the last branch first */
	uint64_t nbranches;
	uint64_t user_abi;
	struct cursor user_regs; /* one u64 per bit of the event's mask */
	const uint8_t *stack;
	uint64_t stack_size; /* bytes that the kernel has filled */
};

/*
 * Reads the fields up to the call chain. `c` is the sample's body and ends behind the chain.
 * Returns false if a field runs past the record's end.
 */
bool sample_decode(struct sample *s, const struct event *e, struct cursor *c);
bool sample_decode_rest(struct sample_rest *rest, const struct event *e, struct cursor *c);

/* Returns the offset of the id in samples, or -1 if they have none. There must be an event. */
int sample_id_at(const struct events *ev);
long sample_event_by_id(const struct events *ev, struct cursor body);

/* Returns the index of the sample's event, or -1 for an unknown id. */
static inline long sample_event(const struct events *ev, struct cursor body)
{
	return ev->n == 1 ? 0 : sample_event_by_id(ev, body);
}

/* Reads entry `i` of a PERF_SAMPLE_READ field. Returns false after the last entry. */
struct sample_value {
	uint64_t value, id;
};
bool sample_read_value(const struct sample *s, const struct event *e, unsigned int i,
		       struct sample_value *v);

/* PERF_FORMAT_LOST, which older headers lack. */
#define READ_LOST (1 << 4)

/*
 * Read the trailer (sample_id_all) of a record that is no sample, backwards from its end. `body` is
 * the record without its header. They return NULL and false without a trailer.
 */
const struct event *sample_trailer_event(const struct events *ev, struct cursor body);
bool sample_trailer_time(const struct events *ev, struct cursor body, uint64_t *time);

#endif
