// SPDX-License-Identifier: GPL-2.0-only
/* io_uring's recv with one request for each receive. The kernel copies into one buffer. */
#include "uring.h"

#include <errno.h>
#include <stdlib.h>

struct uring_rx {
	struct io_uring ring;
	char *buf;
	bool armed;
};

static int uring_recv_open(struct flow *f)
{
	struct uring_rx *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->buf = memory_get(f, f->size);
	if (!s->buf)
		return -f->error;
	return uring_open(f, &s->ring, 1, 8);
}

static int uring_recv_received(struct flow *f, struct uring_rx *s, int res)
{
	s->armed = false;
	if (res > 0) {
		flow_take(f, s->buf, (size_t)res, false);
		flow_received(f, (size_t)res);
		return STEP_ON;
	}
	if (res == -EINTR || res == -EAGAIN)
		return STEP_ON;
	return res ? flow_fail(f, -res, "io_uring recv") : STEP_END;
}

static int uring_recv_step(struct flow *f)
{
	struct uring_rx *s = f->state;
	struct io_uring_cqe *cqe;
	int res;

	if (!s->armed) {
		io_uring_prep_recv(io_uring_get_sqe(&s->ring), f->fd, s->buf, f->size, 0);
		s->armed = true;
	}
	if ((io_uring_sq_ready(&s->ring) || !io_uring_cq_ready(&s->ring)) &&
	    uring_enter(f, &s->ring, 1))
		return -f->error;
	if (io_uring_peek_cqe(&s->ring, &cqe))
		return uring_later(f);
	res = cqe->res;
	io_uring_cqe_seen(&s->ring, cqe);
	return uring_recv_received(f, s, res);
}

static void uring_recv_close(struct flow *f)
{
	struct uring_rx *s = f->state;

	if (!s)
		return;
	uring_close(f, &s->ring);
	memory_put(f, s->buf, f->size);
	free(s);
}

const struct mode rx_uring_recv = {
	.name = "uring-recv",
	.what = "io_uring recv, a request for each receive: copies",
	.flags = MODE_RING | MODE_UDP,
	.asks = ASKS_COPY,
	.open = uring_recv_open,
	.step = uring_recv_step,
	.close = uring_recv_close,
};
