// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plain calls with one buffer, the baseline: the kernel copies each byte. send(2) sends it over and
 * over. Programs use recvmsg(2) when they also want timestamps or tokens. With MSG_TRUNC, TCP drops
 * the data unread: no program can receive like this, but the mode shows the most that a receiver
 * could reach if copies cost nothing.
 */
#include "tcpzc.h"

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

/* Counts what a call returned, and takes its bytes, which lie in the flow's buffer. */
static int copy_received(struct flow *f, ssize_t n, const char *call)
{
	if (n < 0)
		return flow_call_failed(f, call);
	if (!n)
		return STEP_END;
	if (f->mode->flags & MODE_NO_DATA) {
		f->dropped_bytes += (size_t)n;
		flow_count_bytes(f, (size_t)n);
	} else {
		flow_take(f, f->state, (size_t)n, &f->copied_bytes);
	}
	flow_received(f, (size_t)n);
	return STEP_ON;
}

static int recv_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, f->state, f->size, flow_dontwait(f)));

	return copy_received(f, n, "recv");
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

	return copy_received(f, n, "recvmsg");
}

static int trunc_step(struct flow *f)
{
	ssize_t n = CALL(f, RECVFROM, recv(f->fd, NULL, f->size, MSG_TRUNC | flow_dontwait(f)));

	return copy_received(f, n, "recv with MSG_TRUNC");
}

const struct mode rx_recv = {
	.name = "recv",
	.what = "recv(2), which copies: the baseline",
	.asks = ASKS_COPY,
	.step = recv_step,
};

const struct mode rx_recvmsg = {
	.name = "recvmsg",
	.what = "recvmsg(2), which copies",
	.asks = ASKS_COPY,
	.step = recvmsg_step,
};

const struct mode rx_trunc = {
	.name = "trunc",
	.what = "recv with MSG_TRUNC: drops the bytes; an upper bound, not zero copy",
	.flags = MODE_NO_DATA,
	.asks = ASKS_COPY,
	.step = trunc_step,
};
