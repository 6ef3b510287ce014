// SPDX-License-Identifier: GPL-2.0-only
#include "uring.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <stdlib.h>

/* user_data of a cancel request. That of a send is its slot, with the round in the upper half. */
static const uint64_t cancel_data = UINT64_MAX;

int uring_tx_open(struct flow *f,
		  void (*prepare)(struct flow *, struct io_uring_sqe *, const void *, size_t))
{
	struct uring_tx *u = calloc(1, sizeof(*u));

	if (!u)
		return flow_fail(f, ENOMEM, "memory");
	f->state = u;
	u->prepare = prepare;
	if (slots_open(f, &u->slots))
		return -f->error;
	return uring_open(f, &u->ring, f->opt->batch + 1, 2 * (u->slots.n + f->opt->batch));
}

int uring_tx_register(struct flow *f, struct uring_tx *u)
{
	struct iovec iov = {u->slots.mem, u->slots.n * u->slots.size};
	int rc;

	f->buffers = f->opt->plain_buffers ? BUFFERS_PLAIN : BUFFERS_REGISTERED;
	if (f->opt->plain_buffers)
		return 0;
	rc = io_uring_register_buffers(&u->ring, &iov, 1);
	return rc ? flow_fail(f, -rc, "registering %zu bytes with io_uring (%s)", iov.iov_len,
			      limits_all())
		  : 0;
}

static uint64_t uring_tx_user_data(const struct slots *s, unsigned int slot)
{
	return (uint64_t)s->slot[slot].round << 32 | slot;
}

/* Prepares up to one batch of messages from f->bytes on. Returns their number. */
static unsigned int uring_tx_build_chain(struct flow *f, struct uring_tx *u)
{
	struct io_uring_sqe *sqe = NULL;
	uint64_t pos = f->bytes, now = clock_mono_ns();
	unsigned int n = 0;

	while (n < f->opt->batch && flow_left(f, pos) && slots_free(&u->slots)) {
		size_t len = flow_message(f, pos);
		char *p = slots_mem(&u->slots, u->slots.next);

		flow_fill(f, p, pos, len);
		sqe = io_uring_get_sqe(&u->ring);
		u->prepare(f, sqe, p, len);
		slots_hold(&u->slots, u->slots.next, now);
		io_uring_sqe_set_data64(sqe, uring_tx_user_data(&u->slots, u->slots.next));
		sqe->flags |= IOSQE_IO_LINK;
		slots_advance(&u->slots);
		pos += len;
		n++;
	}
	if (sqe)
		sqe->flags &= (uint8_t)~IOSQE_IO_LINK;
	return n;
}

/*
 * Counts a notification. A request that was cancelled before it started promises no notification.
 * Some kernels (6.18) still post one, and another send may have the slot by then.
 */
static void uring_tx_notified(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe,
			      uint64_t now)
{
	unsigned int slot = (unsigned int)cqe->user_data;

	if (cqe->user_data != uring_tx_user_data(&u->slots, slot) || !u->slots.slot[slot].pending)
		return;
	slots_release(&u->slots, slot);
	u->starved = false;
	if (!u->usage || !u->slots.slot[slot].accepted) /* the send failed */
		return;
	flow_hist(f, HIST_NOTIFY_NS, now - u->slots.slot[slot].handed_ns);
	if ((uint32_t)cqe->res & ZC_IORING_NOTIF_USAGE_ZC_COPIED)
		f->sends_copied++;
	else
		f->sends_zero_copy++;
}

/* A send lacks memory that earlier sends hold. It is repeated after their notifications. */
static void uring_tx_starve(struct flow *f, struct uring_tx *u)
{
	f->retries[LIMIT_MEMLOCK]++;
	u->starved = true;
}

/* The kernel does not know this kind of send. Falls back to an older kind if there is one. */
static bool uring_tx_fall_back(struct flow *f, struct uring_tx *u)
{
	if (u->may_be_plain && f->buffers == BUFFERS_REGISTERED) {
		f->buffers = BUFFERS_PLAIN; /* Linux before 6.15 */
		CALL(f, IO_URING_REGISTER, io_uring_unregister_buffers(&u->ring));
		return true;
	}
	if (!u->usage)
		return false;
	u->usage = false; /* Linux before 6.2 has no report */
	return true;
}

/* Counts a send that has ended. With F_MORE its memory is still in use. */
static void uring_tx_sent(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe)
{
	unsigned int slot = (unsigned int)cqe->user_data;
	bool more = cqe->flags & IORING_CQE_F_MORE;

	u->chain--;
	u->slots.slot[slot].accepted = cqe->res > 0;
	if (!more)
		slots_release(&u->slots, slot);
	if (cqe->res > 0)
		flow_sent(f, (size_t)cqe->res);
	else if (cqe->res == -EINVAL && !f->bytes && uring_tx_fall_back(f, u))
		return;
	else if ((cqe->res == -ENOMEM || cqe->res == -ENOBUFS) &&
		 u->slots.in_flight > u->chain + more)
		uring_tx_starve(f, u);
	else if (cqe->res == -ENOMEM || cqe->res == -ENOBUFS)
		flow_fail(f, -cqe->res, "io_uring send of %zu bytes: raise a limit (%s)", f->size,
			  limits_all());
	else if (cqe->res != -ECANCELED && cqe->res != -EINTR)
		flow_fail(f, -cqe->res, "io_uring send");
}

/* Handles all completions and returns their number. */
static unsigned int uring_tx_reap(struct flow *f, struct uring_tx *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;
	uint64_t now = clock_mono_ns();

	io_uring_for_each_cqe(&u->ring, head, cqe)
	{
		n++;
		if (cqe->user_data == cancel_data)
			u->cancels--;
		else if (cqe->flags & IORING_CQE_F_NOTIF)
			uring_tx_notified(f, u, cqe, now);
		else
			uring_tx_sent(f, u, cqe);
	}
	io_uring_cq_advance(&u->ring, n);
	if (n)
		flow_hist(f, HIST_COMPLETIONS, n);
	return n;
}

/* Cancels the sends in flight after a stop: the receiver may never read them. */
static void uring_tx_cancel_chain(struct uring_tx *u)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
	io_uring_sqe_set_data64(sqe, cancel_data);
	u->cancels++;
	u->cancelled = true;
}

/* Starts the next chain when the previous one has ended, so the stream stays in order. */
int uring_tx_step(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (!u->chain && !u->starved)
		u->chain = uring_tx_build_chain(f, u);
	if (uring_enter(f, &u->ring, u->chain ? u->chain : 1))
		return -f->error;
	if (!uring_tx_reap(f, u))
		return uring_later(f);
	return f->error ? -f->error : STEP_ON;
}

int uring_tx_drain(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (u->chain && !u->cancelled)
		uring_tx_cancel_chain(u);
	if (!u->chain && !u->cancels && !u->slots.in_flight)
		return 0;
	if (uring_enter_drain(f, &u->ring, 1))
		return -f->error;
	return uring_tx_reap(f, u) ? STEP_ON : f->alone ? STEP_WAIT : uring_later(f);
}

void uring_tx_close(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (!u)
		return;
	uring_close(f, &u->ring);
	slots_close(f, &u->slots);
	free(u->msgs);
	free(u);
}
