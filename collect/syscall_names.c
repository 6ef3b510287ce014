// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names come out of the C library's headers when we are built. Calls younger than those have the
 * same number everywhere and are added by hand.
 */
#include "collect/syscalls_method.h"
#include "lib/alloc.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
static const char *const names[SYSCALLS_NR] = {
	[451] = "cachestat",	     [452] = "fchmodat2",	 [453] = "map_shadow_stack",
	[454] = "futex_wake",	     [455] = "futex_wait",	 [456] = "futex_requeue",
	[457] = "statmount",	     [458] = "listmount",	 [459] = "lsm_get_self_attr",
	[460] = "lsm_set_self_attr", [461] = "lsm_list_modules", [462] = "mseal",
	[463] = "setxattrat",	     [464] = "getxattrat",	 [465] = "listxattrat",
	[466] = "removexattrat",     [467] = "open_tree_attr",	 [468] = "file_getattr",
	[469] = "file_setattr",
#include "collect/syscall_names.inc"
};

/* Calls that return how many bytes they moved. */
static const char *const movers[] = {
	"read",
	"write",
	"pread64",
	"pwrite64",
	"readv",
	"writev",
	"preadv",
	"pwritev",
	"preadv2",
	"pwritev2",
	"sendto",
	"recvfrom",
	"sendmsg",
	"recvmsg",
	"sendfile",
	"sendfile64",
	"splice",
	"tee",
	"send",
	"recv",
	"vmsplice",
	"copy_file_range",
	"process_vm_readv",
	"process_vm_writev",
};

const char *syscall_name(uint32_t nr)
{
	return nr < SYSCALLS_NR ? names[nr] : NULL;
}

int syscall_moves_bytes(uint32_t nr)
{
	const char *name = syscall_name(nr);
	size_t i;

	for (i = 0; name && i < array_size(movers); i++)
		if (!strcmp(movers[i], name))
			return 1;
	return 0;
}
