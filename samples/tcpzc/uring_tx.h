/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending by io_uring, shared by its modes. Messages go out in chains of linked requests with
 * MSG_WAITALL: the kernel starts one when the one before is sent whole, which keeps the stream in
 * order, and one io_uring_enter hands a chain over and waits for it. When a send ends short
 * (an error, a stop) the kernel cancels the rest of the chain, and the next chain goes on from
 * what was sent.
 */
#ifndef TCPZC_URING_TX_H
#define TCPZC_URING_TX_H

#include "slots.h"
#include "uring.h"

struct uring_tx {
	struct io_uring ring;
	struct slots slots;
	/* Fills the request that sends `n` bytes of a slot; flags and user_data are ours. */
	void (*prepare)(struct flow *f, struct io_uring_sqe *sqe, const void *buf, size_t n);
	unsigned int chain; /* requests of the present chain without a completion */
	bool usage;	    /* notifications say whether data was copied */
	bool may_be_plain;  /* registered buffers are newer than the mode: do without */
	bool starved;	    /* nothing is sent before a notification */
	/* Of sendmsg, one for each slot: they must live as long as its request. */
	struct uring_msg {
		struct msghdr msg;
		struct iovec iov;
	} * msgs;
	bool cancelled;
	int cancels; /* cancel requests without a completion */
};

int uring_tx_open(struct flow *f,
		  void (*prepare)(struct flow *, struct io_uring_sqe *, const void *, size_t));
/* The slots as buffer 0 of the ring, unless with --plain-buffers; sets f->buffers. */
int uring_tx_register(struct flow *f, struct uring_tx *u);
int uring_tx_step(struct flow *f);
int uring_tx_drain(struct flow *f);
void uring_tx_close(struct flow *f);

#endif
