/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The little of perf.data that the host must know: how much was lost, and which files explain the
 * samples. Only for the file that perf on this host has just written.
 */
#ifndef ZC_COLLECT_PERF_H
#define ZC_COLLECT_PERF_H

#include "lib/cursor.h"
#include "lib/error.h"
#include "lib/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_data_sums {
	uint64_t samples, lost, throttled;
};

/* A file as the kernel identified it when it was mapped, to compare with what has its name now. */
struct perf_file {
	uint32_t maj, min; /* of its file system */
	uint64_t ino;	   /* 0: there is a build-id in its place, or nothing */
	uint64_t generation;
	uint8_t id[20], id_len;
	uint8_t none[3]; /* compared by all its bytes */
};

/* One of `files`: returns its name and fills *as. */
const char *perf_file_get(const struct intern *files, uint32_t i, struct perf_file *as);

/* Fills *sums, and `files` with the files that addresses in samples lie in. */
int perf_data_read(const char *path, struct perf_data_sums *sums, struct intern *files,
		   struct error *err);

/* The second half, over the file's records; `sample_type` as of its attribute. */
int perf_records_files(struct cursor records, uint64_t sample_type, struct intern *files);

/*
 * Keeps programs and libraries in hosts/<host>/dso/<build-id>/<basename>, so that addresses in
 * them have names away from this host. A separate debug file of the system's lies beside it as
 * <basename>.debug. A file with no build-id could not be told from another version: it is not kept.
 */

#define DSO_ROOM ((uint64_t)4 << 30) /* bytes that the copies of one run take, at most */

/*
 * Copies the object at `path` if it still is the file that was mapped, as `as` identifies it, and
 * if all who may run it may read it. Data is taken off *room; holes cost nothing. 0: the copy is
 * there; -ENODATA: no ELF file, or without a build-id; else -errno and a message. "[vdso]" is the
 * kernel's, the same for all.
 */
int dso_save(const char *hosts, const char *path, const struct perf_file *as, uint64_t *room,
	     struct error *err);

/* The build-id in the ELF image, in hexadecimal. false: none. */
bool elf_build_id(const void *image, size_t len, char hex[129]);

/* The same of a file. Its owner may cut it short meanwhile, so it is read and never mapped. */
bool elf_build_id_fd(int fd, char hex[129]);

#endif
