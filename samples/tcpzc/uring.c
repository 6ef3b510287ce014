// SPDX-License-Identifier: GPL-2.0-only
#include "uring.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/eventfd.h>

/* Newest kernel first. A kernel that can does the completion work only when we enter it. */
static const unsigned int setups[] = {
	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, /* 6.1 */
	IORING_SETUP_COOP_TASKRUN,				 /* 5.19 */
	0,
};

static int uring_init(const struct flow *f, struct io_uring *ring, unsigned int sqes,
		      unsigned int cqes, unsigned int flags)
{
	struct io_uring_params p = {.flags = flags | IORING_SETUP_CQSIZE,
				    .cq_entries = f->opt->cq_entries ?: cqes};

	if (p.cq_entries < sqes) /* the kernel refuses fewer completions than requests */
		p.cq_entries = sqes;
	return io_uring_queue_init_params(sqes, ring, &p);
}

int uring_open(struct flow *f, struct io_uring *ring, unsigned int sqes, unsigned int cqes,
	       unsigned int flags)
{
	int rc = flags ? uring_init(f, ring, sqes, cqes, flags) : -EINVAL;

	for (size_t i = 0; !flags && rc == -EINVAL && i < sizeof(setups) / sizeof(setups[0]); i++)
		rc = uring_init(f, ring, sqes, cqes, setups[i]);
	if (rc == -ENOMEM)
		return flow_fail(f, ENOMEM, "io_uring with %u entries: raise a limit (%s)", sqes,
				 limits_text());
	if (rc)
		return flow_fail(f, -rc,
				 "io_uring (Linux %s or later; kernel.io_uring_disabled must be 0)",
				 flags ? "6.1" : "5.19");
	if (f->alone)
		return 0;
	/* The flow waits in poll(2). A ring with DEFER_TASKRUN does not wake it; its eventfd does.
	 */
	f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = f->event_fd < 0 ? -errno : io_uring_register_eventfd(ring, f->event_fd);
	return rc ? flow_fail(f, -rc, "io_uring: an eventfd") : 0;
}

/* Shows the prepared requests to the kernel. Returns the number that it has not taken yet. */
static unsigned int uring_flush(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	unsigned int tail = *sq->ktail;

	while (sq->sqe_head != sq->sqe_tail)
		sq->array[tail++ & sq->ring_mask] = sq->sqe_head++ & sq->ring_mask;
	io_uring_smp_store_release(sq->ktail, tail);
	return tail - io_uring_smp_load_acquire(sq->khead);
}

static int uring_check_dropped(struct flow *f, const struct io_uring *ring)
{
	f->dropped_completions = IO_URING_READ_ONCE(*ring->cq.koverflow);
	if (!f->dropped_completions)
		return 0;
	return flow_wrong(
		f,
		"io_uring: the kernel had no memory to keep %" PRIu64
		" completions and dropped them: %s; --cq-entries makes room for more than %u",
		f->dropped_completions,
		f->tx ? "what was sent, and from which memory, is not known" : "data is lost",
		ring->cq.ring_entries);
}

int uring_enter(struct flow *f, struct io_uring *ring, unsigned int wait)
{
	struct __kernel_timespec patience = {.tv_sec = DRAIN_PATIENCE_MS / 1000};
	struct io_uring_getevents_arg arg = {.ts = (uintptr_t)&patience};
	unsigned int n = uring_flush(ring), flags = IORING_ENTER_GETEVENTS;
	uint64_t events;
	int rc;

	if (f->event_awaited) /* this enter does the work that it announced */
		(void)!CALL(f, READ, read(f->event_fd, &events, sizeof(events)));
	f->event_awaited = false;
	if (f->draining)
		flags |= IORING_ENTER_EXT_ARG;
	if (IO_URING_READ_ONCE(*ring->sq.kflags) & IORING_SQ_CQ_OVERFLOW)
		f->ring_overflow++;
	rc = CALL(f, IO_URING_ENTER,
		  io_uring_enter2((unsigned int)ring->ring_fd, n, f->alone ? wait : 0, flags,
				  f->draining ? (sigset_t *)&arg : NULL,
				  f->draining ? sizeof(arg) : _NSIG / 8));
	f->sqes += rc > 0 ? (uint64_t)rc : 0;
	f->cqes += *ring->cq.ktail - (uint32_t)f->cqes; /* the kernel's count has 32 bits */
	if (uring_check_dropped(f, ring))
		return -f->error;
	/* EBUSY (before 6.2): the ring has no room for the whole backlog. */
	if (rc >= 0 || rc == -EINTR || rc == -ETIME || (rc == -EBUSY && io_uring_cq_ready(ring)))
		return 0;
	return flow_fail(f, -rc, "io_uring_enter");
}

int uring_await(struct flow *f, struct io_uring *ring)
{
	return io_uring_sq_ready(ring) || !io_uring_cq_ready(ring) ? uring_enter(f, ring, 1) : 0;
}

int uring_later(struct flow *f)
{
	if (f->alone)
		return STEP_ON; /* the next io_uring_enter waits */
	f->event_awaited = true;
	return flow_wait_for(f, f->event_fd, POLLIN);
}

int uring_collect(struct flow *f, struct io_uring *ring,
		  int (*completed)(struct flow *f, const struct io_uring_cqe *cqe))
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0, ready = io_uring_cq_ready(ring);
	int rc = STEP_ON;

	io_uring_for_each_cqe(ring, head, cqe)
	{
		n++;
		rc = completed(f, cqe);
		if (rc <= 0 ||
		    n == ready) /* buffers given back bring more, which may fill the ring */
			break;
	}
	io_uring_cq_advance(ring, n);
	if (!n)
		return uring_later(f);
	flow_hist(f, HIST_COMPLETIONS, n);
	return rc;
}

void uring_close(struct flow *f)
{
	struct io_uring *ring = f->state;

	if (ring->cq.koverflow)
		io_uring_queue_exit(ring);
	fd_close(&f->event_fd);
}
