/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of some stacks, a trie of its own that is grafted onto the profile's later: small
 * enough to stay in a cache while it grows. Frames are numbered from 0, parents before children.
 */
#ifndef ZC_PERFDATA_BRANCH_H
#define ZC_PERFDATA_BRANCH_H

#include "analyze/model/profile.h"

struct branch {
	struct profile_frame *frames;
	uint32_t n, cap;
};

/* What finds a frame by parent and symbol; serves one branch after the other. */
struct branch_index {
	uint32_t *slots; /* frame + 1; 0: free */
	uint32_t nslots; /* a power of two */
};

/* Readies the index for a new branch. */
void branch_start(struct branch *b, struct branch_index *x);

/* The frame of `symbol` below `parent` (PROFILE_NONE: a root), made where there is none. */
uint32_t branch_frame(struct branch *b, struct branch_index *x, uint32_t parent, uint32_t symbol);

/* Adds the branch to the profile: ids[frame] is set to the profile's frame. */
void branch_graft(const struct branch *b, struct profile *p, uint32_t *ids);

void branch_free(struct branch *b);
void branch_index_free(struct branch_index *x);

#endif
