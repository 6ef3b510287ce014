/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the kernel's task_struct keeps `pid` and `tgid`, side by side, found by looking: shared by
 * the program that copies it (collect/task.bpf.c) and user space.
 */
#ifndef ZC_TASK_IDS_H
#define ZC_TASK_IDS_H

enum { TASK_COPY = 16384, TASK_PIECE = 128 };

struct task_copy {
	unsigned long long id; /* tgid << 32 | pid, as the kernel has them */
	char bytes[TASK_COPY];
};

#ifndef __bpf__
#include "lib/error.h"

#include <stddef.h>

/* Offset of the pair in the copy, or -ENOENT: nowhere, or in more places than one. */
int task_ids_find(const struct task_copy *copy);

/*
 * A file descriptor of type information that says no more than that, for libbpf; the caller closes
 * it. -errno with err filled.
 */
int task_ids_btf(struct error *err);
#endif

#endif
