/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devmem TCP: a dmabuf and an interface are bound by the generic netlink family "netdev". A binding
 * lasts as long as its socket: genl_close(g) ends it, and is due also when these fail.
 */
#ifndef ZC_NETDEV_H
#define ZC_NETDEV_H

#include "lib/genl.h"

/*
 * What comes by receive queue `queue` of the interface goes into the dmabuf. 0 and *id, which may
 * be NULL, the binding's number; or -errno (refusal_devmem_rx explains it; g->said, the kernel's
 * own words).
 */
int netdev_bind_rx(struct genl *g, unsigned int ifindex, unsigned int queue, int dmabuf,
		   uint32_t *id);
/* What is in the dmabuf can be sent by the interface; likewise, refusal_devmem_tx. */
int netdev_bind_tx(struct genl *g, unsigned int ifindex, int dmabuf, uint32_t *id);

#endif
