/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's symbols for one recording: from where, whether they belong to it, and moved how. */
#ifndef ZC_PERFDATA_KERNEL_H
#define ZC_PERFDATA_KERNEL_H

#include "analyze/perfdata/recording.h"
#include "analyze/symbols/symtab.h"

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

#endif
