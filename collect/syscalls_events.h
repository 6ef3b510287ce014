/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls out of a stream of enter and exit events: the same counts as the kernel's program
 * makes, where events have to be carried out instead.
 *
 * Events come from one ring buffer per CPU, so a thread's enter and exit may come out of order.
 * They are held back until nothing older can come: syscalls_events_until(t) says that everything
 * before t is in.
 */
#ifndef ZC_SYSCALLS_EVENTS_H
#define ZC_SYSCALLS_EVENTS_H

#include "collect/syscalls_method.h"
#include "lib/hash.h"
#include "lib/intern.h"

#include <stddef.h>
#include <stdint.h>

enum syscall_event_kind { SYSCALL_FORK, SYSCALL_COMM, SYSCALL_ENTER, SYSCALL_EXIT };

struct syscall_event {
	uint64_t time;
	uint32_t pid, tid;
	uint8_t kind;
	uint32_t nr; /* ENTER, EXIT; FORK: the parent's tid; COMM: the name, interned in `names` */
	int64_t ret; /* EXIT */
};

struct syscalls_events {
	struct syscall_event *pending;
	size_t n, cap;
	struct syscall_thread *threads; /* [0] unused */
	struct syscall_cell *cells;	/* [0] unused */
	size_t nthreads, threads_cap, ncells, cells_cap;
	struct map slot; /* tid -> its slot */
	struct map comm; /* tid -> its name + 1 */
	struct intern names;
	uint64_t unpaired; /* exits whose enter was lost */
};

void syscalls_events_add(struct syscalls_events *e, const struct syscall_event *event);
void syscalls_events_until(struct syscalls_events *e, uint64_t time); /* UINT64_MAX: the end */
void syscalls_events_free(struct syscalls_events *e);

#endif
