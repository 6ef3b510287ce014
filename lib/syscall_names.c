// SPDX-License-Identifier: GPL-2.0-only
#include "lib/syscall_names.h"

#include "lib/alloc.h"

#include <stddef.h>
#include <string.h>

static const char *const x86_64[] = {
#include "lib/syscalls_x86_64.inc"
};

static const char *const generic[] = {
#include "lib/syscalls_generic.inc"
};

/* Calls from here on have the same number everywhere. */
enum { FIRST_COMMON = 451 };
static const char *const common[] = {
	"cachestat",	     "fchmodat2",	  "map_shadow_stack", "futex_wake",
	"futex_wait",	     "futex_requeue",	  "statmount",	      "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat",	     "getxattrat",	  "listxattrat",      "removexattrat",
	"open_tree_attr",    "file_getattr",	  "file_setattr",
};

static const struct {
	const char *arch;
	const char *const *names;
	size_t n;
} tables[] = {
	{"x86_64", x86_64, array_size(x86_64)},
	{"aarch64", generic, array_size(generic)},
	{"riscv64", generic, array_size(generic)},
	{"loongarch64", generic, array_size(generic)},
};

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

bool syscall_arch_known(const char *arch)
{
	size_t i;

	for (i = 0; i < array_size(tables) && arch; i++)
		if (!strcmp(tables[i].arch, arch))
			return true;
	return false;
}

const char *syscall_name_on(const char *arch, uint32_t nr)
{
	size_t i;

	if (nr >= FIRST_COMMON)
		return nr - FIRST_COMMON < array_size(common) ? common[nr - FIRST_COMMON] : NULL;
	for (i = 0; i < array_size(tables) && arch; i++)
		if (!strcmp(tables[i].arch, arch))
			return nr < tables[i].n ? tables[i].names[nr] : NULL;
	return NULL;
}

bool syscall_name_moves_bytes(const char *name)
{
	size_t i;

	for (i = 0; name && i < array_size(movers); i++)
		if (!strcmp(movers[i], name))
			return true;
	return false;
}
