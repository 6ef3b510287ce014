// SPDX-License-Identifier: GPL-2.0-only
/*
 * For kernels without type information (BTF): copies the task_struct of the running thread, so that
 * user space, which knows the thread's ids, finds their offset. We run it once, for our own thread.
 */
#include "collect/syscalls/task_ids.h"

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct task_copy copy;

SEC("raw_tp")
int copy_task(void *ctx)
{
	const char *task = (const char *)bpf_get_current_task();
	int i;

	copy.id = bpf_get_current_pid_tgid();
	/* Copies piece by piece, because memory behind the end may not be readable. */
	for (i = 0; i < TASK_COPY; i += TASK_PIECE)
		bpf_probe_read_kernel(copy.bytes + i, TASK_PIECE, task + i);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
