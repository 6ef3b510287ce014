/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of symbols: address -> name. Filled with symtab_add in any order, closed with
 * symtab_finish, then searched. Where symbols share an address or have no size, it chooses and
 * extends them as perf does (symbols__fixup_end, symbols__fixup_duplicate), so that the names in a
 * profile are the ones perf report prints. More symbols may be added after symtab_finish, which is
 * then called again.
 *
 * Addresses are whatever the caller uses: kernel addresses, or offsets in an ELF file.
 */
#ifndef ZC_SYMTAB_H
#define ZC_SYMTAB_H

#include "lib/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab_symbol {
	uint64_t start, end; /* [start, end) */
	uint32_t name;	     /* offset in `names` */
	uint32_t module;     /* kallsyms: offset in `names` of "[mod]", 0: none */
	uint32_t id;	     /* for the user of the table; 0 at first */
	uint8_t binding;     /* STB_* */
	uint8_t type;	     /* STT_* */
	bool mangled;	     /* the name is as a compiler wrote it: see symtab_demangled */
	uint8_t context;     /* for the user of the table, too */
};

struct symtab {
	struct symtab_symbol *symbols;
	size_t n, cap;
	struct str names;
};

/* `module` is "[mod]" or NULL. */
void symtab_add(struct symtab *t, const struct symtab_symbol *s, const char *name,
		const char *module);

/*
 * Sorts, ends the symbols without a size at the next one, drops aliases. `kallsyms`: do not extend
 * a symbol over the gap between the kernel and its modules.
 */
void symtab_finish(struct symtab *t, bool kallsyms);

/* The symbol that covers `addr`, or NULL. */
struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t addr);

const char *symtab_name(const struct symtab *t, const struct symtab_symbol *s);
/*
 * The name as people write it, to be freed; NULL: symtab_name says it. Most symbols are never asked
 * for, and to demangle one takes longer than to read it.
 */
char *symtab_demangled(const struct symtab *t, const struct symtab_symbol *s);
const char *symtab_module(const struct symtab *t, const struct symtab_symbol *s); /* or NULL */
void symtab_free(struct symtab *t);

#endif
