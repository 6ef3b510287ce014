/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of /proc/kallsyms: the symbols of the kernel, its modules and BPF programs. */
#ifndef ZC_KALLSYMS_H
#define ZC_KALLSYMS_H

#include "analyze/symbols/symtab.h"
#include "lib/error.h"

/*
 * Reads and finishes the table. -EPERM when every address in it is zero (kptr_restrict), -EBADMSG
 * when it holds no symbol.
 */
int kallsyms_read(struct symtab *t, const char *path, struct error *err);

/* The address of a function such as "_text", before aliases were dropped; false: not there. */
bool kallsyms_address(const char *path, const char *name, uint64_t *addr);

/* The GNU build-id in the bytes of /sys/kernel/notes, as hexadecimal digits. False: none. */
bool notes_build_id(const char *path, char hex[65]);

#endif
