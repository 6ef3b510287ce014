/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers: in which order perf records them, and what DWARF calls them. */
#ifndef ZC_PERFDATA_CFI_H
#define ZC_PERFDATA_CFI_H

#include "analyze/symbols/dso.h"
#include "lib/arena.h"
#include "lib/cursor.h"
#include "lib/hash.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { UNWIND_REGS = 34 }; /* DWARF numbers below it: the pc may need one of its own */

/* Values by DWARF number; `known`: a bit for each that has one. */
struct unwind_regs {
	uint64_t value[UNWIND_REGS], known;
	uint64_t pc;
};

struct unwind_arch {
	const char *const *names;  /* of the machine, as the file header has them; ends with NULL */
	uint64_t abi;		   /* PERF_SAMPLE_REGS_ABI_* */
	uint16_t machine;	   /* EM_* of its objects */
	uint8_t word;		   /* bytes of an address on the stack */
	uint8_t nregs, sp, fp, pc; /* DWARF numbers; nregs: those that are recorded */
	uint8_t perf_pc;	   /* perf's number */
	const uint8_t *perf;	   /* perf's number of each DWARF register */
	uint64_t address_bits;	   /* of a code address: the others are a signature (pointer
				      authentication) */
};

/* NULL: such stacks are not understood. `machine` is "x86_64", "aarch64"... or NULL. */
const struct unwind_arch *unwind_arch_find(const char *machine, uint64_t abi);

/*
 * Takes the recorded values, one u64 for each bit of `mask` from the lowest on. False: without
 * its pc and stack pointer there is nothing to begin with.
 */
bool unwind_regs_take(struct unwind_regs *regs, const struct unwind_arch *arch, uint64_t mask,
		      struct cursor values);

static inline void unwind_set_pc(struct unwind_regs *regs, const struct unwind_arch *arch,
				 uint64_t pc)
{
	regs->pc = regs->value[arch->pc] = pc & arch->address_bits;
	regs->known |= 1ULL << arch->pc;
}

static inline bool unwind_reg_known(const struct unwind_regs *regs, unsigned int reg)
{
	return reg < UNWIND_REGS && regs->known >> reg & 1;
}

/*
 * How to get from a frame to its caller: what the tables of an object (.eh_frame, .debug_frame)
 * say of an address, read by libdw once per address and kept in a form that is quick to apply.
 * One reader per thread: nothing here is shared.
 */

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

/* DWARF expressions of unwind tables, and the memory they look at. */

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
