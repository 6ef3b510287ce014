/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples by instruction: where in its function the leaf of each stack is. Found while stacks are
 * resolved; then added up, and for functions that cost something their code and the lines of their
 * instructions are taken along, while it is known which files are the recorded ones.
 */
#ifndef ZC_PERFDATA_SPOTS_H
#define ZC_PERFDATA_SPOTS_H

#include "analyze/perfdata/addresses.h"
#include "analyze/perfdata/pass_two.h"

struct spot {
	uint32_t symbol;	 /* the profile's; PROFILE_NONE: not in a function we know */
	uint32_t object;	 /* index of the side-band's dsos; SPOT_KERNEL, SPOT_NOWHERE */
	uint64_t start, end, at; /* of the function, and the instruction: as its symbols count */
};

#define SPOT_KERNEL  UINT32_MAX
#define SPOT_NOWHERE (UINT32_MAX - 1)

/* Of an address that `a` has just found `symbol` for. */
struct spot spot_of(const struct addresses *a, uint32_t mode, uint64_t addr, uint32_t symbol);

/*
 * Adds the folds' samples to p->spots, and p->codes. `spots`: of all stacks, one fold after the
 * other. Events are still the recording's: spots_number_events.
 */
void spots_add(struct objects *ob, const struct folds *f, const struct spot *spots);

/* Symbols were numbered anew: `ids` by old number. */
void spots_number_symbols(struct profile *p, const uint32_t *ids);
/* Once the profile has its events. */
void spots_number_events(const struct recording *r);

#endif
