// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/unwind_arch.h"

#include "lib/alloc.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>

/* perf: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8..r15 (asm/perf_regs.h of x86) */
static const uint8_t x86_64_regs[] = {
	0,  3,	2,  1,	4,  5,	6,  7,
	16, 17, 18, 19, 20, 21, 22, 23, /* rax rdx rcx rbx rsi rdi rbp rsp */
};
static const uint8_t i386_regs[] = {0, 2, 3, 1, 7, 6, 4, 5}; /* eax ecx edx ebx esp ebp esi edi */

/* perf: x0..x29 lr sp pc, which are DWARF's numbers */
static const uint8_t aarch64_regs[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

static const char *const x86_names[] = {"x86_64", "i686", "i586", "i486", "i386", NULL};
static const char *const arm64_names[] = {"aarch64", "aarch64_be", "arm64", NULL};

static const struct unwind_arch archs[] = {
	{.names = x86_names,
	 .abi = PERF_SAMPLE_REGS_ABI_64,
	 .machine = EM_X86_64,
	 .word = 8,
	 .nregs = sizeof(x86_64_regs),
	 .sp = 7,
	 .fp = 6,
	 .pc = 16,
	 .perf_pc = 8,
	 .perf = x86_64_regs,
	 .address_bits = UINT64_MAX},
	{.names = x86_names,
	 .abi = PERF_SAMPLE_REGS_ABI_32,
	 .machine = EM_386,
	 .word = 4,
	 .nregs = sizeof(i386_regs),
	 .sp = 4,
	 .fp = 5,
	 .pc = 8,
	 .perf_pc = 8,
	 .perf = i386_regs,
	 .address_bits = UINT32_MAX},
	{.names = arm64_names,
	 .abi = PERF_SAMPLE_REGS_ABI_64,
	 .machine = EM_AARCH64,
	 .word = 8,
	 .nregs = sizeof(aarch64_regs),
	 .sp = 31,
	 .fp = 29,
	 .pc = 32,
	 .perf_pc = 32,
	 .perf = aarch64_regs,
	 .address_bits = (1ULL << 48) - 1},
};

static bool has_name(const struct unwind_arch *a, const char *machine)
{
	const char *const *name;

	for (name = a->names; *name; name++)
		if (!strcmp(*name, machine))
			return true;
	return false;
}

const struct unwind_arch *unwind_arch_find(const char *machine, uint64_t abi)
{
	size_t i;

	for (i = 0; machine && i < array_size(archs); i++)
		if (archs[i].abi == abi && has_name(&archs[i], machine))
			return &archs[i];
	return NULL;
}

/* Which of the recorded values is perf's register `number`; false: it was not recorded. */
static bool recorded(uint64_t mask, unsigned int number, struct cursor values, uint64_t *value)
{
	uint64_t below = mask & ((1ULL << number) - 1);

	if (!(mask >> number & 1))
		return false;
	cursor_take(&values, 8 * (size_t)__builtin_popcountll(below));
	*value = cursor_u64(&values);
	return !values.bad;
}

bool unwind_regs_take(struct unwind_regs *regs, const struct unwind_arch *arch, uint64_t mask,
		      struct cursor values)
{
	unsigned int i;
	uint64_t pc;

	regs->known = 0;
	for (i = 0; i < arch->nregs; i++)
		if (recorded(mask, arch->perf[i], values, &regs->value[i])) {
			regs->value[i] &= arch->word == 4 ? UINT32_MAX : UINT64_MAX;
			regs->known |= 1ULL << i;
		}
	if (!recorded(mask, arch->perf_pc, values, &pc))
		return false;
	unwind_set_pc(regs, arch, pc);
	return unwind_reg_known(regs, arch->sp);
}
