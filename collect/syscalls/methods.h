/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Methods to count system calls, and their result: threads and cells as in syscalls.h, both with
 * indexes from 1.
 */
#ifndef ZC_SYSCALLS_METHODS_H
#define ZC_SYSCALLS_METHODS_H

#include "collect/syscalls/syscalls.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/str.h"

struct syscall_counts {
	const struct syscall_thread *threads; /* [0 .. nthreads], the first unused */
	const struct syscall_cell *cells;     /* indexed by thread->cell[nr] */
	uint32_t nthreads, ncells;
	struct socket_copies copies[SOCKET_COPY_KINDS];
	bool copies_known[SOCKET_COPY_KINDS]; /* this kernel counts them */
	bool copies_failed; /* a counter that this kernel has was not switched on, or not read */
	uint64_t lost;	    /* lost calls, or lost events where calls cannot be counted */
};

/*
 * `open` prepares everything, switched off, before this process starts the workload: later children
 * are the workload. Hooks return 0 or -errno with err filled. `counts` stays valid until `close`.
 */
struct syscalls_method {
	const char *name;
	int (*open)(void **self, struct error *err);
	void (*time_one_in)(void *self, unsigned int n); /* without it every call is timed */
	/*
	 * Adds a thread that zcost did not start to the workload. Returns 1, 0 for a thread that
	 * belongs to it already, or -errno. NULL: the method counts only what zcost starts.
	 */
	int (*add)(void *self, uint32_t pid, uint32_t tid, struct error *err);
	int (*start)(void *self, struct error *err);
	int (*stop)(void *self, struct error *err);
	void (*counts)(void *self, struct syscall_counts *counts);
	const void *(*programs)(void *self); /* the struct bpf_object; NULL: it has none */
	void (*close)(void *self);
};

extern const struct syscalls_method syscalls_bpf, syscalls_tracepoint;

/* Returns the name of a call by its index, or NULL when it is unknown. */
const char *syscall_name(uint32_t index);
/* Returns what is known of the SYSCALLS_NR calls, by their index. */
const struct syscall_trait *syscall_traits(void);

/* Adds syscalls.tsv (docs/reference/capture-folder.md). */
void syscalls_print(struct str *s, const struct syscall_counts *counts);

/*
 * Makes the same counts as the kernel's program from a stream of enter and exit events.
 *
 * Events come from one ring buffer per CPU, so the enter and exit of a thread may be out of order.
 * They wait until nothing older can come: syscalls_events_until(t) says that all events before t
 * have been added.
 */

enum syscall_event_kind { SYSCALL_FORK, SYSCALL_COMM, SYSCALL_ENTER, SYSCALL_EXIT };

struct syscall_event {
	uint64_t time;
	uint32_t pid, tid;
	uint8_t kind;
	/*
	 * ENTER: the call's index; EXIT: its number; FORK: the parent's tid; COMM: the name,
	 * interned in `names`
	 */
	uint32_t nr;
	/* EXIT: the result; ENTER: the argument that is a number of bytes */
	int64_t value;
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
};

void syscalls_events_add(struct syscalls_events *e, const struct syscall_event *event);
void syscalls_events_until(struct syscalls_events *e, uint64_t time); /* UINT64_MAX: the end */
void syscalls_events_free(struct syscalls_events *e);

#endif
