/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which ELF files explain a mapped object. Another host's object is explained only by files whose
 * build-id is the recorded one; where the recording has none, only by what the user named
 * (--symfs), or, on the host that recorded it, by the very inode that was mapped, if nothing was
 * done to it since.
 */
#ifndef ZC_DSO_FILES_H
#define ZC_DSO_FILES_H

#include "analyze/symbols/elf_symbols.h"
#include "analyze/symbols/symtab.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_sources {
	const char *host_dir;	 /* hosts/<host> of a capture, or NULL */
	const char *symfs;	 /* --symfs, or NULL */
	const char *buildid_dir; /* --buildid-dir: laid out as ~/.debug; or NULL */
	bool this_host;		 /* files of this host may be read */
	bool same_host;		 /* it is the one that was recorded: its inodes count */
	bool this_kernel;	 /* recorded on the kernel that runs now: its vdso may be taken */
	bool want_dwarf;	 /* look further for a file with .debug_info */
};

struct dso_identity {
	const char *name;     /* path as mapped, "[vdso]", or "[module]" */
	const char *build_id; /* hexadecimal digits, or NULL: not recorded */
	const char *release;  /* of the kernel, for modules; or NULL */
	bool module;	      /* of the kernel: addresses count from the start of its code */
	bool ambiguous;	      /* several files of that name were recorded: the inode must tell */
	uint32_t major, minor;
	uint64_t inode;		/* 0: not recorded */
	int64_t recorded_by_ns; /* time() x 1e9 when the recording was complete; 0: unknown */
};

/* Files that are proven to be of one object, open. They may be one and the same. */
struct dso_files {
	struct elf_file syms, run; /* with .symtab, or debug sections; with what was mapped */
	bool have_syms, have_run;
	char *dwarf; /* path of a file with .debug_info, where one was met; or NULL */
};

/*
 * Finds the files. 0, and at least one is there; -ENOENT: no file; -ESTALE: there is a file, but
 * of another build-id or changed since; `why` gets one line in both cases. dso_files_close after
 * 0 only.
 */
int dso_files_find(struct dso_files *found, const struct symbol_sources *from,
		   const struct dso_identity *dso, char *why, size_t why_size);
void dso_files_close(struct dso_files *found);

/* Reads the symbols of what was found into `t` (empty). 0, or `why` says what is wrong. */
int dso_files_symbols(struct symtab *t, struct dso_files *found, const struct dso_identity *dso,
		      char *why, size_t why_size);

/* "/lib/modules/.../nf-nat.ko.xz" and "[nf_nat]" are "[nf_nat]": the kernel's name for it. */
void module_name(char *name, size_t size, const char *path);

#endif
