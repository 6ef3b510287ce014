/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a mapped object is: by the build-id or inode of its mapping, or by the build-ids in
 * the file's header. Any thread may read the identities after identities_init.
 */
#ifndef ZC_PERFDATA_OBJECTS_H
#define ZC_PERFDATA_OBJECTS_H

#include "analyze/perfdata/recording.h"
#include "analyze/symbols/dso.h"
#include "analyze/symbols/symtab.h"

#include <pthread.h>
#include <stdatomic.h>

struct identities {
	const struct recording *r;
	struct map shared_names; /* string -> non-zero if several files have this name */
	struct map header_ids;	 /* string -> index + 1 in the header's build-ids */
};

void identities_init(struct identities *ids, const struct recording *r);
void identities_free(struct identities *ids);

/* Returns the identity of a side-band object. Its strings belong to the recording. */
struct dso_identity identity_of(const struct identities *ids, uint32_t dso);

/* Returns the identity of a kernel module. */
struct dso_identity identity_of_module(const struct identities *ids, uint32_t dso);

/* Returns whether this is the "[vdso]" of a 32-bit process, which differs from the 64-bit one. */
bool identity_is_compat(const char *name, uint64_t start);

/* Returns whether this is memory without a file, such as anonymous memory. */
bool identity_has_no_file(const struct dso_identity *id);

/* Returns whether a host with this host's name and architecture made the recording. */
bool identity_is_this_host(const struct recording *r);

/* Returns where to search for the object's files. */
struct symbol_sources identity_sources(const struct recording *r, const struct perfdata_options *o,
				       const struct dso_identity *id);

/* --- kernel.c --- */

/* The kernel's symbols for one recording. */
struct kernel_symbols {
	struct symtab table; /* empty: no symbols */
	uint64_t delta;	 /* table address minus recorded address, for the kernel without modules */
	char *note;	 /* why there are no symbols, or NULL */
	bool mismatched; /* only another kernel's symbols were found */
	enum unresolved missing;       /* why an address in the kernel has no name */
	uint64_t core_start, core_end; /* the kernel itself in a copy; core_end 0: no copy */
	char *vmlinux;		       /* path of the ELF kernel that has the symbols, or NULL */
	struct symbol_cache *cache;    /* the cache of the options; or NULL */
};

/*
 * Searches where the options allow. Another thread may call it after pass one, because it changes
 * only `k`. `saved`: a copy that has the names of the kernel itself is enough.
 */
void kernel_symbols_load(struct kernel_symbols *k, const struct recording *r,
			 const struct perfdata_options *o, bool saved);
void kernel_symbols_free(struct kernel_symbols *k);

/* Returns whether the table surely has the right name for an address of the kernel. */
bool kernel_symbols_suffice(const struct kernel_symbols *k, uint64_t addr);

/* Returns whether the running kernel is the recorded one. */
bool kernel_is_this(const struct recording *r);

/* Returns the symbol at a recorded address, or NULL. */
struct symtab_symbol *kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr);

/* --- objects.c --- */

/*
 * The objects that addresses fall into, and their symbols in the profile. An object's symbol table
 * is read for its first address. After objects_init, any thread may call any function. Symbols get
 * numbers in the order of these calls.
 *
 * An address has one symbol. With --inline it also has the functions that the compiler inlined
 * there. For a return address, they are those at the call before it.
 */
enum object_state { OBJECT_NEW, OBJECT_READING, OBJECT_READY };

struct object {
	_Atomic enum object_state state; /* READY: nothing below changes any more */
	const char *path;		 /* as mapped */
	struct symtab table;
	uint32_t dso;		 /* index in the profile */
	enum unresolved missing; /* why its addresses have no names */
	bool identity;		 /* no file, so addresses are no offsets */
	struct inlines *inlines; /* NULL without --inline or without debug information */
	char *refused;		 /* why an existing file was not used, or NULL */
};

/* What an address means. The context comes from the kernel function's name. */
struct place {
	uint32_t symbol; /* index in the profile */
	enum context context;
	const struct place_inlined *inlined; /* NULL where nothing is inlined */
};

/*
 * The profile's symbols of inlined functions, outermost first. They live as long as struct objects.
 */
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
	struct object *list;		/* by side-band DSO */
	struct symtab_symbol *programs; /* by side-band ksymbol; only `id` and `context` are used */
	struct identities identities;
	struct inlines *kernel_inlines; /* NULL without --inline or without debug information */
	struct arena inlined;
	pthread_mutex_t lock; /* protects this struct and the profile */
	pthread_cond_t ready; /* signals that an object was read */
};

void objects_init(struct objects *ob, struct recording *r, struct kernel_symbols *kernel,
		  const struct perfdata_options *o);
void objects_free(struct objects *ob);

/*
 * Find the symbol at an address. `ret`: it is a return address. `program` and `module` are the
 * program and the module there, or NULL.
 */
struct place objects_find_kernel(struct objects *ob, uint64_t addr, bool ret,
				 const struct side_ksymbol *program, const struct side_map *module);
struct place objects_find_user(struct objects *ob, uint32_t pid, uint64_t addr, bool ret,
			       const struct side_map *map);
struct place objects_find_other(struct objects *ob, uint32_t mode, uint64_t addr);

#endif
