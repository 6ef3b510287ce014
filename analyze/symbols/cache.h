/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What several recordings read from the same files: a kernel's symbols, and open debug information.
 * Any thread may use it. A NULL cache is valid and holds nothing.
 */
#ifndef ZC_SYMBOL_CACHE_H
#define ZC_SYMBOL_CACHE_H

#include "lib/error.h"

struct inlines;
struct symtab;
struct symbol_cache;
struct unread;

struct symbol_cache *symbol_cache_new(void);
void symbol_cache_free(struct symbol_cache *c);

/* Fills the empty table `t` as kallsyms_read() does. Reads a file only once. */
int symbol_cache_kallsyms(struct symbol_cache *c, struct symtab *t, const char *path,
			  struct error *err);

/*
 * Opens the debug information at `path` as inlines_open() does, or takes it out of the cache. The
 * caller gives it back with symbol_cache_return(), or closes it.
 */
struct inlines *symbol_cache_inlines(struct symbol_cache *c, const char *path,
				     struct unread *unread);
void symbol_cache_return(struct symbol_cache *c, const char *path, struct inlines *in);

#endif
