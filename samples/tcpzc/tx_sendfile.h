/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending with sendfile(2) from a memfd, shared by two modes. The file is sent over and over. Its
 * length is a multiple of the page size and at least 4 MiB, so that packets carry whole pages.
 * With --verify each round has other contents. Pages may still be in flight or mapped by the
 * receiver, so the file is truncated to nothing and rewritten, which gives it new pages.
 */
#ifndef TCPZC_TX_SENDFILE_H
#define TCPZC_TX_SENDFILE_H

#include "tcpzc.h"

struct sendfile_tx {
	int fd;
	bool copies; /* each send copies once */
	size_t length;
	char *buf; /* one round */
};

/* Sets f->state. The mode may replace the fd by another one of the same file. */
int sendfile_tx_open(struct flow *f);
int sendfile_tx_step(struct flow *f);
void sendfile_tx_close(struct flow *f);

#endif
