/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols out of ELF files. Only the reading is here; which file to read is dso_files.h's matter.
 */
#ifndef ZC_ELF_SYMBOLS_H
#define ZC_ELF_SYMBOLS_H

#include "analyze/symbols/symtab.h"
#include "lib/error.h"

#include <libelf.h>
#include <gelf.h>

struct elf_file {
	Elf *elf;
	int fd;
	struct Dwfl *dwfl; /* owns `elf` where it was packed */
	char *image;	   /* or these bytes do */
	size_t image_len;
	GElf_Ehdr header;
	Elf_Scn *symtab, *dynsym; /* NULL: none */
	bool has_dwarf;
	bool code;	   /* it holds the code: what was mapped, not a debug file */
	char build_id[65]; /* "" when it has none */
};

/*
 * From a path, packed or not; from memory that outlives it; or what lies packed in the section
 * .gnu_debugdata of another one. elf_file_close after each.
 */
int elf_file_open(struct elf_file *f, const char *path, struct error *err);
int elf_file_memory(struct elf_file *f, void *data, size_t len, const char *what,
		    struct error *err);
int elf_file_mini(struct elf_file *f, const struct elf_file *of, struct error *err);
void elf_file_close(struct elf_file *f);

/* The section of that name and its header, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr);

/* The linked address of a symbol of .symtab; false: it has none of that name. */
bool elf_symbol_address(struct elf_file *f, const char *name, uint64_t *addr);

/* What addresses are: */
enum placement {
	PLACE_OFFSET, /* offsets in the file, as a mapping's page offset gives them */
	PLACE_LINKED, /* as linked: the kernel */
	PLACE_MODULE, /* behind the start of the memory that the kernel loads a module's code to */
};

/*
 * Adds the symbols of `syms` (a debug file, or the same as `run`), placed by the program headers
 * of `run` (the file that is mapped), and the PLT's entries. Finishes the table.
 */
int elf_symbols_read(struct symtab *t, struct elf_file *syms, struct elf_file *run,
		     enum placement place, struct error *err);

#endif
