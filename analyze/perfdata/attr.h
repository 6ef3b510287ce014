/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a recording: struct perf_event_attr of any size and either endianness, the ids
 * that samples name them by, and their names.
 */
#ifndef ZC_PERFDATA_ATTR_H
#define ZC_PERFDATA_ATTR_H

#include "lib/cursor.h"
#include "lib/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void events_id(struct events *ev, uint64_t id, size_t index);
void event_set_name(struct event *e, const char *name, size_t len);

/* Names every event that nothing in the file named, from its type and config. */
void events_name_rest(struct events *ev);
void events_free(struct events *ev);

#endif
