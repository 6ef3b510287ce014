/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of threads that ended, where there are more than the kernel's program has room for: taken
 * out of its arrays and added up here. Memory is bounded: the first threads are kept apart; when
 * there are many rows those that follow are added up by process and name, then by name, then all.
 */
#ifndef ZC_SYSCALLS_ENDED_H
#define ZC_SYSCALLS_ENDED_H

#include "collect/syscalls.h"
#include "lib/intern.h"

#include <stddef.h>
#include <stdint.h>

enum { SYSCALLS_ENDED_ROWS = 4096 }; /* so many of each kind, about */

/* No padding: compared by its bytes. */
struct syscall_key {
	uint32_t pid, tid, nr; /* pid, tid 0: of several */
	char comm[SYSCALLS_COMM];
};

struct syscall_sum {
	struct syscall_key key;
	uint64_t first, unfinished; /* calls that first_total is of; that never returned */
	struct syscall_cell cell;
};

struct syscalls_ended {
	struct syscall_sum *rows;
	size_t n, cap;
	struct intern keys; /* id: row */
};

/* Adds what the thread did; `cells` as its `cell` counts them, those from `ncells` on are not. */
void syscalls_ended_add(struct syscalls_ended *e, const struct syscall_thread *t,
			const struct syscall_cell *cells, uint32_t ncells);
void syscalls_ended_free(struct syscalls_ended *e);

#endif
