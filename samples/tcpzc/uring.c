// SPDX-License-Identifier: GPL-2.0-only
#include "uring.h"

#include "uapi.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* Oldest kernel last; completions are worked off only when we ask for them, where that is known. */
static const unsigned int setups[] = {
	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* 6.1 */
	IORING_SETUP_COOP_TASKRUN,				 /* 5.19 */
	0,
};

int uring_open(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes)
{
	int rc = -EINVAL;
	size_t i;

	for (i = 0; rc == -EINVAL && i < sizeof(setups) / sizeof(setups[0]); i++) {
		struct io_uring_params p = {.flags = setups[i] | IORING_SETUP_CQSIZE,
					    .cq_entries = cqes > 2 * sqes ? cqes : 2 * sqes};

		rc = io_uring_queue_init_params(sqes, ring, &p);
	}
	if (rc == -ENOMEM)
		return flow_fail(f, ENOMEM, "io_uring with %u entries: raise a limit (%s)", sqes,
				 memory_limits());
	if (rc)
		return flow_fail(
			f, -rc,
			"io_uring (Linux 5.19 or later; kernel.io_uring_disabled must be 0)");
	return 0;
}

int uring_submit_wait(struct flow *f, struct io_uring *ring, unsigned int wait)
{
	int rc = CALL(f, IO_URING_ENTER, io_uring_submit_and_wait(ring, wait));

	f->ring_overflow = *ring->cq.koverflow;
	if (rc >= 0 || rc == -EINTR)
		return 0;
	return flow_fail(f, -rc, "io_uring_enter");
}

int uring_wait(struct flow *f, struct io_uring *ring, unsigned int timeout_ms)
{
	struct __kernel_timespec ts = {.tv_sec = timeout_ms / 1000,
				       .tv_nsec = timeout_ms % 1000 * 1000000L};
	struct io_uring_getevents_arg arg = {.ts = (uintptr_t)&ts};
	int rc;

	if (!io_uring_cq_ready(ring)) {
		rc = CALL(f, IO_URING_ENTER,
			  io_uring_enter2((unsigned int)ring->ring_fd, 0, 1,
					  IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
					  (sigset_t *)&arg, sizeof(arg)));
		if (rc < 0 && rc != -ETIME && rc != -EINTR)
			return flow_fail(f, -rc, "io_uring_enter");
	}
	return io_uring_cq_ready(ring) > 0;
}

void uring_close(struct io_uring *ring)
{
	if (ring->cq.koverflow)
		io_uring_queue_exit(ring);
}
