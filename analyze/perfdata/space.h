/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address spaces of all processes, replayed from the side-band in the order of time. Advance to
 * a version, then ask what is mapped.
 */
#ifndef ZC_PERFDATA_SPACE_H
#define ZC_PERFDATA_SPACE_H

#include "analyze/perfdata/sideband.h"

struct space {
	uint32_t *maps; /* indexes of side-band maps, by address, without overlaps */
	uint32_t n, cap;
};

struct spaces {
	struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct space *list;
	size_t n, cap;
	uint32_t done; /* rows of the side-band applied */
};

/* Applies rows up to and including `version`; UINT32_MAX: none yet. Never goes back. */
void spaces_advance(struct spaces *s, uint32_t version);

/* What `pid` has mapped at `addr`, or NULL. Valid until the next spaces_advance. */
const struct side_map *spaces_find(const struct spaces *s, uint32_t pid, uint64_t addr);

/* The program in kernel memory (BPF and the like) registered over `addr` now, or NULL. */
const struct side_ksymbol *spaces_ksymbol(const struct spaces *s, uint64_t addr);
void spaces_free(struct spaces *s);

#endif
