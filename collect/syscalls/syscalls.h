/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counts per (thread, syscall). The kernel's program and user space both include this header.
 * All times are in ns. One thread at a time writes a cell, so nothing in it is atomic.
 */
#ifndef ZC_SYSCALLS_H
#define ZC_SYSCALLS_H

#include "collect/programs.h"

enum {
	SYSCALLS_FLAGGED = 500, /* numbers below this one are counted; others are lost */
	SYSCALLS_NR = 512,
	SYSCALLS_THREADS = 8192, /* threads at a time that made a call; slot 0 stays empty */
	SYSCALLS_CELLS = 32768,	 /* their (thread, syscall) pairs; cell 0 stays empty */
	SYSCALLS_KEPT = 4,	 /* slots are used again when 1/4 of the slots or cells is used */
	SYSCALLS_BUCKETS = 64,
	SYSCALLS_COMM = 16,
	SYSCALLS_UNTIMED = 1, /* no call began when the clock was at 1 ns */
	SYSCALLS_FIRST = 16,  /* first calls of a thread's syscall, which are always timed */
	SYSCALLS_LOTS = 1 << 24,
};

/*
 * State of a thread id: 0 not the workload's, 1 the workload's, else 1 + its slot.
 */
enum { STRANGER, MEMBER };

struct syscall_cell {
	uint64_t calls, errors;
	uint64_t unfinished;	       /* calls in which a thread ended */
	uint64_t timed;		       /* timed calls: all, or the first ones and a random part */
	uint64_t total, min, max;      /* total time of the timed calls */
	uint64_t first_total;	       /* total time of the first SYSCALLS_FIRST calls */
	uint64_t square_lo, square_hi; /* sum of squares, 128 bit */
	uint64_t bytes;		       /* results above 0, or arguments */
	uint64_t time_hist[SYSCALLS_BUCKETS];
	uint64_t size_hist[SYSCALLS_BUCKETS];
};

/*
 * One thread, or, when thousands have ended, several that used the slot one after the other: tid is
 * then 0, pid 0 if their processes differ, and `was` the name of those that ended.
 */
struct syscall_thread {
	uint32_t pid, tid;
	char comm[SYSCALLS_COMM], was[SYSCALLS_COMM];
	uint64_t entered; /* when the call in progress began; 0: none is; SYSCALLS_UNTIMED */
	uint32_t nr;	  /* index of that call */
	uint64_t asked;	  /* the argument of that call that is a number of bytes */
	uint32_t lot;	  /* random state; decides for each call whether it is timed */
	uint32_t cell[SYSCALLS_NR]; /* a call that was not made yet has 0 */
	uint8_t first[SYSCALLS_NR]; /* number of the first calls that have begun */
};

/* Shared with the kernel's program through its .bss. */
struct syscall_control {
	uint32_t on;	/* the window is open */
	uint32_t adopt; /* children of this process belong to the workload; 0: no process */
	uint32_t threads, cells; /* used so far */
	uint32_t untimed;	 /* draws of SYSCALLS_LOTS that leave a call untimed */
	uint64_t lost;		 /* calls without room in the arrays */
};

/* What is known of a call before it is made. */
struct syscall_trait {
	uint32_t flag;	  /* a call with this flag counts under the index `flagged` */
	uint16_t flagged; /* an index from SYSCALLS_FLAGGED on */
	uint8_t argument; /* the argument with the flags, from 0 */
	uint8_t moves;	  /* the result is a number of bytes */
	uint8_t sized;	  /* 1 + the argument that is a number of bytes; 0: none is */
	/*
	 * sigreturn: its exit has the number -1, and the register of the code that the signal
	 * interrupted as its result
	 */
	uint8_t restores;
};

/* Data of sockets that the kernel copied or pinned. A row of socket_copies.tsv each. */
enum socket_copy_kind {
	SOCKET_COPY_OUT,   /* skb_copy_datagram_iovec: received data, to the workload's memory */
	SOCKET_COPY_FRAGS, /* skb_copy_ubufs: zero-copy sends that were copied, of every program */
	SOCKET_COPY_PINS,  /* __zerocopy_sg_from_iter: pages of the workload that were pinned */
	SOCKET_COPY_KINDS,
};

struct socket_copies {
	uint64_t calls, bytes;
};

/* Returns the index of a call in the arrays, or SYSCALLS_NR for a number that is not counted. */
static inline uint32_t syscall_index(uint32_t nr)
{
	return nr >= SYSCALLS_FLAGGED ? SYSCALLS_NR : nr;
}

/* floor(log2(v)), 0 for 0 */
static inline uint32_t syscall_bucket(uint64_t v)
{
	uint32_t b = 0;

	if (v >> 32)
		b += 32, v >>= 32;
	if (v >> 16)
		b += 16, v >>= 16;
	if (v >> 8)
		b += 8, v >>= 8;
	if (v >> 4)
		b += 4, v >>= 4;
	if (v >> 2)
		b += 2, v >>= 2;
	return b + (v >> 1 != 0);
}

static inline void syscall_add_square(struct syscall_cell *c, uint64_t ns)
{
	uint64_t high = ns >> 32, low = ns & 0xffffffff, mid, sum;

	sum = c->square_lo + low * low;
	c->square_hi += sum < c->square_lo;
	c->square_lo = sum;
	if (!high)
		return;
	mid = high * low; /* the product counts twice, shifted by 32 */
	sum = c->square_lo + (mid << 33);
	c->square_hi += (sum < c->square_lo) + (mid >> 31) + high * high;
	c->square_lo = sum;
}

static inline void syscall_time(struct syscall_cell *c, uint64_t ns)
{
	if (!c->timed || ns < c->min)
		c->min = ns;
	if (ns > c->max)
		c->max = ns;
	if (c->timed < SYSCALLS_FIRST)
		c->first_total += ns;
	c->timed++;
	c->total += ns;
	syscall_add_square(c, ns);
	c->time_hist[syscall_bucket(ns) & (SYSCALLS_BUCKETS - 1)]++;
}

/*
 * Says whether the call that begins now is timed. Each call is decided by a random draw, because
 * every nth call would hit the same call of a loop again and again. The first calls are always
 * timed, so few calls are exact.
 */
static inline int syscall_timed(struct syscall_thread *t, uint32_t nr, uint32_t untimed)
{
	if (!untimed)
		return 1;
	if (nr < SYSCALLS_NR && t->first[nr] < SYSCALLS_FIRST) {
		t->first[nr]++;
		return 1;
	}
	t->lot = t->lot * 1664525 + 1013904223;
	return t->lot >> 8 >= untimed;
}

/* Counts a call that returns `ret`. `asked` is its argument that is a number of bytes. */
static inline void syscall_count(struct syscall_cell *c, const volatile struct syscall_trait *t,
				 int64_t ret, uint64_t asked)
{
	int failed = !t->restores && ret < 0 && ret >= -4095;
	uint64_t bytes = t->moves ? (uint64_t)ret : t->sized ? asked : 0;

	c->calls++;
	c->errors += (uint64_t)failed;
	if (failed || !bytes)
		return;
	c->bytes += bytes;
	c->size_hist[syscall_bucket(bytes) & (SYSCALLS_BUCKETS - 1)]++;
}

#endif
