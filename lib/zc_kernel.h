/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Zero-copy requests to the kernel: make a dmabuf, bind it to an interface, and explain a refusal.
 * The explanations follow io_uring/zcrx.c and net/core/{devmem,netdev-genl,netdev_rx_queue}.c of
 * Linux 6.12 to 6.18.
 */
#ifndef ZC_KERNEL_H
#define ZC_KERNEL_H

#include "lib/genl.h"

struct refusal {
	int code; /* positive errno */
	const char *why, *todo;
};

enum zc_request {
	ZC_ZCRX = 1 << 0,    /* io_uring_register(ZCRX_IFQ) */
	ZC_BIND_RX = 1 << 1, /* netdev genetlink BIND_RX */
	ZC_BIND_TX = 1 << 2, /* netdev genetlink BIND_TX */
	ZC_UDMABUF = 1 << 3, /* /dev/udmabuf and its ioctl */
};

/*
 * Returns the explanation of an errno, never NULL. The text for an unknown errno says that it is
 * unknown.
 */
const struct refusal *refusal_find(enum zc_request request, int code);

/*
 * Makes a dmabuf of host memory with /dev/udmabuf. A NIC can receive into it or send from it.
 * Returns its descriptor, or -errno, which refusal_find() explains. Unless memory is NULL,
 * *memory becomes the memfd behind the dmabuf, for mmap(). The caller closes both.
 */
int udmabuf_make(size_t size, int *memory);

/*
 * Devmem TCP. These functions bind a dmabuf to an interface of this network namespace. The binding
 * lasts until genl_close(g), which the caller must also call if these functions fail.
 * netdev_bind_rx() makes the receive queue `queue` of the interface receive into the dmabuf. On
 * success it returns 0 and the binding's number in *id, which may be NULL. On failure it returns
 * -errno, which refusal_find() explains, and g->said contains the kernel's message.
 */
int netdev_bind_rx(struct genl *g, const char *nic, unsigned int queue, int dmabuf, uint32_t *id);
/*
 * Lets the interface send from the dmabuf. Returns 0 or -errno, which refusal_find()
 * explains.
 */
int netdev_bind_tx(struct genl *g, const char *nic, int dmabuf, uint32_t *id);

#endif
