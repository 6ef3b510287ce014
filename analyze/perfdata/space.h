/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The address spaces of all processes, replayed from the side-band in the order of time. Advance to
 * a version, then ask what is mapped. The side-band is only read: every thread can have a replay of
 * its own.
 */
#ifndef ZC_PERFDATA_SPACE_H
#define ZC_PERFDATA_SPACE_H

#include "analyze/perfdata/sideband.h"

/* Processes that forked share a list until one of them changes it. */
struct space_maps {
	uint32_t refs, n, cap;
	uint32_t id[]; /* of side-band maps, by address, without overlaps */
};

struct space {
	struct space_maps *maps; /* NULL: none */
	uint32_t state; /* 1 + the row that changed it last: the same state, the same maps */
};

struct spaces {
	const struct sideband *side;
	struct map index; /* pid -> index + 1 */
	struct space *list;
	size_t n, cap;
	struct space programs; /* in kernel memory: the `dso` of its maps is an index in ksymbols */
	struct side_map *pieces; /* what new maps left of old ones */
	size_t npieces, pieces_cap;
	uint32_t done;	       /* rows of the side-band applied */
	uint32_t kernel_state; /* as a space's: of the kernel's maps and programs */
};

/* Applies rows up to and including `version`; UINT32_MAX: none yet. Never goes back. */
void spaces_advance(struct spaces *s, uint32_t version);

/* The space of a process, or of KERNEL_PID; NULL: never told of. Valid until spaces_advance. */
const struct space *spaces_get(const struct spaces *s, uint32_t pid);

/* What is mapped at `addr` in a space, which may be NULL; or NULL. Valid until spaces_advance. */
const struct side_map *spaces_find(const struct spaces *s, const struct space *space,
				   uint64_t addr);

/* The program in kernel memory (BPF and the like) registered over `addr` now, or NULL. */
const struct side_ksymbol *spaces_ksymbol(const struct spaces *s, uint64_t addr);
void spaces_free(struct spaces *s);

#endif
