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
	WAITS_PERIOD = 5000000, /* mean ns between the stacks of a thread that waits more often */
	WAITS_STEADY = 16,	/* stacks after which the choice of waits follows their number */
	WAITS_MOST_EVERY = 4096,
	WAITS_FEW = 100000,	/* ns in parts below which they do not divide the time on a CPU */
	WAITS_NO_CALL = 0xffff, /* a thread that waits outside of a system call */
};

enum waits_state {
	WAITS_RUNNING,
	WAITS_BLOCKED,	 /* until something wakes it */
	WAITS_WOKEN,	 /* for a CPU, after that */
	WAITS_PREEMPTED, /* for a CPU that another thread took */
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
	uint32_t hash;	  /* the sum over the addresses in struct waits_stack */
	uint32_t program; /* the key of struct waits_program, or 0 */
};

/* The kernel's part of a stack, the innermost frame first. */
struct waits_stack {
	uint64_t samples, ns; /* ns: those of the waits without a stack, too */
	uint32_t n;
	uint64_t address[WAITS_FRAMES];
};

/* The program's part. */
struct waits_program {
	uint32_t n;
	struct bpf_stack_build_id frame[WAITS_USER_FRAMES];
};

struct waits_thread {
	uint32_t pid, tid;
	char comm[FRAME_COMM];
	uint64_t born, died; /* 0: before the programs came; not yet */
	uint64_t since;	     /* beginning of the present state */
	uint64_t out;	     /* when it left a CPU */
	uint64_t ran;	     /* ns on a CPU */
	uint64_t adapted;    /* when `every` last followed the number of waits */
	uint32_t state;
	uint32_t every, chosen;	  /* one in `every` waits has a stack; those that had one */
	uint32_t weight;	  /* waits that the stack of this wait counts for, or 0 */
	uint32_t program;	  /* as in struct waits_stack_key */
	struct waits_key wait;	  /* the present or the last one */
	uint64_t ns[FRAME_CELLS]; /* on a CPU in the parts, by context */
	uint64_t seen;		  /* beginning of the present context; 0: not in a part */
	uint8_t context, base;	  /* base: what it returns to on a CPU */
};

/* What the task of a CPU does, and the interrupts on top of it. */
struct waits_cpu {
	uint8_t base;
	uint8_t part;	 /* the ways into system calls and out of them are seen */
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
