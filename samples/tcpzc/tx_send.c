// SPDX-License-Identifier: GPL-2.0-only
/* The baseline: send(2) of one buffer, over and over. The kernel copies each time. */
#include "memory.h"

#include <sys/socket.h>

static int send_step(struct flow *f)
{
	size_t n = flow_message(f, f->bytes);
	ssize_t sent;

	flow_fill(f, f->state, f->bytes, n);
	sent = CALL(f, SENDTO, send(f->fd, f->state, n, MSG_NOSIGNAL | flow_dontwait(f)));
	if (sent < 0)
		return flow_call_failed(f, "send");
	f->sends_copied++;
	flow_sent(f, (size_t)sent);
	return STEP_ON;
}

const struct mode tx_send = {
	.name = "send",
	.what = "send(2), which copies: the baseline",
	.flags = MODE_UDP,
	.asks = ASKS_COPY,
	.step = send_step,
};
