// SPDX-License-Identifier: GPL-2.0-only
/* io_uring's send: it copies as send(2) does, but makes far fewer system calls. */
#include "uring.h"

#include <sys/socket.h>

static void uring_send_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf, size_t n)
{
	io_uring_prep_send(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL);
}

static int uring_send_open(struct flow *f)
{
	return uring_tx_open(f, uring_send_prepare);
}

static int uring_send_step(struct flow *f)
{
	int rc = uring_tx_step(f);

	f->sends_copied = f->sends;
	return rc;
}

static int uring_send_drain(struct flow *f)
{
	int rc = uring_tx_drain(f);

	f->sends_copied = f->sends;
	return rc;
}

const struct mode tx_uring_send = {
	.name = "uring-send",
	.what = "io_uring send: copies, many messages per system call",
	.flags = MODE_UDP | MODE_RING,
	.hists = 1 << HIST_COMPLETIONS,
	.asks = ASKS_COPY,
	.options = {"batch"},
	.open = uring_send_open,
	.step = uring_send_step,
	.drain = uring_send_drain,
	.close = uring_tx_close,
};
