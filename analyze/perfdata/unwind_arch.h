/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers: in which order perf records them, and what DWARF calls them. */
#ifndef ZC_PERFDATA_UNWIND_ARCH_H
#define ZC_PERFDATA_UNWIND_ARCH_H

#include "lib/cursor.h"

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

#endif
