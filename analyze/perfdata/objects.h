/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a mapped object is, as far as the recording tells: the mapping's build-id or inode,
 * the build-ids in the file's header. Once set up, it is only read, by any thread.
 */
#ifndef ZC_PERFDATA_OBJECTS_H
#define ZC_PERFDATA_OBJECTS_H

#include "analyze/perfdata/recording.h"
#include "analyze/symbols/dso.h"
#include "analyze/symbols/symtab.h"
#include "lib/arena.h"
#include "lib/str.h"

#include <pthread.h>
#include <stdatomic.h>

struct identities {
	const struct recording *r;
	struct map shared_names; /* string -> not 0: several files have it */
	struct map header_ids;	 /* string -> index + 1 in the header's build-ids */
};

void identities_init(struct identities *ids, const struct recording *r);
void identities_free(struct identities *ids);

/* Of an object of the side-band, by index. Its strings are the recording's. */
struct dso_identity identity_of(const struct identities *ids, uint32_t dso);

/* The same of a kernel module. */
struct dso_identity identity_of_module(const struct identities *ids, uint32_t dso);

/* "[vdso]" of a 32-bit process: another one than ours, under the same name. */
bool identity_is_compat(const char *name, uint64_t start);

/* Anonymous memory and the like: there is no file, addresses are not offsets in one. */
bool identity_has_no_file(const struct dso_identity *id);

/* Was it recorded on a host of our name? */
bool identity_is_this_host(const struct recording *r);

/* Where files that explain it may be looked for. */
struct symbol_sources identity_sources(const struct recording *r, const struct perfdata_options *o,
				       const struct dso_identity *id);

/* The kernel's symbols for one recording: from where, whether they belong to it, and moved how. */

struct kernel_symbols {
	struct symtab table;	 /* empty: none */
	uint64_t delta;		 /* table address - address when recorded, of the kernel proper */
	char *note;		 /* why there are none, else NULL */
	bool mismatched;	 /* some were there, but of another kernel */
	enum unresolved missing; /* why an address in the kernel has no name */
	char *vmlinux;		 /* path of the ELF kernel they are from, or NULL */
};

/*
 * Looks where the options allow. May run on a thread of its own once pass one is done: it changes
 * nothing but `k`.
 */
void kernel_symbols_load(struct kernel_symbols *k, const struct recording *r,
			 const struct perfdata_options *o);
void kernel_symbols_free(struct kernel_symbols *k);

/* Was this recorded on the kernel that runs now? */
bool kernel_is_this(const struct recording *r);

/* The symbol over a recorded address, or NULL. */
struct symtab_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr);

/*
 * Functions that a compiler made at run time: the text files /tmp/perf-PID.map that it leaves, by
 * the convention of perf. Nothing in such a file says whose it is, so it counts only
 *   - below the folder of --symfs, or of a capture: somebody took it along; or
 *   - on the host that was recorded, if its last line was written neither before the process
 *     began, as far as the recording tells when, nor after the recording, unless that very process
 *     still runs.
 */

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

/*
 * The objects that addresses fall into, and the profile's symbols for them. Symbol tables are read
 * when the first address asks for them. Shared by the threads that resolve: what follows
 * objects_init may be called by any of them; symbols are numbered as they come.
 *
 * Inlined functions: an address is one symbol, and where --inline asks for it, the functions whose
 * code was put there. A return address is looked up for them at the call before it.
 */

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
struct place objects_find_kernel(struct objects *ob, uint64_t addr, bool ret,
				 const struct side_ksymbol *program, const struct side_map *module);
struct place objects_find_user(struct objects *ob, uint32_t pid, uint64_t addr, bool ret,
			       const struct side_map *map);
struct place objects_find_other(struct objects *ob, uint32_t mode, uint64_t addr);

#endif
