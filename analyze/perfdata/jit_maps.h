/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that a compiler made at run time: the text files /tmp/perf-PID.map that it leaves, by
 * the convention of perf. Nothing in such a file says whose it is, so it counts only
 *   - below the folder of --symfs, or of a capture: somebody took it along; or
 *   - on the host that was recorded, if its last line was written neither before the process
 *     began, as far as the recording tells when, nor after the recording, unless that very process
 *     still runs.
 */
#ifndef ZC_PERFDATA_JIT_MAPS_H
#define ZC_PERFDATA_JIT_MAPS_H

#include "analyze/perfdata/recording.h"
#include "analyze/symbols/symtab.h"
#include "lib/str.h"

struct jit_map {
	struct symtab table; /* by address; empty: there is no map */
};

struct jit_maps {
	const struct recording *r;
	const struct perfdata_options *o;
	struct map index; /* pid -> index + 1 */
	struct jit_map *list;
	size_t n, cap;
	struct str refused; /* why files that there are were not used; a line each */
};

void jit_maps_init(struct jit_maps *j, const struct recording *r, const struct perfdata_options *o);
void jit_maps_free(struct jit_maps *j);

/* The process's function over the address, or NULL. Reads the file when first asked. */
struct symtab_symbol *jit_maps_find(struct jit_maps *j, uint32_t pid, uint64_t addr,
				    const char **name);

#endif
