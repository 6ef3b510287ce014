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

/* Submits what is prepared and waits for `wait` > 0 completions. Interrupted: 0. */
int uring_submit_wait(struct flow *f, struct io_uring *ring, unsigned int wait);

/* Waits at most so long, for one completion: 1 when there is one, 0 when not. */
int uring_wait(struct flow *f, struct io_uring *ring, unsigned int timeout_ms);

/* Also of a ring, all zeroes, that was never opened. */
void uring_close(struct io_uring *ring);

#endif
