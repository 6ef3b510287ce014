/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which ELF files explain a mapped object. Another host's object is explained only by files whose
 * build-id is the recorded one; where the recording has none, only by what the user named
 * (--symfs), or, on the host that recorded it, by the very inode that was mapped.
 */
#ifndef ZC_DSO_FILES_H
#define ZC_DSO_FILES_H

#include "analyze/symbols/elf_symbols.h"
#include "analyze/symbols/symtab.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_sources {
	const char *host_dir; /* hosts/<host> of a capture, or NULL */
	const char *symfs;    /* --symfs, or NULL */
	bool this_host;	      /* files of this host may be read */
	bool this_kernel;     /* recorded on the kernel that runs now: its vdso may be taken */
};

struct dso_identity {
	const char *name;     /* path as mapped, or "[vdso]" */
	const char *build_id; /* hexadecimal digits, or NULL: not recorded */
	bool ambiguous;	      /* several files of that name were recorded: the inode must tell */
	uint32_t major, minor;
	uint64_t inode;	       /* 0: not recorded */
	int64_t recorded_by_s; /* time() when the recording was complete; 0: unknown */
};

/* Files that are proven to be of one object, open. They may be one and the same. */
struct dso_files {
	struct elf_file syms, run; /* with .symtab, or debug sections; with what was mapped */
	bool have_syms, have_run;
};

/*
 * Finds the files. 0, and at least one is there; -ENOENT: no file; -ESTALE: there is a file, but
 * of another build-id or changed since; `why` gets one line in both cases. dso_files_close after
 * 0 only.
 */
int dso_files_find(struct dso_files *found, const struct symbol_sources *from,
		   const struct dso_identity *dso, char *why, size_t why_size);
void dso_files_close(struct dso_files *found);

/*
 * Reads the symbols into `t` (empty). 0; -ENOENT: no file; -ESTALE: there is a file, but of
 * another build-id or changed since; `why` gets one line in both cases.
 */
int dso_symbols_read(struct symtab *t, const struct symbol_sources *from,
		     const struct dso_identity *dso, char *why, size_t why_size);

#endif
