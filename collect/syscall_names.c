// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names come out of the C library's headers when we are built. Calls younger than those have the
 * same number everywhere: lib/syscall_names.c.
 */
#include "collect/syscalls_method.h"
#include "lib/syscall_names.h"

#include <stddef.h>

static const char *const names[SYSCALLS_NR] = {
#include "collect/syscall_names.inc"
};

const char *syscall_name(uint32_t nr)
{
	if (nr >= SYSCALLS_NR)
		return NULL;
	return names[nr] ? names[nr] : syscall_name_on(NULL, nr);
}

int syscall_moves_bytes(uint32_t nr)
{
	return syscall_name_moves_bytes(syscall_name(nr));
}
