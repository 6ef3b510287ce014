/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses into symbols, for one thread: its own replay of the address spaces, and a cache of the
 * addresses that were asked for lately, before `struct objects`, which all threads share.
 */
#ifndef ZC_PERFDATA_ADDRESSES_H
#define ZC_PERFDATA_ADDRESSES_H

#include "analyze/perfdata/objects.h"
#include "analyze/perfdata/space.h"

struct addresses {
	struct objects *objects;
	struct spaces spaces;
	uint32_t pid, version;		   /* the space at hand */
	const struct space *user, *kernel; /* its maps */
	struct cached_place *cache;
};

void addresses_init(struct addresses *a, struct objects *objects);
void addresses_free(struct addresses *a);

/*
 * Goes to a process's space in a version, never back to an earlier one. True: it is as it was in
 * the last call.
 */
bool addresses_enter(struct addresses *a, uint32_t pid, uint32_t version);

/* In the space entered; `mode`: PERF_RECORD_MISC_USER, ...; `ret`: a return address. */
struct place addresses_find(struct addresses *a, uint32_t mode, uint64_t addr, bool ret);

#endif
