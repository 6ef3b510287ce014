// SPDX-License-Identifier: GPL-2.0-only
/*
 * sendfile(2) from a memfd with O_DIRECT: the kernel copies into new pages, which go into the
 * packets. That is one copy, as in send(2), but into whole pages that belong to no file. A receiver
 * with TCP_ZEROCOPY_RECEIVE maps them.
 */
#include "tx_sendfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Opens the file again with O_DIRECT, which memfd_create and F_SETFL do not offer. */
static int sendfile_direct_open(struct flow *f)
{
	struct sendfile_tx *s;
	char path[64];
	int fd;

	if (sendfile_tx_open(f))
		return -f->error;
	s = f->state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return flow_fail(f, errno,
				 "cannot open a memfd with O_DIRECT (Linux 6.6 or later)");
	close(s->fd);
	s->fd = fd;
	s->copies = true;
	return 0;
}

const struct mode tx_sendfile_direct = {
	.name = "sendfile-direct",
	.what = "sendfile(2) from a memfd with O_DIRECT: copies once, into mappable pages",
	.needs = "Linux 6.6",
	.flags = MODE_NONBLOCK,
	.open = sendfile_direct_open,
	.step = sendfile_tx_step,
	.close = sendfile_tx_close,
};
