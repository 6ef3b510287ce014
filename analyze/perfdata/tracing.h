/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data's tracing data: what the fields of each recorded tracepoint are. libtraceevent reads
 * the text of one format; the container around the formats is perf's own (tools/perf/util/
 * trace-event-read.c) and is taken apart here:
 *
 *   17 08 44 "tracing"  version\0  big-endian?:1  long size:1  page size:4
 *   "header_page\0" size:8 ...  "header_event\0" size:8 ...
 *   formats of ftrace's own: n:4, n x (size:8 text)
 *   systems: n:4, n x (name\0, m:4, m x (size:8 text))
 *   kallsyms size:4 ...  printk formats size:4 ...  version 0.6: command names size:8 ...
 *
 * Nothing behind the systems is needed. Texts stay where they are: the bytes outlive the struct.
 */
#ifndef ZC_PERFDATA_TRACING_H
#define ZC_PERFDATA_TRACING_H

#include "lib/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	unsigned int long_size, page_size; /* of the recorded kernel, bytes */
	const char *cut; /* where it is damaged or cut off; what came before counts. NULL: whole */
};

/* False: these bytes are no tracing data, or are cut off before any format could come. */
bool tracing_read(struct tracing *t, struct cursor data);
void tracing_free(struct tracing *t);

/* The format of an event, or NULL. */
struct tracing_format *tracing_find(const struct tracing *t, uint64_t id);

/* Where a number lies in the event's raw data. */
struct tracing_field {
	uint32_t at;
	uint8_t size; /* 1, 2, 4, 8; 0: the event has no such number */
	bool sign;
};

struct tracing_field tracing_field(struct tracing *t, struct tracing_format *f, const char *name);

/* The print format behind "print fmt:", not terminated; NULL: there is none. */
const char *tracing_print_format(const struct tracing_format *f, size_t *len);

/* The field's value, sign-extended; 0 and *bad where the raw data ends before it. */
static inline uint64_t tracing_value(struct tracing_field f, const uint8_t *raw, uint32_t size,
				     bool swap, bool *bad)
{
	struct cursor c = cursor_of(raw, size, swap);
	uint64_t v = 0;

	cursor_take(&c, f.at);
	switch (f.size) {
	case 1:
		v = cursor_u8(&c);
		v = f.sign ? (uint64_t)(int8_t)v : v;
		break;
	case 2:
		v = cursor_u16(&c);
		v = f.sign ? (uint64_t)(int16_t)v : v;
		break;
	case 4:
		v = cursor_u32(&c);
		v = f.sign ? (uint64_t)(int32_t)v : v;
		break;
	case 8:
		v = cursor_u64(&c);
		break;
	}
	*bad |= c.bad;
	return v;
}

#endif
