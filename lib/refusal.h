/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why the kernel refuses to receive without a copy, by errno, and what to do about it. From the
 * kernel's io_uring/zcrx.c, net/core/{devmem,netdev-genl,netdev_rx_queue}.c, 6.12 to 6.18.
 */
#ifndef ZC_REFUSAL_H
#define ZC_REFUSAL_H

struct refusal {
	int code; /* positive errno */
	const char *why, *todo;
};

/* Never NULL: an errno that is not known has a text that says so. */
const struct refusal *refusal_zcrx(int code);	   /* io_uring_register(ZCRX_IFQ) */
const struct refusal *refusal_devmem_rx(int code); /* netdev genetlink BIND_RX */
const struct refusal *refusal_devmem_tx(int code); /* netdev genetlink BIND_TX */
const struct refusal *refusal_udmabuf(int code);   /* /dev/udmabuf and its ioctl */

#endif
