/* SPDX-License-Identifier: GPL-2.0-only */
/* DWARF expressions of unwind tables, and the memory they look at. */
#ifndef ZC_PERFDATA_UNWIND_EXPR_H
#define ZC_PERFDATA_UNWIND_EXPR_H

#include "analyze/perfdata/unwind_rules.h"

/* The copy of the stack in a sample: [start, start + size). */
struct unwind_stack {
	const uint8_t *data;
	uint64_t start, size;
	bool swap;	    /* of the other endianness */
	bool beyond, below; /* what was asked for last lies behind its end, before its start */
};

/* Reads an unsigned number of 1, 2, 4 or 8 bytes. False: it is not in the copy. */
bool unwind_stack_read(struct unwind_stack *s, uint64_t addr, unsigned int size, uint64_t *value);

struct unwind_frame {
	const struct unwind_arch *arch;
	const struct unwind_regs *regs;
	struct unwind_stack *stack;
	uint64_t cfa; /* once it is known */
};

/* False: an operation that makes no sense, or a value that is not known. */
bool unwind_expr(const struct unwind_frame *f, const Dwarf_Op *ops, size_t n, uint64_t *value);

#endif
