// SPDX-License-Identifier: GPL-2.0-only
/*
 * recv(2) with MSG_TRUNC: TCP drops the data unread. A program cannot receive like this. The mode
 * shows the most that a receiver could reach if copies cost nothing.
 */
#include "tcpzc.h"

#include <sys/socket.h>

static int trunc_open(struct flow *f)
{
	(void)f;
	return 0;
}

static int trunc_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, NULL, f->size, MSG_TRUNC | flow_dontwait(f)));

	if (n < 0)
		return flow_call_failed(f, "recv with MSG_TRUNC");
	if (!n)
		return STEP_END;
	flow_drop(f, (size_t)n);
	flow_received(f, (size_t)n);
	return STEP_ON;
}

static void trunc_close(struct flow *f)
{
	(void)f;
}

const struct mode rx_trunc = {
	.name = "trunc",
	.what = "recv with MSG_TRUNC: drops the bytes; an upper bound, not zero copy",
	.flags = MODE_NO_DATA,
	.asks = ASKS_COPY,
	.open = trunc_open,
	.step = trunc_step,
	.close = trunc_close,
};
