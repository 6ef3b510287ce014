/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds user stacks of `perf record --call-graph dwarf`. Each sample has the registers and a copy
 * of the top of the stack. Frame by frame, the unwind tables (cfi.c) of the object mapped there
 * lead to the caller. As in perf report, a stack has at most 127 frames, and a caller's address is
 * that of its call (return address - 1) unless it was interrupted.
 */
#ifndef ZC_PERFDATA_UNWIND_H
#define ZC_PERFDATA_UNWIND_H

#include "analyze/model/profile.h"
#include "analyze/perfdata/recording.h"
#include "analyze/symbols/dso.h"

#include <elfutils/libdw.h>

enum { UNWIND_FRAMES = 127 };

/* Returns what all threads share, or NULL if no event records user stacks. */
struct unwinding *unwinding_new(const struct recording *r, const struct perfdata_options *o);
/* Reports the number of stacks and shortfalls in the profile, after all unwinders have finished. */
void unwinding_finish(struct unwinding *with, struct profile *p);

/* Creates the unwinder of one thread. Returns NULL for NULL. */
struct unwinder *unwinder_new(struct unwinding *with);
void unwinder_finish(struct unwinder *u);

/*
 * If the sample has a user stack, appends the unwound frames to `s->chain`, in the file's
 * endianness. The next call with the same slot overwrites the chain. `rest` is the sample after the
 * recorded chain. `space` is where to look up addresses.
 */
void unwinder_chain(struct unwinder *u, unsigned int slot, struct sample *s, const struct event *e,
		    struct cursor rest, struct side_space space);

/* --- registers, and the tables of cfi.c: how to get from a frame to its caller --- */

enum { UNWIND_REGS = 34 }; /* the pc may have an extra number */

/* Values by DWARF number. `known` has a bit for each known value. */
struct unwind_regs {
	uint64_t value[UNWIND_REGS], known;
	uint64_t pc;
};

struct unwind_arch {
	const char *name;	   /* the start of the machine's name in the file header */
	uint64_t abi;		   /* PERF_SAMPLE_REGS_ABI_* */
	uint16_t machine;	   /* EM_* of its objects */
	uint8_t nregs, sp, fp, pc; /* DWARF numbers; nregs: number of recorded registers */
	uint8_t perf_pc;	   /* perf's number of the pc */
	const uint8_t *perf;	   /* perf's number of each DWARF register; NULL: the same */
	uint64_t address_bits;	   /* mask of an address; other bits may be a signature */
};

/*
 * Returns the architecture of a machine ("x86_64"; may be NULL), or NULL if it is not supported.
 * Programs of 32 bits are not.
 */
const struct unwind_arch *unwind_arch_find(const char *machine, uint64_t abi);

/*
 * Reads the recorded values: one u64 for each bit of `mask`, lowest bit first. Returns false
 * without pc or stack pointer.
 */
bool unwind_regs_read(struct unwind_regs *regs, const struct unwind_arch *arch, uint64_t mask,
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
 * The unwind tables of an object (.eh_frame, .debug_frame). libdw reads the rules for an address
 * once, and a map stores them. Each thread has its own objects.
 */
enum unwind_how {
	AT_CFA_PLUS, /* saved at CFA + offset */
	CFA_PLUS,    /* equals CFA + offset */
	IN_REGISTER, /* equals a register + offset */
	AT_EXPR,     /* saved at the address that an expression gives */
	IS_EXPR,     /* equals the value of an expression */
};

struct unwind_rule {
	uint8_t reg, how, from; /* from: for IN_REGISTER */
	uint16_t nops;
	union {
		int64_t offset;
		const Dwarf_Op *ops; /* in the arena */
	};
};

/* The rules at one address. Registers without a rule keep their values. */
struct unwind_row {
	struct unwind_rule cfa; /* IN_REGISTER or IS_EXPR */
	uint8_t ra, nrules;	/* ra: the return address register */
	bool signal;		/* the caller was interrupted at this point */
	bool first;		/* the outermost frame: its return address is undefined */
	struct unwind_rule rules[UNWIND_REGS]; /* only `nrules` of them are allocated */
};

struct unwind_object {
	struct dso_files files;
	const char *name;      /* the object's name for messages */
	struct unread *unread; /* where errors of libdw go */
	bool found;	       /* the files are open */
	bool tables;	       /* the files have tables */
	uint16_t machine;
	struct elf_segments segments;
	Dwarf *dwarf;	      /* for .debug_frame */
	Dwarf_CFI *frames[2]; /* .eh_frame, .debug_frame; NULL: none */
	struct map rows;      /* file offset -> row, or NO_ROW */
	struct arena arena;
	uint64_t missed; /* stacks that ended here because there is no row */
};

/* Opens the files that provably are the object. Without such files the object has no tables. */
void unwind_object_open(struct unwind_object *o, const struct symbol_sources *from,
			const struct dso_identity *id);
void unwind_object_close(struct unwind_object *o);

/* Returns the row of a file offset, or NULL. */
const struct unwind_row *unwind_object_row(struct unwind_object *o, const struct unwind_arch *arch,
					   uint64_t offset);

/* The copy of the stack in a sample: [start, start + size). */
struct unwind_stack {
	const uint8_t *data;
	uint64_t start, size;
	bool swap;	    /* the other endianness */
	bool beyond, below; /* the last failed read was after the end, or before the start */
};

/* Reads a word of 8 bytes. Returns false if the copy does not have it. */
bool unwind_stack_read(struct unwind_stack *s, uint64_t addr, uint64_t *value);

struct unwind_frame {
	const struct unwind_regs *regs;
	struct unwind_stack *stack;
	uint64_t cfa; /* valid after the CFA rule */
};

/* Evaluates an expression. Returns false for an operation that tables do not have, or an unknown
 * value. */
bool unwind_expr(const struct unwind_frame *f, const Dwarf_Op *ops, size_t n, uint64_t *value);

#endif
