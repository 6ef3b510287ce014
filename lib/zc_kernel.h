/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why the kernel refuses to receive without a copy, by errno, and what to do about it. From the
 * kernel's io_uring/zcrx.c, net/core/{devmem,netdev-genl,netdev_rx_queue}.c, 6.12 to 6.18.
 */
#ifndef ZC_ZC_KERNEL_H
#define ZC_ZC_KERNEL_H

#include "lib/genl.h"

#include <stddef.h>

struct refusal {
	int code; /* positive errno */
	const char *why, *todo;
};

/* Never NULL: an errno that is not known has a text that says so. */
const struct refusal *refusal_zcrx(int code);	   /* io_uring_register(ZCRX_IFQ) */
const struct refusal *refusal_devmem_rx(int code); /* netdev genetlink BIND_RX */
const struct refusal *refusal_devmem_tx(int code); /* netdev genetlink BIND_TX */
const struct refusal *refusal_udmabuf(int code);   /* /dev/udmabuf and its ioctl */

/* A dmabuf of host memory, made by /dev/udmabuf. A NIC can receive into it or send from it. */

/*
 * Returns the descriptor of a new dmabuf, or -errno, which refusal_udmabuf explains. Unless memory
 * is NULL, *memory becomes the memfd behind it: the same bytes, for mmap. The caller closes both.
 */
int udmabuf_make(size_t size, int *memory);

/*
 * Devmem TCP: the generic netlink family "netdev" binds a dmabuf to an interface of this network
 * namespace. A binding lasts as long as its socket. genl_close(g) ends it and must also be called
 * when these functions fail.
 */

/*
 * Makes receive queue `queue` of the interface receive into the dmabuf. Returns 0 and the number of
 * the binding in *id, which may be NULL; or -errno, which refusal_devmem_rx explains. g->said has
 * the kernel's own words.
 */
int netdev_bind_rx(struct genl *g, const char *nic, unsigned int queue, int dmabuf, uint32_t *id);
/* Lets the interface send from the dmabuf. Returns the same; refusal_devmem_tx explains -errno. */
int netdev_bind_tx(struct genl *g, const char *nic, int dmabuf, uint32_t *id);

#endif
