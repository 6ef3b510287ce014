/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sample, field by field in the kernel's order (perf_event.h, PERF_RECORD_SAMPLE). Fields that
 * the event does not record are 0; cpu, pid and tid are then UINT32_MAX, period the event's own.
 */
#ifndef ZC_PERFDATA_SAMPLE_H
#define ZC_PERFDATA_SAMPLE_H

#include "analyze/perfdata/attr.h"
#include "lib/cursor.h"

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
