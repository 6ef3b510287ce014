// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's recv, which copies: with one request for each receive into one buffer, or multishot
 * with a ring of provided buffers, where one request serves the whole stream. There the kernel
 * copies into the next free buffer whenever data arrives, and one io_uring_enter collects
 * everything that has arrived since the last one.
 */
#include "uring.h"

#include <errno.h>

/* --- a request for each receive --- */

struct uring_rx {
	struct io_uring ring;
	char *buf;
	bool armed;
};

static int uring_recv_open(struct flow *f)
{
	struct uring_rx *s = f->state;

	s->buf = memory_get(f, f->size);
	if (!s->buf)
		return -f->error;
	return uring_open(f, &s->ring, 1, 8, 0);
}

static int uring_recv_completed(struct flow *f, const struct io_uring_cqe *cqe)
{
	struct uring_rx *s = f->state;

	s->armed = false;
	if (cqe->res > 0) {
		flow_take(f, s->buf, (size_t)cqe->res, &f->copied_bytes);
		flow_received(f, (size_t)cqe->res);
		return STEP_ON;
	}
	if (cqe->res == -EINTR || cqe->res == -EAGAIN)
		return STEP_ON;
	return cqe->res ? flow_fail(f, -cqe->res, "io_uring recv") : STEP_END;
}

static int uring_recv_step(struct flow *f)
{
	struct uring_rx *s = f->state;

	if (!s->armed) {
		io_uring_prep_recv(io_uring_get_sqe(&s->ring), f->fd, s->buf, f->size, 0);
		s->armed = true;
	}
	if (uring_await(f, &s->ring))
		return -f->error;
	return uring_collect(f, &s->ring, uring_recv_completed);
}

const struct mode rx_uring_recv = {
	.name = "uring-recv",
	.what = "io_uring recv, a request for each receive: copies",
	.flags = MODE_RING,
	.asks = ASKS_COPY,
	.state_size = sizeof(struct uring_rx),
	.open = uring_recv_open,
	.step = uring_recv_step,
	.close = uring_close,
};

/* --- multishot --- */

enum { POOL = 4 << 20, BUFS_MIN = 8, BUFS_MAX = 1024, GROUP = 0 };

struct multishot_rx {
	struct io_uring ring;
	struct io_uring_buf_ring *bufs;
	char *mem;
	unsigned int n; /* number of buffers, a power of two; each has the size of a message */
	bool armed;
};

static void multishot_give_back(struct flow *f, struct multishot_rx *s, unsigned int id)
{
	io_uring_buf_ring_add(s->bufs, s->mem + id * f->size, (unsigned int)f->size,
			      (unsigned short)id, io_uring_buf_ring_mask(s->n), 0);
	io_uring_buf_ring_advance(s->bufs, 1);
}

static int multishot_register_buffers(struct flow *f, struct multishot_rx *s)
{
	struct io_uring_buf_reg reg = {.ring_entries = s->n, .bgid = GROUP};
	int rc;

	s->bufs = memory_get(f, s->n * sizeof(struct io_uring_buf));
	s->mem = memory_get(f, s->n * f->size);
	if (!s->bufs || !s->mem)
		return -f->error;
	reg.ring_addr = (uintptr_t)s->bufs;
	rc = io_uring_register_buf_ring(&s->ring, &reg, 0);
	if (rc)
		return flow_fail(f, -rc, "a ring of %u provided buffers (Linux 5.19 or later; %s)",
				 s->n, limits_text());
	io_uring_buf_ring_init(s->bufs);
	for (unsigned int i = 0; i < s->n; i++)
		multishot_give_back(f, s, i);
	return 0;
}

static int multishot_open(struct flow *f)
{
	struct multishot_rx *s = f->state;

	s->n = BUFS_MIN;
	while (s->n < BUFS_MAX && 2 * s->n * f->size <= POOL)
		s->n *= 2;
	if (uring_open(f, &s->ring, 1, 2 * s->n, 0))
		return -f->error;
	return multishot_register_buffers(f, s);
}

static int multishot_completed(struct flow *f, const struct io_uring_cqe *cqe)
{
	struct multishot_rx *s = f->state;
	unsigned int id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

	if (cqe->res > 0) {
		flow_take(f, s->mem + id * f->size, (size_t)cqe->res, &f->copied_bytes);
		flow_received(f, (size_t)cqe->res);
	}
	if (cqe->flags & IORING_CQE_F_BUFFER)
		multishot_give_back(f, s, id);
	if (!(cqe->flags & IORING_CQE_F_MORE)) { /* the request has ended */
		s->armed = false;
		/* With data, its completion found no room in the ring. */
		f->rearmed[REARM_RING_FULL] += cqe->res > 0;
		f->rearmed[REARM_NO_BUFFERS] += cqe->res == -ENOBUFS;
		f->rearmed[REARM_INTERRUPTED] += cqe->res == -EINTR;
	}
	if (cqe->res > 0 || cqe->res == -ENOBUFS || cqe->res == -EINTR)
		return STEP_ON;
	return cqe->res ? flow_fail(f, -cqe->res, "io_uring recv%s",
				    cqe->res == -EINVAL ? " (multishot: Linux 6.0 or later)" : "")
			: 0;
}

static int multishot_step(struct flow *f)
{
	struct multishot_rx *s = f->state;
	struct io_uring_sqe *sqe;

	if (!s->armed) {
		sqe = io_uring_get_sqe(&s->ring);
		io_uring_prep_recv_multishot(sqe, f->fd, NULL, 0, 0);
		sqe->flags |= IOSQE_BUFFER_SELECT;
		sqe->buf_group = GROUP;
		s->armed = true;
	}
	if (uring_await(f, &s->ring))
		return -f->error;
	return uring_collect(f, &s->ring, multishot_completed);
}

const struct mode rx_uring_multishot = {
	.name = "uring-multishot",
	.what = "io_uring multishot recv with a ring of provided buffers: copies",
	.needs = "Linux 6.0",
	.flags = MODE_RING,
	.hists = 1 << HIST_COMPLETIONS,
	.asks = ASKS_COPY,
	.state_size = sizeof(struct multishot_rx),
	.open = multishot_open,
	.step = multishot_step,
	.close = uring_close,
};
