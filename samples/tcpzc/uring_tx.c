// SPDX-License-Identifier: GPL-2.0-only
#include "uring_tx.h"

#include "uapi.h"

#include <errno.h>
#include <stdlib.h>

enum {
	PATIENCE_MS = 2000,	  /* without a notification, at the end */
	CANCEL_DATA = UINT32_MAX, /* user_data of a cancel request */
};

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

/* Prepares up to a batch of messages from f->bytes on: how many. */
static unsigned int build_chain(struct flow *f, struct uring_tx *u)
{
	struct io_uring_sqe *sqe = NULL;
	uint64_t pos = f->bytes;
	unsigned int n = 0;

	while (n < f->opt->batch && flow_left(f, pos) && slots_free(&u->slots)) {
		size_t len = flow_message(f, pos);
		char *p = slots_mem(&u->slots, u->slots.next);

		flow_fill(f, p, pos, len);
		sqe = io_uring_get_sqe(&u->ring);
		u->prepare(f, sqe, p, len);
		io_uring_sqe_set_data64(sqe, u->slots.next);
		sqe->flags |= IOSQE_IO_LINK;
		slots_hold(&u->slots, u->slots.next);
		slots_advance(&u->slots);
		pos += len;
		n++;
	}
	if (sqe)
		sqe->flags &= (uint8_t)~IOSQE_IO_LINK;
	return n;
}

static void notified(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe)
{
	slots_release(&u->slots, (unsigned int)cqe->user_data);
	if (!u->usage)
		return;
	if ((uint32_t)cqe->res & UAPI_IORING_NOTIF_USAGE_ZC_COPIED)
		f->sends_copied++;
	else
		f->sends_zero_copy++;
}

/* A send ended; with F_MORE its memory is still in use. */
static void sent(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe)
{
	u->chain--;
	if (!(cqe->flags & IORING_CQE_F_MORE))
		slots_release(&u->slots, (unsigned int)cqe->user_data);
	if (cqe->res > 0)
		flow_sent(f, (size_t)cqe->res);
	else if (cqe->res == -EINVAL && u->usage && !f->bytes)
		u->usage = false; /* before 6.2: go on without the report */
	else if (cqe->res == -ENOMEM || cqe->res == -ENOBUFS)
		flow_fail(f, -cqe->res, "io_uring send of %zu bytes: raise a limit (%s)",
			  f->opt->size, memory_limits());
	else if (cqe->res != -ECANCELED && cqe->res != -EINTR)
		flow_fail(f, -cqe->res, "io_uring send");
}

static void reap(struct flow *f, struct uring_tx *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;

	io_uring_for_each_cqe(&u->ring, head, cqe)
	{
		n++;
		if (cqe->user_data == CANCEL_DATA)
			u->cancels--;
		else if (cqe->flags & IORING_CQE_F_NOTIF)
			notified(f, u, cqe);
		else
			sent(f, u, cqe);
	}
	io_uring_cq_advance(&u->ring, n);
}

/* Stopped with sends under way that the receiver may never take. */
static void cancel_chain(struct uring_tx *u)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
	io_uring_sqe_set_data64(sqe, CANCEL_DATA);
	u->cancels++;
	u->cancelled = true;
}

int uring_tx_step(struct flow *f)
{
	struct uring_tx *u = f->state;
	unsigned int sends = build_chain(f, u);

	u->chain = sends;
	do {
		unsigned int wait = u->chain + (unsigned int)u->cancels;

		if (uring_submit_wait(f, &u->ring, wait ? wait : 1))
			return -f->error;
		reap(f, u);
		if (stop_requested && u->chain && !u->cancelled)
			cancel_chain(u);
	} while (u->chain || u->cancels);
	return -f->error;
}

/* Notifications; what is not reported by the end stays unknown. */
int uring_tx_drain(struct flow *f)
{
	const uint64_t patience = (uint64_t)PATIENCE_MS * 1000000;
	struct uring_tx *u = f->state;
	uint64_t last = now_ns();

	while (u->slots.in_flight && now_ns() - last < patience) {
		int rc = uring_wait(f, &u->ring, PATIENCE_MS);

		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		reap(f, u);
		last = now_ns();
	}
	return 0;
}

void uring_tx_close(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (!u)
		return;
	uring_close(&u->ring);
	slots_close(&u->slots);
	free(u);
}
