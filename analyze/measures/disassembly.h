/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions as text, by capstone. */
#ifndef ZC_DISASSEMBLY_H
#define ZC_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint64_t offset; /* from the first byte */
	char text[120];	 /* "movq 8(%rdi), %rax" */
};

/*
 * All instructions of a function whose first byte is at `at`; the caller frees. 0 for an `arch`
 * (as uname has it) that is not known here, NULL, or bytes that are no code.
 */
size_t disassemble(const char *arch, const uint8_t *bytes, size_t size, uint64_t at,
		   struct instruction **list);

#endif
