/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inlined functions and lines, out of .debug_info: which functions' code an address is of, inside
 * of the function that the symbol table names there. Not safe for use by several threads at once.
 */
#ifndef ZC_INLINES_H
#define ZC_INLINES_H

#include "analyze/symbols/dso_files.h"

struct inlines;

/* Names, outermost first, of functions that were inlined; valid until inlines_close. */
struct inlined {
	size_t n;
	const char *names[];
};

/* Of files that were found (which may be closed afterwards), or of one by its path. NULL: none. */
struct inlines *inlines_of_files(const struct dso_files *files);
struct inlines *inlines_open(const char *path);
void inlines_close(struct inlines *in);

/* "file.c:123" of an instruction, likewise; NULL: not told. */
const char *inlines_line_at_offset(struct inlines *in, uint64_t offset);
const char *inlines_line_at(struct inlines *in, uint64_t addr);

/* At an offset in the mapped file, or at a linked address; NULL: nothing is inlined there. */
const struct inlined *inlines_at_offset(struct inlines *in, uint64_t offset);
const struct inlined *inlines_at(struct inlines *in, uint64_t addr);

#endif
