/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ELF files that explain a mapped object, and what their debug information says.
 *
 * For an object of another host, only files with the recorded build-id count. If the recording has
 * no build-id, only two kinds of files count: files that the user names (--symfs), and on the
 * recorded host the mapped inode itself, if nobody has changed it since.
 */
#ifndef ZC_DSO_H
#define ZC_DSO_H

#include "analyze/model/profile.h"
#include "analyze/symbols/symtab.h"

#include <gelf.h>
#include <libelf.h>

/* --- ELF files: how to open them, their symbols, and their machine code --- */

struct elf_file {
	Elf *elf;
	int fd;
	char *image; /* owns the bytes of `elf` if the file is packed */
	size_t image_len;
	GElf_Ehdr header;
	Elf_Scn *symtab, *dynsym; /* NULL where the file has no such section */
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

/* The loaded segments of a file: where its bytes lie in memory. */
struct elf_segments {
	GElf_Phdr *list; /* owned */
	size_t n;
};

void elf_segments_read(struct elf_segments *s, Elf *elf);
/* Returns false for a debug file of objcopy, whose program headers have other offsets. */
bool elf_has_layout(const struct elf_file *f);
/*
 * Converts a file offset to a linked address. Prefers code: one page may be mapped twice, as the
 * end of a segment and the start of the next. Returns false if no segment covers the offset.
 */
bool elf_segments_link(const struct elf_segments *s, uint64_t offset, uint64_t *addr);

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

/* --- the files of an object --- */

struct symbol_sources {
	const char *host_dir;	 /* hosts/<host> of a capture, or NULL */
	const char *symfs;	 /* --symfs, or NULL */
	const char *buildid_dir; /* --buildid-dir: laid out as ~/.debug; or NULL */
	bool this_host;		 /* files of this host may be read */
	bool same_host;		 /* this host is the recorded one, so its inodes count */
	bool this_kernel;	 /* this kernel is the recorded one, so its vdso counts */
	bool want_dwarf;	 /* continue the search until a file has .debug_info */
	struct unread *unread;	 /* where errors go that are no reason to do without a file */
};

struct dso_identity {
	const char *name;     /* path as mapped, "[vdso]", or "[module]" */
	const char *build_id; /* hexadecimal digits; NULL: not recorded */
	bool module;	      /* a kernel module: addresses count from the start of its code */
	bool ambiguous;	      /* several recorded files share the name; only the inode proves one */
	uint32_t major, minor;
	uint64_t inode;		/* 0: not recorded */
	int64_t recorded_by_ns; /* time() x 1e9 when the recording was complete; 0: unknown */
};

/* Open files that provably belong to one object. `syms` and `run` may be the same file. */
struct dso_files {
	struct elf_file syms, run; /* syms: has .symtab or debug sections; run: what was mapped */
	bool have_syms, have_run;
	char *dwarf; /* path of a file with .debug_info, or NULL */
};

/*
 * Finds the files of an object. Returns 0 if there is at least one; the caller then calls
 * dso_files_close. Returns -ENOENT if there is no file, and -ESTALE if the only files have another
 * build-id, were changed since, or lack the layout of the mapped file. `why` explains both in one
 * line.
 */
int dso_files_find(struct dso_files *found, const struct symbol_sources *from,
		   const struct dso_identity *dso, char *why, size_t why_size);
void dso_files_close(struct dso_files *found);

/* Reads the symbols of the files into the empty table `t`. Explains an error in `why`. */
int dso_files_symbols(struct symtab *t, struct dso_files *found, const struct dso_identity *dso,
		      char *why, size_t why_size);

/*
 * Writes the kernel's name of a module: "[nf_nat]" for "/lib/modules/.../nf-nat.ko.xz" and for
 * "[nf_nat]".
 */
void module_name(char *name, size_t size, const char *path);

struct inlines;

/* Names of the inlined functions at an address, outermost first. inlines_close frees them. */
struct inlined {
	size_t n;
	const char *names[];
};

/*
 * Open the debug information of an object, whose addresses are then file offsets, or of one file,
 * whose addresses are linked ones. The caller may close `files` afterwards. Both return NULL
 * without debug information. One thread at a time may use a struct inlines. The cache may have it
 * from an earlier recording, as inlines_give_back() left it there.
 */
struct inlines *inlines_of_files(const struct dso_files *files, struct symbol_cache *cache,
				 struct unread *unread);
struct inlines *inlines_open(const char *path, struct symbol_cache *cache, struct unread *unread);
void inlines_give_back(struct inlines *in, struct symbol_cache *cache);
void inlines_close(struct inlines *in);

/* Returns "file.c:123" of an instruction, or NULL. */
const char *inlines_line_at(struct inlines *in, uint64_t addr);

/* Returns the inlined functions at an address, or NULL. */
const struct inlined *inlines_at(struct inlines *in, uint64_t addr);

#endif
