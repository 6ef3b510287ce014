/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of system calls by architecture, and where each has a number of bytes. `arch` is the name
 * that `uname -m` prints. */
#ifndef ZC_SYSCALL_FACTS_H
#define ZC_SYSCALL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns NULL for an unknown number. Numbers from 424 on need no `arch`: they are the same. */
const char *syscall_name_on(const char *arch, uint32_t nr);
/* Returns whether the names of this architecture are known. */
bool syscall_arch_known(const char *arch);

/*
 * Returns where the system call has a number of bytes: in its second argument (1), in its third
 * one (2), in its result, or nowhere. `name` may be NULL.
 */
enum { SYSCALL_BYTES_NOWHERE = -2, SYSCALL_BYTES_RESULT };
int syscall_name_bytes(const char *name);

#endif
