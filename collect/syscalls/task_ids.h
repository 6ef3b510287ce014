/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds where the kernel's task_struct has `pid` and `tgid`, which lie side by side. task.bpf.c,
 * which copies the task_struct, and user space both include this header.
 */
#ifndef ZC_TASK_IDS_H
#define ZC_TASK_IDS_H

enum { TASK_COPY = 16384, TASK_PIECE = 128 };

struct task_copy {
	unsigned long long id; /* tgid << 32 | pid, the kernel's global ids */
	char bytes[TASK_COPY];
};

#ifndef __bpf__
#include "lib/error.h"

#include <stddef.h>

/*
 * Returns the offset of the pair in the copy, or -ENOENT when it is nowhere or in several places.
 */
int task_ids_find(const struct task_copy *copy);

/*
 * Returns a file descriptor with type information of that pair alone, for libbpf, or -errno with
 * err filled. The caller closes it.
 */
int task_ids_btf(struct error *err);
#endif

#endif
