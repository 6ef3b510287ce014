/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's header does not say about perf.data: the file's own record types and header
 * features (tools/perf), and what newer kernels added. Sizes are never taken from structs.
 */
#ifndef ZC_PERFDATA_FORMAT_H
#define ZC_PERFDATA_FORMAT_H

#include "lib/cursor.h"
#include "lib/hash.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by perf, not by the kernel. */
enum {
	REC_HEADER_ATTR = 64,
	REC_HEADER_EVENT_TYPE = 65,
	REC_HEADER_TRACING_DATA = 66,
	REC_HEADER_BUILD_ID = 67,
	REC_FINISHED_ROUND = 68,
	REC_AUXTRACE = 71,
	REC_EVENT_UPDATE = 78,
	REC_HEADER_FEATURE = 80,
	REC_COMPRESSED = 81,
	REC_FINISHED_INIT = 82,
	REC_COMPRESSED2 = 83,
	REC_KNOWN = 128, /* types from here on, and unknown ones below, are counted */
};

enum feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID = 2,
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_VERSION = 5,
	FEAT_ARCH = 6,
	FEAT_EVENT_DESC = 12,
	FEAT_GROUP_DESC = 17,
	FEAT_COMPRESSED = 27,
	FEAT_BITS = 256,
};

enum {
	MISC_BUILD_ID_SIZE = 1 << 15, /* of REC_HEADER_BUILD_ID */
	EVENT_UPDATE_NAME = 2,
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	RECORD_HEADER_SIZE = 8,
};

#define MISC_FORK_EXEC	   (1 << 13) /* of a FORK: made up by perf, the maps follow */
#define MISC_MMAP_BUILD_ID (1 << 14) /* of an MMAP2: a build-id in place of the inode */

/*
 * The events of a recording: struct perf_event_attr of any size and either endianness, the ids
 * that samples name them by, and their names.
 */

struct event {
	uint32_t type;
	uint64_t config, sample_period, sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr; /* masks */
	uint32_t stack_user;	       /* bytes */
	bool freq, inherit, sample_id_all;
	char modifier[16]; /* ":u", "" */
	char *name;	   /* NULL until known; owned */
};

struct events {
	struct event *list;
	size_t n, cap;
	struct map ids; /* id -> index + 1 */
};

/* Reads one attr, whose size is its own `size` field, 0 meaning 64. False: it is cut short. */
bool event_parse(struct event *e, struct cursor *c, bool big_endian);

/* Every event of a large kernel is some thousands; more than this is no recording. */
enum { EVENTS_MAX = 1 << 16 };

struct event *events_add(struct events *ev, const struct event *e);
void events_add_id(struct events *ev, uint64_t id, size_t index);
void event_set_name(struct event *e, const char *name, size_t len);

/* Names every event that nothing in the file named, from its type and config. */
void events_name_rest(struct events *ev);
void events_free(struct events *ev);

/*
 * One sample, field by field in the kernel's order (perf_event.h, PERF_RECORD_SAMPLE). Fields that
 * the event does not record are 0; cpu, pid and tid are then UINT32_MAX, period the event's own.
 */

struct sample {
	uint64_t id, ip, time, addr, period;
	uint32_t pid, tid, cpu;
	struct cursor read;   /* PERF_SAMPLE_READ: its bytes, for sample_read_value */
	const uint8_t *chain; /* nr addresses of 8 bytes, in the file's endianness */
	uint64_t nr;
};

/* What follows the call chain, for those who need it. NULL or 0: not recorded. */
struct sample_rest {
	const uint8_t *raw;
	uint32_t raw_size;
	uint64_t user_abi;
	struct cursor user_regs; /* one u64 per bit of the event's mask */
	const uint8_t *stack;
	uint64_t stack_size; /* bytes of it that hold something */
	uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const uint8_t *aux;
	uint64_t aux_size;
};

/*
 * Reads the sample's fields up to the call chain; `c` is its body and stands behind the chain
 * then. False: a field runs past the record's end.
 */
bool sample_decode(struct sample *s, const struct event *e, struct cursor *c);
bool sample_decode_rest(struct sample_rest *rest, const struct event *e, struct cursor *c);

/* Where the id stands in samples, bytes from the start; -1: they have none. Of at least one event.
 */
int sample_id_at(const struct events *ev);
long sample_event_by_id(const struct events *ev, struct cursor body);

/* The event a sample belongs to: its index, or -1 for an unknown id. One event needs no look-up. */
static inline long sample_event(const struct events *ev, struct cursor body)
{
	return ev->n == 1 ? 0 : sample_event_by_id(ev, body);
}

/* Entry `i` of a PERF_SAMPLE_READ field; false: there are no more. */
struct sample_value {
	uint64_t value, id;
};
bool sample_read_value(const struct sample *s, const struct event *e, unsigned int i,
		       struct sample_value *v);

/* PERF_FORMAT_LOST, newer than the header that this is built with. */
#define READ_LOST (1 << 4)

/*
 * The trailer of every other record (sample_id_all), read backwards from its end. False: the event
 * has none. `body` is the record without its header.
 */
const struct event *sample_trailer_event(const struct events *ev, struct cursor body);
bool sample_trailer_time(const struct events *ev, struct cursor body, uint64_t *time);

#endif
