/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending with MSG_ZEROCOPY, shared by two modes. The kernel reports on the socket's error queue
 * when it no longer needs our memory, and whether it had to copy.
 */
#ifndef TCPZC_TX_MSG_ZEROCOPY_H
#define TCPZC_TX_MSG_ZEROCOPY_H

#include "memory.h"

enum { ZEROCOPY_IDS = 1 << 13 }; /* calls in flight at most */

struct zerocopy_tx {
	struct slots slots;
	/* Sends `n` bytes of a slot and counts the call. It returns what send(2) returns. */
	ssize_t (*send)(struct flow *f, char *p, size_t n, int flags);
	uint32_t next_id;
	struct limits limits;
	unsigned int alone_retries; /* refusals in a row while nothing of ours was in flight */
	bool waited; /* for the error queue, since the queue last had a notification */
	struct zerocopy_send {
		uint64_t handed_ns;
		unsigned int slot;
	} sends[ZEROCOPY_IDS]; /* by the call's number */
};

int zerocopy_tx_open(struct flow *f, struct zerocopy_tx *z,
		     ssize_t (*send)(struct flow *, char *, size_t, int));
int zerocopy_tx_attach(struct flow *f);
int zerocopy_tx_step(struct flow *f, struct zerocopy_tx *z);
int zerocopy_tx_drain(struct flow *f, struct zerocopy_tx *z);
void zerocopy_tx_close(struct flow *f, struct zerocopy_tx *z);

#endif
