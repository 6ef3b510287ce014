// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's zero-copy send from registered buffers, or from others with --plain-buffers. Each send
 * completes twice: once when it is accepted, and once (the notification) when the memory is ours
 * again. With REPORT_USAGE the notification says whether the kernel copied. Linux before 6.2 does
 * not report that, and sends count as unknown.
 */
#include "lib/zc_uapi.h"
#include "uring.h"

#include <errno.h>
#include <sys/socket.h>

static void uring_send_zc_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf,
				  size_t n)
{
	struct uring_tx *u = f->state;
	unsigned int report = u->usage ? ZC_IORING_SEND_ZC_REPORT_USAGE : 0;

	if (f->buffers == BUFFERS_PLAIN)
		io_uring_prep_send_zc(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL, report);
	else
		io_uring_prep_send_zc_fixed(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL, report,
					    0);
}

static int uring_send_zc_open(struct flow *f)
{
	struct uring_tx *u;

	if (uring_tx_open(f, uring_send_zc_prepare))
		return -f->error;
	u = f->state;
	u->usage = true;
	return uring_tx_register(f, u);
}

const struct mode tx_uring_send_zc = {
	.name = "uring-send-zc",
	.what = "io_uring zero-copy send from registered buffers, with notifications",
	.needs = "Linux 6.0; 6.2 says what was copied",
	.flags = MODE_UDP | MODE_RING,
	.hists = 1 << HIST_COMPLETIONS | 1 << HIST_NOTIFY_NS,
	.asks = ASKS_ZERO_COPY,
	.options = {"batch", "plain-buffers"},
	.open = uring_send_zc_open,
	.step = uring_tx_step,
	.drain = uring_tx_drain,
	.close = uring_tx_close,
};
