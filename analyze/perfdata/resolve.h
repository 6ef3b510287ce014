/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks into the frames of a profile: each distinct stack once, and then freed. */
#ifndef ZC_PERFDATA_RESOLVE_H
#define ZC_PERFDATA_RESOLVE_H

#include "analyze/perfdata/fold.h"
#include "analyze/perfdata/objects.h"

void resolve_folds(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
		   const struct perfdata_options *o);

/*
 * Addresses into symbols, for one thread: its own replay of the address spaces, and a cache of the
 * addresses that were asked for lately, before `struct objects`, which all threads share.
 */

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

/*
 * Samples by instruction: where in its function the leaf of each stack is. Found while stacks are
 * resolved; then added up, and for functions that cost something their code and the lines of their
 * instructions are taken along, while it is known which files are the recorded ones.
 */

struct spot {
	uint32_t symbol;	 /* the profile's; PROFILE_NONE: not in a function we know */
	uint32_t object;	 /* index of the side-band's dsos; SPOT_KERNEL, SPOT_NOWHERE */
	uint64_t start, end, at; /* of the function, and the instruction: as its symbols count */
};

#define SPOT_KERNEL  UINT32_MAX
#define SPOT_NOWHERE (UINT32_MAX - 1)

/* Of an address that `a` has just found `symbol` for. */
struct spot spot_find(const struct addresses *a, uint32_t mode, uint64_t addr, uint32_t symbol);

/*
 * Adds the folds' samples to p->spots, and p->codes. `spots`: of all stacks, one fold after the
 * other. Events are still the recording's: spots_number_events.
 */
void spots_add(struct objects *ob, const struct folds *f, const struct spot *spots);

/* Symbols were numbered anew: `ids` by old number. */
void spots_number_symbols(struct profile *p, const uint32_t *ids);
/* Once the profile has its events. */
void spots_number_events(const struct recording *r);

/* What the folded stacks cost, as rows of the profile. */

/* What a folded stack came to. */
struct resolved {
	uint32_t frame; /* of the leaf */
	uint8_t context;
	bool bad_chain;
};

/* Adds the folds' costs and events to the profile. `out`: of all stacks, one fold after the other.
 */
void rows_add(struct recording *r, struct folds *f, const struct resolved *out);

#endif
