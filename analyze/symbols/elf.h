/* SPDX-License-Identifier: GPL-2.0-only */
/* ELF files: how to open them, their symbols, and their machine code. */
#ifndef ZC_ELF_H
#define ZC_ELF_H

#include "analyze/symbols/symtab.h"
#include "lib/error.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct elf_file {
	Elf *elf;
	int fd;
	char *image; /* owns the bytes of `elf` if the file is packed */
	size_t image_len;
	GElf_Ehdr header;
	Elf_Scn *symtab, *dynsym; /* NULL: no such section */
	bool has_dwarf;
	bool code;	   /* has the code, so it is no debug file */
	char build_id[65]; /* "" without a build-id */
};

/*
 * Open an ELF file from a path (packed or not), from memory that outlives `f`, or from the section
 * .gnu_debugdata of another file. The caller calls elf_file_close after each of them. -EFBIG: the
 * file would fill the memory.
 */
int elf_file_open(struct elf_file *f, const char *path, struct error *err);
int elf_file_memory(struct elf_file *f, void *data, size_t len, const char *what,
		    struct error *err);
int elf_file_mini(struct elf_file *f, const struct elf_file *of, struct error *err);
void elf_file_close(struct elf_file *f);

/* Returns the section `name` and its header, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);

/* Finds the linked address of a symbol in .symtab. Returns false if there is no such symbol. */
bool elf_symbol_address(struct elf_file *f, const char *name, uint64_t *addr);

/* What the addresses of a table count from. */
enum placement {
	PLACE_OFFSET, /* offsets in the file, as the page offset of a mapping gives them */
	PLACE_LINKED, /* linked addresses: the kernel */
	PLACE_MODULE, /* offsets from the start of a module's code in memory */
};

/*
 * Adds the symbols of `syms` (a debug file, or the same file as `run`) and the PLT entries of `run`
 * (the mapped file). The program headers of `run` place the symbols. Finishes the table.
 */
int elf_symbols_read(struct symtab *t, struct elf_file *syms, struct elf_file *run,
		     enum placement place, struct error *err);

/*
 * Returns `size` bytes at a file offset, or NULL if the file does not have all of them. The caller
 * frees.
 */
uint8_t *code_at_offset(const struct elf_file *f, uint64_t offset, size_t size);

/*
 * Returns `size` bytes at an address in the segments of a file, or NULL. The file is an ELF kernel
 * or a core like /proc/kcore. The error is set only if the file cannot be read. The caller frees.
 */
uint8_t *code_at_address(const char *path, uint64_t addr, size_t size, struct error *err);

#endif
