/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects that addresses fall into, and the profile's symbols for them. Symbol tables are read
 * when the first address asks for them. Every function gives the index of a profile symbol.
 */
#ifndef ZC_PERFDATA_OBJECTS_H
#define ZC_PERFDATA_OBJECTS_H

#include "analyze/perfdata/identity.h"
#include "analyze/perfdata/kernel.h"
#include "lib/str.h"

struct object {
	struct symtab table;
	uint32_t dso; /* profile's, or PROFILE_NONE: not yet asked for */
	bool addresses_only;
	bool identity; /* addresses are not offsets in a file: anonymous memory */
};

struct objects {
	struct recording *r;
	struct profile *p;
	const struct perfdata_options *o;
	struct kernel_symbols *kernel;
	bool kernel_used;
	struct map kernel_cache; /* address -> symbol + 1, where no ksymbol is */
	uint32_t kernel_dso, module_dso;
	uint32_t module;     /* offset of the name that module_dso is for */
	struct object *list; /* by index of the side-band's dsos */
	struct identities identities;
	struct str refused;
};

void objects_init(struct objects *ob, struct recording *r, struct kernel_symbols *kernel,
		  const struct perfdata_options *o);
void objects_free(struct objects *ob);

/* `program`: what is registered there, `module`: what the side-band says is mapped; or NULL. */
uint32_t objects_kernel(struct objects *ob, uint64_t addr, const struct side_ksymbol *program,
			const struct side_map *module);
uint32_t objects_user(struct objects *ob, uint32_t pid, uint64_t addr, const struct side_map *map);
uint32_t objects_other(struct objects *ob, uint32_t mode, uint64_t addr);

#endif
