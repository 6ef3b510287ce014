/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_uring as all of its modes use it, with each io_uring_enter counted. Some calls of liburing
 * enter the kernel by themselves. Only those that enter exactly once are used here.
 *
 * When the completion ring is full, the kernel keeps further completions on a backlog. It sets
 * IORING_SQ_CQ_OVERFLOW in the submission ring's flags, ends multishot requests, and refills the
 * ring from the backlog at each enter. That is slower but loses nothing. f->ring_overflow counts
 * the enters that found a backlog. The kernel drops only completions that it has no memory for
 * (f->dropped_completions). A dropped completion leaves received data or free memory unknown, so
 * the flow fails, in every mode.
 */
#ifndef TCPZC_URING_H
#define TCPZC_URING_H

#include "memory.h"

#include <liburing.h>

/*
 * Opens a ring for this thread alone and for `sqes` requests at once. It has room for --cq-entries
 * completions, or by default for `cqes`. `flags` are IORING_SETUP_ flags that the mode needs; 0:
 * the best that the kernel has.
 */
int uring_open(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes,
	       unsigned int flags);

/*
 * Submits the prepared requests and lets the kernel complete what it can, with one call of
 * io_uring_enter. A flow alone on its thread waits for `wait` completions; after its last step it
 * waits only as long as a drain may. Returns 0 also when a signal interrupts it.
 */
int uring_enter(struct flow *f, struct io_uring *ring, unsigned int wait);

/* The same, unless there are completions and no requests: then it need not. */
int uring_await(struct flow *f, struct io_uring *ring);

/* Returns STEP_WAIT until there are completions, for a step or a drain that found none. */
int uring_later(struct flow *f);

/*
 * Hands each completion to completed(), until it returns 0 or less. Returns what completed()
 * returned last, or uring_later() when there is no completion.
 */
int uring_collect(struct flow *f, struct io_uring *ring,
		  int (*completed)(struct flow *f, const struct io_uring_cqe *cqe));

/*
 * Closes the ring that f->state begins with. The ring may be all zeroes and never opened. A mode
 * that has nothing else to close takes it as its close.
 */
void uring_close(struct flow *f);

#endif
