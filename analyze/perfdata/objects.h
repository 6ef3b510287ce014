/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects that addresses fall into, and the profile's symbols for them. Symbol tables are read
 * when the first address asks for them. Shared by the threads that resolve: what follows
 * objects_init may be called by any of them; symbols are numbered as they come.
 *
 * Inlined functions: an address is one symbol, and where --inline asks for it, the functions whose
 * code was put there. A return address is looked up for them at the call before it.
 */
#ifndef ZC_PERFDATA_OBJECTS_H
#define ZC_PERFDATA_OBJECTS_H

#include "analyze/perfdata/identity.h"
#include "analyze/perfdata/jit_maps.h"
#include "analyze/perfdata/kernel.h"
#include "analyze/symbols/dso.h"
#include "lib/arena.h"

#include <pthread.h>
#include <stdatomic.h>

enum object_state { OBJECT_NEW, OBJECT_READING, OBJECT_READY };

struct object {
	_Atomic enum object_state state; /* READY: the rest does not change any more */
	const char *path;		 /* as mapped */
	struct symtab table;
	uint32_t dso;		 /* profile's */
	enum unresolved missing; /* why addresses in it have no name */
	bool identity;		 /* addresses are not offsets in a file: anonymous memory */
	struct inlines *inlines; /* where they were asked for, and the files tell; or NULL */
	char *refused;		 /* why a file that there is was not used; or NULL */
};

/* What an address came to. The context is what a kernel function says of where it runs. */
struct place {
	uint32_t symbol; /* the profile's */
	enum context context;
	const struct place_inlined *inlined; /* what is inlined there; NULL: nothing */
};

/* The profile's symbols of the functions, outermost first. Lives as long as struct objects. */
struct place_inlined {
	size_t n;
	uint32_t symbols[];
};

struct objects {
	struct recording *r;
	struct profile *p;
	const struct perfdata_options *o;
	struct kernel_symbols *kernel;
	atomic_bool kernel_used;
	uint32_t kernel_dso;
	struct object *list;		/* by index of the side-band's dsos */
	struct symtab_symbol *programs; /* by index of its ksymbols: for their `id` alone */
	struct identities identities;
	struct jit_maps jit;
	struct inlines *kernel_inlines;
	bool kernel_inlines_tried;
	struct arena inlined;
	pthread_mutex_t lock; /* over what changes in this, and over the profile */
	pthread_cond_t ready; /* an object was read */
};

void objects_init(struct objects *ob, struct recording *r, struct kernel_symbols *kernel,
		  const struct perfdata_options *o);
void objects_free(struct objects *ob);

/* `ret`: a return address. `program`: what is registered there, `module`: what the side-band says
 * is mapped; or NULL. */
struct place objects_kernel(struct objects *ob, uint64_t addr, bool ret,
			    const struct side_ksymbol *program, const struct side_map *module);
struct place objects_user(struct objects *ob, uint32_t pid, uint64_t addr, bool ret,
			  const struct side_map *map);
struct place objects_other(struct objects *ob, uint32_t mode, uint64_t addr);

#endif
