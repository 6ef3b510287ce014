// SPDX-License-Identifier: GPL-2.0-only
/* The baseline: recv(2) into one buffer. The kernel copies each byte. */
#include "tcpzc.h"

#include <errno.h>
#include <sys/socket.h>

static int recv_open(struct flow *f)
{
	f->state = memory_get(f, f->opt->size);
	return f->state ? 0 : -f->error;
}

static int recv_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, f->state, f->opt->size, 0));

	if (n < 0)
		return errno == EINTR ? 1 : flow_fail(f, errno, "recv");
	if (!n)
		return 0;
	flow_take(f, f->state, (size_t)n, false);
	flow_received(f, (size_t)n);
	return 1;
}

static void recv_close(struct flow *f)
{
	memory_put(f->state, f->opt->size);
}

const struct mode rx_recv = {
	.name = "recv",
	.what = "recv(2), which copies: the baseline",
	.open = recv_open,
	.step = recv_step,
	.close = recv_close,
};
