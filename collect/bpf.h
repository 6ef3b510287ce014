/* SPDX-License-Identifier: GPL-2.0-only */
/* What the collectors with programs in the kernel share. Their objects are embedded in zcost. */
#ifndef ZC_COLLECT_BPF_H
#define ZC_COLLECT_BPF_H

#include "lib/error.h"

#include <stdint.h>

/*
 * Checks that the kernel has type information, and saves what libbpf says from now on. Returns 0,
 * or -ENOTSUP.
 */
int bpf_begin(struct error *err);
/* Returns -code after a message that has the first warning of libbpf, or how to get the right. */
int bpf_refused(int code, struct error *err);
/* Returns the number of thread ids that an array by thread id has room for. */
uint32_t bpf_thread_ids(void);

#endif
