// SPDX-License-Identifier: GPL-2.0-only
/* The baseline: recv(2) into one buffer. The kernel copies each byte. */
#include "memory.h"

#include <sys/socket.h>

static int recv_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, f->state, f->size, flow_dontwait(f)));

	if (n < 0)
		return flow_call_failed(f, "recv");
	if (!n)
		return STEP_END;
	flow_take(f, f->state, (size_t)n, false);
	flow_received(f, (size_t)n);
	return STEP_ON;
}

const struct mode rx_recv = {
	.name = "recv",
	.what = "recv(2), which copies: the baseline",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.open = buffer_open,
	.step = recv_step,
	.close = buffer_close,
};
