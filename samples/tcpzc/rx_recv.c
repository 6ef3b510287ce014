// SPDX-License-Identifier: GPL-2.0-only
/* The baseline: recv(2) into one buffer. The kernel copies each byte. */
#include "memory.h"

#include <errno.h>
#include <sys/socket.h>

static int recv_open(struct flow *f)
{
	f->state = memory_get(f, f->size);
	return f->state ? 0 : -f->error;
}

static int recv_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, f->state, f->size, flow_dontwait(f)));

	if (n < 0)
		return errno == EAGAIN	? STEP_WAIT
		       : errno == EINTR ? STEP_ON
					: flow_fail(f, errno, "recv");
	if (!n)
		return STEP_END;
	flow_take(f, f->state, (size_t)n, false);
	flow_received(f, (size_t)n);
	return STEP_ON;
}

static void recv_close(struct flow *f)
{
	memory_put(f, f->state, f->size);
}

const struct mode rx_recv = {
	.name = "recv",
	.what = "recv(2), which copies: the baseline",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.open = recv_open,
	.step = recv_step,
	.close = recv_close,
};
