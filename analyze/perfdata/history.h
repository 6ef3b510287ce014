/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address spaces of all processes at all times, for look-ups in any order and by any thread;
 * space.c, which replays them, only goes forward. Both give the same map: the last one over an
 * address since the process was forked, and before that its parent's at that time.
 */
#ifndef ZC_PERFDATA_HISTORY_H
#define ZC_PERFDATA_HISTORY_H

#include "analyze/perfdata/sideband.h"

struct history_map {
	uint64_t start, end, reach; /* reach: the furthest end of the maps up to this one */
	uint32_t row, map;	    /* of the side-band */
};

struct history_space {
	struct history_map *maps; /* by start */
	uint32_t *forks;	  /* rows that began it, in their order */
	uint32_t n, cap, nforks, forks_cap;
};

struct history {
	const struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct history_space *list;
	size_t n, cap;
};

/* The side-band is finished and outlives it. */
void history_make(struct history *h, const struct sideband *side);
void history_free(struct history *h);

/*
 * What `pid` had mapped at `addr` in `version` (UINT32_MAX: nothing yet), or NULL. Later maps may
 * have taken parts of it away, but not this address.
 */
const struct side_map *history_find(const struct history *h, uint32_t pid, uint64_t addr,
				    uint32_t version);

#endif
