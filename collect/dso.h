/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps programs and libraries in hosts/<host>/dso/<build-id>/<basename>, so that addresses in
 * them have names away from this host. A separate debug file of the system's lies beside it as
 * <basename>.debug. A file with no build-id could not be told from another version: it is not kept.
 */
#ifndef ZC_DSO_H
#define ZC_DSO_H

#include "collect/perf_data.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

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
