/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of symbols: address to name. The user adds symbols in any order, calls symtab_finish and
 * searches then. Like perf (symbols__fixup_end, symbols__fixup_duplicate), the table extends
 * symbols without a size and picks one of several symbols at one address, so a profile has the
 * names that perf report prints. After more additions, call symtab_finish again.
 *
 * Addresses are kernel addresses or file offsets, as the user chooses.
 */
#ifndef ZC_SYMTAB_H
#define ZC_SYMTAB_H

#include "lib/error.h"
#include "lib/str.h"

struct symbol_cache;
struct inlines;

struct symtab_symbol {
	uint64_t start, end; /* [start, end) */
	uint32_t name;	     /* offset in `names` */
	uint32_t module;     /* kallsyms: offset in `names` of "[mod]"; 0: none */
	uint32_t id;	     /* free for the user of the table; 0 at first */
	uint8_t binding;     /* STB_* */
	uint8_t type;	     /* STT_* */
	bool mangled;	     /* a compiler has mangled the name: see symtab_demangled */
	uint8_t context;     /* free for the user of the table */
};

struct symtab {
	struct symtab_symbol *symbols;
	size_t n, cap;
	struct str names;
	bool borrows; /* `names` belongs to another table */
};

/* `module` is "[mod]" or NULL. */
void symtab_add(struct symtab *t, const struct symtab_symbol *s, const char *name,
		const char *module);

/*
 * Sorts the table, extends symbols without a size to the next symbol, and drops aliases.
 * `kallsyms`: extends no symbol over the gap between the kernel and its modules.
 */
void symtab_finish(struct symtab *t, bool kallsyms);

/* Returns the symbol that covers `addr`, or NULL. */
struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t addr);

const char *symtab_name(const struct symtab *t, const struct symtab_symbol *s);
/*
 * Returns the demangled name, or NULL if symtab_name is readable already. The caller frees it.
 * Demangling is slow, and most symbols never need it.
 */
char *symtab_demangled(const struct symtab *t, const struct symtab_symbol *s);
const char *symtab_module(const struct symtab *t, const struct symtab_symbol *s); /* or NULL */
/*
 * Copies a table into the empty table `to`, which borrows the names. Nobody adds to it, and it is
 * freed before `from`.
 */
void symtab_copy(struct symtab *to, const struct symtab *from);
void symtab_free(struct symtab *t);

/*
 * Demangles a C++ or Rust name, without parameters. Returns NULL for other names, and when built
 * without libiberty. The caller frees.
 */
char *demangle(const char *name);

/* --- the text of /proc/kallsyms --- */

/*
 * Reads and finishes a table from kallsyms. Returns -EPERM if all addresses are zero
 * (kptr_restrict), and -EBADMSG if there is no symbol.
 */
int kallsyms_read(struct symtab *t, const char *path, struct error *err);

/*
 * Symbols and debug information that several recordings have in common. Any thread may use the
 * cache. A NULL cache is valid and holds nothing.
 */
struct symbol_cache *symbol_cache_new(void);
void symbol_cache_free(struct symbol_cache *c);

/* Fills the empty table `t` as kallsyms_read() does. Reads a file only once. */
int symbol_cache_kallsyms(struct symbol_cache *c, struct symtab *t, const char *path,
			  struct error *err);

/*
 * Copies the table that symbol_cache_keep() was given, without `id`s. Returns false without one.
 * The copy, and what symbol_cache_keep() was given, are freed before the cache.
 */
bool symbol_cache_copy(struct symbol_cache *c, struct symtab *t, const char *key);
void symbol_cache_keep(struct symbol_cache *c, struct symtab *t, const char *key);

/* Moves debug information out of the cache. Returns NULL where the cache has none of this file. */
struct inlines *symbol_cache_take(struct symbol_cache *c, const char *path);
/* Moves debug information into the cache. A full cache closes it. */
void symbol_cache_give(struct symbol_cache *c, const char *path, struct inlines *in);

/*
 * Finds the address of a function such as "_text". Returns false if the file does not have it, or
 * with the error if the file cannot be read.
 */
bool kallsyms_address(const char *path, const char *name, uint64_t *addr, struct error *err);

/* Reads the GNU build-id from the bytes of /sys/kernel/notes as hexadecimal digits. */
bool notes_build_id(const char *path, char hex[65], struct error *err);

#endif
