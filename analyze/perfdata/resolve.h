/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns folded stacks into frames of the profile and frees them. Each distinct stack is resolved
 * once.
 */
#ifndef ZC_PERFDATA_RESOLVE_H
#define ZC_PERFDATA_RESOLVE_H

#include "analyze/perfdata/fold.h"
#include "analyze/perfdata/objects.h"

void resolve_folds(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
		   const struct perfdata_options *o);

/*
 * Looks up symbols for one thread. Each thread has a cache of recent addresses. `objects` and the
 * history are shared.
 */
struct addresses {
	struct objects *objects;
	const struct history *history;
	uint32_t pid, version;		   /* the current space */
	uint32_t user_state, kernel_state; /* the state of the maps in the current space */
	struct cached_place *cache;
};

/* --- spots.c --- */

/*
 * Samples by instruction: where each stack's leaf lies in its function. Resolving finds the spots.
 * Then their samples are added up, and functions that cost enough get their code and lines while
 * the recorded files are still known.
 */
struct spot {
	uint32_t symbol; /* in the profile; PROFILE_NONE: not in a known function */
	uint32_t object; /* index of a side-band DSO, SPOT_KERNEL or SPOT_NOWHERE */
	/* The function and the instruction, in the addresses of the symbol table. */
	uint64_t start, end, at;
};

#define SPOT_KERNEL  UINT32_MAX
#define SPOT_NOWHERE (UINT32_MAX - 1)

/* Returns the spot of an address whose symbol `a` has just found. */
struct spot spot_find(const struct addresses *a, uint32_t mode, uint64_t addr, uint32_t symbol);

/*
 * Adds the folds' samples to p->spots, and fills p->codes. `spots` has all stacks, one fold after
 * the other. Events still have the recording's numbers; spots_number_events changes that.
 */
void spots_add(struct objects *ob, const struct folds *f, const struct spot *spots);

/* Renumbers symbols. `ids` is indexed by the old number. */
void spots_number_symbols(struct profile *p, const uint32_t *ids);
/* Renumbers events, once the profile has them. */
void spots_number_events(const struct recording *r);

/* --- costs.c --- */

/* The result for a folded stack. */
struct resolved {
	uint32_t frame; /* the leaf's frame */
	uint8_t context;
	bool bad_chain;
};

/*
 * Adds the folds' costs and events to the profile. `out` has all stacks, one fold after the other.
 */
void rows_add(struct recording *r, struct folds *f, const struct resolved *out);

/* --- exact.c --- */

/* Weighs the samples of cycles by the exact time of their places. `x` may be NULL. */
void folds_weigh_cycles(struct folds *f, const struct recording *r, const struct exact *x,
			const struct resolved *out);

#endif
