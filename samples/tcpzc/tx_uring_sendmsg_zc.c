// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's zero-copy sendmsg from registered buffers. With --plain-buffers, and on Linux before
 * 6.15, it sends from plain buffers, which the kernel pins for each send.
 */
#include "lib/zc_uapi.h"
#include "uring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static void uring_sendmsg_zc_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf,
				     size_t n)
{
	struct uring_tx *u = f->state;
	struct uring_msg *m = &u->msgs[((const char *)buf - u->slots.mem) / (ssize_t)u->slots.size];

	m->iov = (struct iovec){(void *)(uintptr_t)buf, n};
	m->msg = (struct msghdr){.msg_iov = &m->iov, .msg_iovlen = 1};
	io_uring_prep_sendmsg_zc(sqe, f->fd, &m->msg, MSG_WAITALL | MSG_NOSIGNAL);
	sqe->ioprio = u->usage ? ZC_IORING_SEND_ZC_REPORT_USAGE : 0;
	if (f->buffers == BUFFERS_PLAIN)
		return;
	sqe->ioprio |= ZC_IORING_RECVSEND_FIXED_BUF;
	sqe->buf_index = 0;
}

static int uring_sendmsg_zc_open(struct flow *f)
{
	struct uring_tx *u;

	if (uring_tx_open(f, uring_sendmsg_zc_prepare))
		return -f->error;
	u = f->state;
	u->usage = true;
	u->msgs = calloc(u->slots.n, sizeof(*u->msgs));
	if (!u->msgs)
		return flow_fail(f, ENOMEM, "memory");
	u->may_be_plain = true;
	return uring_tx_register(f, u);
}

const struct mode tx_uring_sendmsg_zc = {
	.name = "uring-sendmsg-zc",
	.what = "io_uring zero-copy sendmsg from registered buffers, with notifications",
	.needs = "Linux 6.1; 6.2 says what was copied; plain buffers before 6.15",
	.flags = MODE_UDP | MODE_RING,
	.hists = 1 << HIST_COMPLETIONS | 1 << HIST_NOTIFY_NS,
	.asks = ASKS_ZERO_COPY,
	.options = {"batch", "plain-buffers"},
	.open = uring_sendmsg_zc_open,
	.step = uring_tx_step,
	.drain = uring_tx_drain,
	.close = uring_tx_close,
};
