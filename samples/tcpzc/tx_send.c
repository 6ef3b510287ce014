// SPDX-License-Identifier: GPL-2.0-only
/* The baseline: send(2) of one buffer, over and over. The kernel copies each time. */
#include "memory.h"

#include <errno.h>
#include <sys/socket.h>

static int send_open(struct flow *f)
{
	f->state = memory_get(f, f->size);
	return f->state ? 0 : -f->error;
}

static int send_step(struct flow *f)
{
	size_t n = flow_message(f, f->bytes);
	ssize_t sent;

	flow_fill(f, f->state, f->bytes, n);
	sent = CALL(f, SENDTO, send(f->fd, f->state, n, MSG_NOSIGNAL | flow_dontwait(f)));
	if (sent < 0)
		return errno == EAGAIN	? STEP_WAIT
		       : errno == EINTR ? STEP_ON
					: flow_fail(f, errno, "send");
	f->sends_copied++;
	flow_sent(f, (size_t)sent);
	return STEP_ON;
}

static void send_close(struct flow *f)
{
	memory_put(f, f->state, f->size);
}

const struct mode tx_send = {
	.name = "send",
	.what = "send(2), which copies: the baseline",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.open = send_open,
	.step = send_step,
	.close = send_close,
};
