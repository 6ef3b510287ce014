/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols out of ELF files. Addresses are offsets in the file, as a mapping's page offset gives
 * them. Only the reading is here; which file to read is dso_files.h's matter.
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
	GElf_Ehdr header;
	Elf_Scn *symtab, *dynsym; /* NULL: none */
	bool code;		  /* it holds the code: what was mapped, not a debug file */
	char build_id[65];	  /* "" when it has none */
};

/* From a path, or from memory that outlives it. elf_file_close after either. */
int elf_file_open(struct elf_file *f, const char *path, struct error *err);
int elf_file_memory(struct elf_file *f, void *data, size_t len, const char *what,
		    struct error *err);
void elf_file_close(struct elf_file *f);

/*
 * Adds the symbols of `syms` (a debug file, or the same as `run`), placed by the program headers
 * of `run` (the file that is mapped), and the PLT's entries. Finishes the table.
 */
int elf_symbols_read(struct symtab *t, struct elf_file *syms, struct elf_file *run,
		     struct error *err);

#endif
