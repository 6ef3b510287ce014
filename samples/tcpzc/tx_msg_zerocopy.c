// SPDX-License-Identifier: GPL-2.0-only
/* send(2) with MSG_ZEROCOPY: the kernel pins our pages until it has notified us. */
#include "zerocopy_tx.h"

#include <errno.h>
#include <stdlib.h>

static ssize_t msg_zerocopy_send(struct flow *f, char *p, size_t n, int flags)
{
	return CALL(f, SENDTO, send(f->fd, p, n, flags));
}

static int msg_zerocopy_open(struct flow *f)
{
	f->state = calloc(1, sizeof(struct zerocopy_tx));
	if (!f->state)
		return flow_fail(f, ENOMEM, "memory");
	return zerocopy_tx_open(f, f->state, msg_zerocopy_send);
}

static int msg_zerocopy_step(struct flow *f)
{
	return zerocopy_tx_step(f, f->state);
}

static int msg_zerocopy_drain(struct flow *f)
{
	return zerocopy_tx_drain(f, f->state);
}

static void msg_zerocopy_close(struct flow *f)
{
	if (f->state)
		zerocopy_tx_close(f, f->state);
	free(f->state);
}

const struct mode tx_msg_zerocopy = {
	.name = "msg-zerocopy",
	.what = "send(2) with MSG_ZEROCOPY, notifications from the error queue",
	.flags = MODE_UDP,
	.hists = 1 << HIST_NOTIFY_NS | 1 << HIST_BATCH,
	.asks = ASKS_ZERO_COPY,
	.open = msg_zerocopy_open,
	.attach = zerocopy_tx_attach,
	.step = msg_zerocopy_step,
	.drain = msg_zerocopy_drain,
	.close = msg_zerocopy_close,
};
