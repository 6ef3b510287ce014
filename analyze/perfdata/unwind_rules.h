/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How to get from a frame to its caller: what the tables of an object (.eh_frame, .debug_frame)
 * say of an address, read by libdw once per address and kept in a form that is quick to apply.
 * One reader per thread: nothing here is shared.
 */
#ifndef ZC_PERFDATA_UNWIND_RULES_H
#define ZC_PERFDATA_UNWIND_RULES_H

#include "analyze/perfdata/unwind_arch.h"
#include "analyze/symbols/dso.h"
#include "lib/arena.h"
#include "lib/hash.h"

#include <elfutils/libdw.h>

enum unwind_how {
	AT_CFA_PLUS, /* saved at the frame's address + offset */
	CFA_PLUS,    /* is the frame's address + offset */
	IN_REGISTER, /* is the value of a register, + offset */
	AT_EXPR,     /* saved where an expression says */
	IS_EXPR,     /* is what an expression says */
};

struct unwind_rule {
	uint8_t reg, how, from; /* from: IN_REGISTER */
	uint16_t nops;
	union {
		int64_t offset;
		const Dwarf_Op *ops; /* in the arena */
	};
};

/* What holds at one address. Registers without a rule keep their values. */
struct unwind_row {
	struct unwind_rule cfa; /* IN_REGISTER or IS_EXPR */
	uint64_t keep;		/* registers that the caller has with the same value: a bit each */
	uint8_t ra, nrules;	/* ra: the register that holds the return address */
	bool signal;		/* its caller was interrupted, and did not call */
	bool first;		/* nothing called it: the return address is undefined */
	struct unwind_rule rules[UNWIND_REGS]; /* room for `nrules` alone */
};

struct unwind_object {
	struct dso_files files;
	bool found;  /* the files are open */
	bool tables; /* with tables in them */
	uint16_t machine;
	Dwarf *dwarf;	      /* of .debug_frame */
	Dwarf_CFI *frames[2]; /* .eh_frame, .debug_frame; NULL: none */
	struct map rows;      /* offset in the file -> row, or NO_ROW */
	struct arena arena;
	uint64_t missed; /* stacks that ended here for want of a row */
};

/* Opens what is proven to be the object; leaves it without tables where nothing is. */
void unwind_object_open(struct unwind_object *o, const struct symbol_sources *from,
			const struct dso_identity *id);
void unwind_object_close(struct unwind_object *o);

/* The row of an offset in the file; NULL: its tables have none. */
const struct unwind_row *unwind_object_row(struct unwind_object *o, const struct unwind_arch *arch,
					   uint64_t offset);

#endif
