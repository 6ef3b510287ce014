/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each thread of the workload does, and what it waits for. The kernel's program and user space
 * both include this header. All times are in ns of CLOCK_MONOTONIC.
 */
#ifndef ZC_WAITS_H
#define ZC_WAITS_H

#include "collect/frame/frame.h"
#include "collect/syscalls/syscalls.h"

#ifndef __bpf__
#include <linux/bpf.h>
#endif

enum {
	WAITS_THREADS = 8192, /* threads in the whole run; slot 0 stays empty */
	WAITS_CELLS = 8192,   /* distinct waits with times of their own */
	WAITS_STACKS = 8192,
	WAITS_FRAMES = 32,
	WAITS_USER_FRAMES = 24,
	WAITS_BUCKETS = 256,
	WAITS_PERIOD = 1000000, /* ns of waiting of a thread after which its stack is taken */
	WAITS_NO_CALL = 0xffff, /* a thread that waits outside of a system call */
};

/* The states of a thread that is in no context of frame.h. */
enum waits_state {
	WAITS_BLOCKED = FRAME_CONTEXTS, /* until something wakes it */
	WAITS_WOKEN,			/* for a CPU, after that */
	WAITS_PREEMPTED,		/* for a CPU that another thread took */
	WAITS_ENDED,
};

/* What wakes a thread: the context that it happens in and, without an interrupt, the thread. */
struct waits_waker {
	uint8_t seen;	 /* 0: no event says what it was */
	uint8_t context; /* that of an interrupt; FRAME_SYSCALL: a thread */
	uint8_t own;	 /* a thread of the workload */
	uint8_t pad;
	char comm[FRAME_COMM]; /* "" of an interrupt; of a preempted thread: the one that runs */
};

struct waits_key {
	uint32_t slot;
	uint16_t call; /* number of the system call that it waits in, or WAITS_NO_CALL */
	uint8_t kind;  /* S, D, T: the state of a blocked thread as in /proc; R: preempted */
	uint8_t pad;
	struct waits_waker waker;
};

/* The time until the waker comes, and from then to the CPU. A preempted thread has the latter. */
enum { WAITS_FOR_WAKER, WAITS_FOR_CPU, WAITS_PARTS };

struct waits_cell {
	uint64_t n, ns[WAITS_PARTS];
	uint32_t hist[WAITS_PARTS][WAITS_BUCKETS]; /* by waits_bucket() */
};

struct waits_stack_key {
	struct waits_key wait;
	uint32_t hash;
};

struct waits_stack {
	uint64_t samples, ns;
	uint32_t n, nuser; /* the innermost first */
	uint64_t address[WAITS_FRAMES];
	struct bpf_stack_build_id user[WAITS_USER_FRAMES];
};

struct waits_thread {
	uint32_t pid, tid;
	char comm[FRAME_COMM];
	uint64_t born, died; /* 0: before the programs came; not yet */
	uint64_t since;	     /* beginning of the present state, or of its uncounted part */
	uint64_t out;	     /* when it left a CPU */
	uint64_t owed;	     /* ns of waiting since its stack was taken */
	uint64_t due,
		due_n; /* ns, and waits, of the stack of this call without the program's frames */
	struct waits_stack_key due_key;
	uint32_t state;
	uint16_t base, call;   /* what it returns to: a context, and the number of a system call */
	struct waits_key wait; /* the present or the last one */
	uint64_t ns[FRAME_CELLS]; /* by context */
};

struct waits_cpu {
	uint32_t slot; /* the thread of the workload that it runs; 0: none */
	uint8_t known, base;
	uint8_t softirq; /* 1 + its number; 0: none */
	uint8_t depth;	 /* hard interrupts on top of each other */
	uint8_t vector[FRAME_NESTED];
} __attribute__((aligned(64)));

/* Shared with the kernel's program through its .bss. */
struct waits_control {
	uint64_t start, stop; /* the window; UINT64_MAX: not yet */
	uint64_t lost;	      /* waits and stacks without room; threads without a slot */
	uint32_t threads;     /* used slots */
	uint32_t adopt;	      /* children of this process belong to the workload */
};

/* Eight buckets for each power of two. The last one has all that is longer, from 15 s on. */
static inline uint32_t waits_bucket(uint64_t ns)
{
	uint32_t log = syscall_bucket(ns), at = (uint32_t)ns;

	if (log >= 3)
		at = (log - 2) * 8 + (ns >> (log - 3) & 7);
	return at < WAITS_BUCKETS ? at : WAITS_BUCKETS - 1;
}

#endif
