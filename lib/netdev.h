/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devmem TCP: the generic netlink family "netdev" binds a dmabuf to an interface of this network
 * namespace. A binding lasts as long as its socket. genl_close(g) ends it and must also be called
 * when these functions fail.
 */
#ifndef ZC_NETDEV_H
#define ZC_NETDEV_H

#include "lib/genl.h"

/*
 * Makes receive queue `queue` of the interface receive into the dmabuf. Returns 0 and the number of
 * the binding in *id, which may be NULL; or -errno, which refusal_devmem_rx explains. g->said has
 * the kernel's own words.
 */
int netdev_bind_rx(struct genl *g, const char *nic, unsigned int queue, int dmabuf, uint32_t *id);
/* Lets the interface send from the dmabuf. Returns the same; refusal_devmem_tx explains -errno. */
int netdev_bind_tx(struct genl *g, const char *nic, int dmabuf, uint32_t *id);

#endif
