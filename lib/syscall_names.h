/* SPDX-License-Identifier: GPL-2.0-only */
/* What system calls are called, by architecture (as `uname -m` names it). */
#ifndef ZC_SYSCALL_NAMES_H
#define ZC_SYSCALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: not known. From 451 on a call has the same number everywhere, `arch` NULL included. */
const char *syscall_name_on(const char *arch, uint32_t nr);
/* Are its names known at all? */
bool syscall_arch_known(const char *arch);

/* Does the call of that name return how many bytes it moved? */
bool syscall_name_moves_bytes(const char *name);

#endif
