/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending by sendfile(2) from a memfd, shared by its modes. The file is sent round and round. Its
 * length is a multiple of the page size and of at least 4 MiB, so that pages stay whole in packets
 * of whole pages. With --verify each round has contents of its own: pages may still be under way
 * or mapped by the receiver, so that the file is cut to nothing and written anew, which gives it
 * new pages.
 */
#ifndef TCPZC_SENDFILE_TX_H
#define TCPZC_SENDFILE_TX_H

#include "tcpzc.h"

struct sendfile_tx {
	int fd;
	bool copies; /* once, each send */
	size_t length;
	char *buf; /* one round */
};

/* Sets f->state; the mode may put another file in place of its fd. */
int sendfile_tx_open(struct flow *f);
int sendfile_tx_step(struct flow *f);
void sendfile_tx_close(struct flow *f);

#endif
