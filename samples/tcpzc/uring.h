/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_uring as all of its modes use it, with each io_uring_enter counted, and completions that
 * did not fit into the ring. liburing enters the
 * kernel by itself in some of its calls and not in others; only those that enter exactly once
 * are used here.
 */
#ifndef TCPZC_URING_H
#define TCPZC_URING_H

#include "tcpzc.h"

#include <liburing.h>

/* A ring for this thread alone, with `cqes` completions (twice `sqes` when less). */
int uring_open(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes);

/* The same with these IORING_SETUP_ flags and no others; -errno without flow_fail. */
int uring_open_with(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes,
		    unsigned int flags);

/*
 * Submits what is prepared, has the kernel complete what it can and, when the flow is alone on its
 * thread, waits for `wait` completions. One call of io_uring_enter. Interrupted: 0.
 */
int uring_enter(struct flow *f, struct io_uring *ring, unsigned int wait);

/* The same, waiting at most as long as a drain has patience. */
int uring_enter_drain(struct flow *f, struct io_uring *ring, unsigned int wait);

/* STEP_WAIT until there are completions, for a step or drain that found none. */
int uring_later(struct flow *f);

/* Also of a ring, all zeroes, that was never opened. */
void uring_close(struct flow *f, struct io_uring *ring);

#endif
