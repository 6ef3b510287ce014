// SPDX-License-Identifier: GPL-2.0-only
/*
 * recvmsg(2) into one buffer with room for control messages. Programs receive like this when they
 * also want timestamps or tokens. The kernel copies each byte.
 */
#include "memory.h"

#include <sys/socket.h>

static int recvmsg_step(struct flow *f)
{
	char control[256];
	struct iovec iov = {f->state, f->size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = CALL(f, RECVMSG, recvmsg(f->fd, &msg, flow_dontwait(f)));

	if (n < 0)
		return flow_call_failed(f, "recvmsg");
	if (!n)
		return STEP_END;
	flow_take(f, f->state, (size_t)n, false);
	flow_received(f, (size_t)n);
	return STEP_ON;
}

const struct mode rx_recvmsg = {
	.name = "recvmsg",
	.what = "recvmsg(2), which copies",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.open = buffer_open,
	.step = recvmsg_step,
	.close = buffer_close,
};
