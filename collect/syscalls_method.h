/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ways to count system calls, and what they leave: threads and cells as in collect/syscalls.h,
 * both counted from 1.
 */
#ifndef ZC_SYSCALLS_METHOD_H
#define ZC_SYSCALLS_METHOD_H

#include "collect/syscalls.h"
#include "collect/syscalls_ended.h"
#include "lib/error.h"

#include <stdint.h>

struct syscall_counts {
	const struct syscall_thread *threads; /* [0 .. nthreads], the first unused */
	const struct syscall_cell *cells;     /* indexed by thread->cell[nr] */
	uint32_t nthreads, ncells;
	const struct syscall_sum *ended; /* threads that are not among these any more */
	size_t nended;
	uint64_t lost; /* calls, or events where that is what can be told */
};

/*
 * open: everything set up and off, before the workload is started by this process; its children
 * from then on are the workload. before: the window is about to open; may be NULL. Hooks return 0
 * or -errno with err filled. counts stays valid until close.
 */
struct syscalls_method {
	const char *name;
	int (*open)(void **self, struct error *err);
	void (*time_one_in)(void *self, unsigned int n); /* NULL: every call is timed */
	int (*before)(void *self, struct error *err);
	int (*start)(void *self, struct error *err);
	int (*stop)(void *self, struct error *err);
	void (*counts)(void *self, struct syscall_counts *counts);
	void (*close)(void *self);
};

extern const struct syscalls_method syscalls_bpf, syscalls_tracepoint;

/* syscall_names.c: NULL when unknown; does its return value count bytes? */
const char *syscall_name(uint32_t nr);
int syscall_moves_bytes(uint32_t nr);

/* syscalls_write.c: syscalls.tsv, as docs/formats.md says. */
int syscalls_write(const struct syscall_counts *counts, const char *path, struct error *err);

#endif
