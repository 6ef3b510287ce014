// SPDX-License-Identifier: GPL-2.0-only
/*
 * recvmsg(2) into one buffer with room for control messages. Programs receive like this when they
 * also want timestamps or tokens. The kernel copies each byte.
 */
#include "memory.h"

#include <errno.h>
#include <sys/socket.h>

static int recvmsg_open(struct flow *f)
{
	f->state = memory_get(f, f->size);
	return f->state ? 0 : -f->error;
}

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
		return errno == EAGAIN	? STEP_WAIT
		       : errno == EINTR ? STEP_ON
					: flow_fail(f, errno, "recvmsg");
	if (!n)
		return STEP_END;
	flow_take(f, f->state, (size_t)n, false);
	flow_received(f, (size_t)n);
	return STEP_ON;
}

static void recvmsg_close(struct flow *f)
{
	memory_put(f, f->state, f->size);
}

const struct mode rx_recvmsg = {
	.name = "recvmsg",
	.what = "recvmsg(2), which copies",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.open = recvmsg_open,
	.step = recvmsg_step,
	.close = recvmsg_close,
};
