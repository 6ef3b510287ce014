/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps programs and libraries in hosts/<host>/dso/<build-id>/<basename>, so that addresses in
 * them have names away from this host. A separate debug file of the system's lies beside it as
 * <basename>.debug. A file with no build-id could not be told from another version: it is not kept.
 */
#ifndef ZC_DSO_H
#define ZC_DSO_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * 0 kept, or there already; -ENODATA: no ELF file, or without a build-id; else -errno. "[vdso]" is
 * the kernel's own, the same for all.
 */
int dso_save(const char *hosts, const char *path, struct error *err);

/* The build-id in the ELF image, in hexadecimal. false: none. */
bool elf_build_id(const void *image, size_t len, char hex[129]);

#endif
