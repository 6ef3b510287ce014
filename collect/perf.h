/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the collector perf reads and copies after a recording. perf_data_read reads how much perf
 * lost and which files the samples lie in. It is only for a file that perf on this host has just
 * written.
 */
#ifndef ZC_COLLECT_PERF_H
#define ZC_COLLECT_PERF_H

#include "lib/cursor.h"
#include "lib/error.h"
#include "lib/intern.h"

/*
 * The kernel counts the losses of a full ring buffer in two ways: in LOST records, and, since newer
 * versions, in a LOST_SAMPLES at the end of the recording. `lost` is the larger sum.
 */
struct perf_data_sums {
	uint64_t samples, throttled, lost, lost_samples;
};

/*
 * A file as the kernel identified it when it was mapped, to compare with the file that has its name
 * now.
 */
struct perf_file {
	uint32_t maj, min; /* device of its file system */
	uint64_t ino;	   /* 0 where there is a build-id instead, or nothing */
	uint64_t generation;
	uint8_t id[20], id_len;
	uint8_t none[3]; /* the structure is compared by all its bytes */
};

/* Adds a file, once. Returns its number. */
uint32_t perf_file_add(struct intern *files, const struct perf_file *as, const char *name);
/* Returns the name of file i and fills *as. */
const char *perf_file_get(const struct intern *files, uint32_t i, struct perf_file *as);

/* Fills *sums, and `files` with the files that addresses in samples lie in. */
int perf_data_read(const char *path, struct perf_data_sums *sums, struct intern *files,
		   struct error *err);

/* Does it over the file's records. `sample_type` is the attribute's. */
int perf_records_read(struct cursor records, uint64_t sample_type, struct perf_data_sums *sums,
		      struct intern *files);

/*
 * dso_save copies programs and libraries to hosts/<host>/dso/<build-id>/<basename>, so that
 * addresses in them have names on another machine. The system's separate debug file is copied
 * beside it as <basename>.debug. A file without a build-id looks like any other version of it, so
 * it is not copied. hosts/<host>/dso/inodes/<major>-<minor>-<inode> has the build-id of the inode
 * that was mapped.
 */

/*
 * What all copies of one run may take, because any user can run large programs, or many. The bytes
 * are those of the files' sizes. dso_room_of returns the limits below, less what the capture has.
 */
#define DSO_RUN_BYTES	  ((uint64_t)4 << 30)
#define DSO_CAPTURE_BYTES ((uint64_t)16 << 30) /* what one host may have */
enum { DSO_RUN_FILES = 4096, DSO_RUN_S = 20 };

struct dso_room {
	uint64_t bytes, files, until_ns;
};

struct dso_room dso_room_of(const char *hosts);

/*
 * Copies the object at `path` if it still is the mapped file that `as` identifies, and if all who
 * may run it may read it. The copy is subtracted from *room. Returns 0 when the copy is there, with
 * its build-id in `id`, -ENODATA when it is no ELF file or has no build-id, else -errno with a
 * message; -EFBIG: there is no room. "[vdso]" is the kernel's, the same for all processes, and gets
 * no id.
 */
int dso_save(const char *hosts, const char *path, const struct perf_file *as, struct dso_room *room,
	     char id[129], struct error *err);

struct collect;
struct str;
/*
 * Copies files. A file that cannot be copied costs names and no measurement. Appends "BUILD-ID
 * PATH" of each copy, with a tab between them, unless `copies` is NULL.
 */
void dso_save_all(struct collect *c, const struct intern *files, struct str *copies);

/*
 * Fills the build-id of the ELF file in hexadecimal. Returns false when there is none. The file's
 * owner may truncate it meanwhile, so it is read and never mapped.
 */
bool elf_build_id(int fd, char hex[129]);

#endif
