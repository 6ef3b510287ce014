/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of functions: out of mapped files, out of ELF kernels, out of copies of its memory. */
#ifndef ZC_CODE_H
#define ZC_CODE_H

#include "analyze/symbols/elf_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* `size` bytes at an offset of the file. The caller frees; NULL: it does not hold all of them. */
uint8_t *code_at_offset(const struct elf_file *f, uint64_t offset, size_t size);

/*
 * By address, from the segments of a file: an ELF kernel, or a core as /proc/kcore and perf's
 * kcore_dir have them. NULL: no such file, or not all of it is there.
 */
uint8_t *code_at_address(const char *path, uint64_t addr, size_t size);

#endif
