// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendfile(2) from a memfd: the file's own pages go into the packets. Since Linux 6.8 a receiver by
 * TCP_ZEROCOPY_RECEIVE maps no page that belongs to a file. A page that is cut off its file while
 * it is under way belongs to none, and is mapped: so with --verify, and so of the last few MiB if
 * the file were closed before the receiver has read them.
 *
 * The kernel does not report what became of shared pages on their way: sends count as unknown.
 */
#include "sendfile_tx.h"

const struct mode tx_sendfile = {
	.name = "sendfile",
	.what = "sendfile(2) from a memfd: shared pages, not mapped since Linux 6.8 while they are "
		"the file's (--verify cuts them off)",
	.flags = MODE_NONBLOCK,
	.open = sendfile_tx_open,
	.step = sendfile_tx_step,
	.close = sendfile_tx_close,
};
