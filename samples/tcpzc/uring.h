/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_uring as all of its modes use it, with each io_uring_enter counted. liburing enters the
 * kernel by itself in some of its calls and not in others; only those that enter exactly once
 * are used here.
 *
 * When the completion ring is full the kernel keeps further completions on a backlog, says so in
 * the submission ring's flags (IORING_SQ_CQ_OVERFLOW), ends multishot requests, and fills the ring
 * from the backlog with each enter: slower, and nothing is lost. f->ring_overflow counts the
 * enters that found a backlog. Only what it has no memory to keep is dropped
 * (f->dropped_completions): with it goes what was received, or which memory is free again, and
 * nobody can say which. So a flow that lost one has failed, in every mode.
 */
#ifndef TCPZC_URING_H
#define TCPZC_URING_H

#include "tcpzc.h"

#include <liburing.h>

/*
 * A ring for this thread alone, for `sqes` requests at once, with --cq-entries completions: else
 * `cqes`, twice `sqes` when less.
 */
int uring_open(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes);

/* The same with these IORING_SETUP_ flags and no others; -errno without flow_fail. */
int uring_open_with(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes,
		    unsigned int flags);

/*
 * Submits what is prepared, has the kernel complete what it can and, when the flow is alone on its
 * thread, waits for `wait` completions, after its last step only as long as a drain has patience.
 * One call of io_uring_enter. Interrupted: 0.
 */
int uring_enter(struct flow *f, struct io_uring *ring, unsigned int wait);

/* The same, waiting at most as long as a drain has patience. */
int uring_enter_drain(struct flow *f, struct io_uring *ring, unsigned int wait);

/* STEP_WAIT until there are completions, for a step or drain that found none. */
int uring_later(struct flow *f);

/* Also of a ring, all zeroes, that was never opened. */
void uring_close(struct flow *f, struct io_uring *ring);

#endif
