/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending with MSG_ZEROCOPY, shared by its modes: the kernel reports on the socket's error queue
 * when it is done with our memory, and whether it had to copy after all.
 */
#ifndef TCPZC_ZEROCOPY_TX_H
#define TCPZC_ZEROCOPY_TX_H

#include "limits.h"
#include "slots.h"

enum { ZEROCOPY_IDS = 1 << 13 }; /* calls in flight at most */

struct zerocopy_tx {
	struct slots slots;
	/* Hands `n` bytes of a slot to the kernel, and counts the call: as send(2). */
	ssize_t (*hand)(struct flow *f, char *p, size_t n, int flags);
	uint32_t next_id;
	struct limits limits;
	unsigned int
		alone_retries; /* refused with nothing of ours in flight, one after the other */
	bool waited;	       /* for the error queue, since it last had something */
	struct sent {
		uint64_t handed_ns;
		unsigned int slot;
	} sends[ZEROCOPY_IDS]; /* by the call's number */
};

int zerocopy_tx_open(struct flow *f, struct zerocopy_tx *z,
		     ssize_t (*hand)(struct flow *, char *, size_t, int));
int zerocopy_tx_attach(struct flow *f);
int zerocopy_tx_step(struct flow *f, struct zerocopy_tx *z);
int zerocopy_tx_drain(struct flow *f, struct zerocopy_tx *z);
void zerocopy_tx_close(struct flow *f, struct zerocopy_tx *z);

#endif
