// SPDX-License-Identifier: GPL-2.0-only
#include "lib/netdev.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <net/if.h>

static int netdev_read_id(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, ZC_NETDEV_A_DMABUF_ID);

	if (a && arg)
		*(uint32_t *)arg = genl_u32(a);
	return 0;
}

/* Begins a request. Returns -ENODEV, with g closed, when there is no such interface. */
static int netdev_begin(struct genl *g, uint8_t cmd, const char *nic, int dmabuf)
{
	unsigned int ifindex = if_nametoindex(nic);
	int rc;

	*g = (struct genl){.fd = -1};
	if (!ifindex)
		return -ENODEV;
	rc = genl_open(g, "netdev", NULL);
	if (rc)
		return rc;
	genl_begin(g, cmd, 0);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_IFINDEX, ifindex);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_FD, (uint32_t)dmabuf);
	return 0;
}

int netdev_bind_rx(struct genl *g, const char *nic, unsigned int queue, int dmabuf, uint32_t *id)
{
	int rc = netdev_begin(g, ZC_NETDEV_CMD_BIND_RX, nic, dmabuf);
	size_t nest;

	if (rc)
		return rc;
	nest = genl_nest(g, ZC_NETDEV_A_DMABUF_QUEUES);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_ID, queue);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_TYPE, ZC_NETDEV_QUEUE_TYPE_RX);
	genl_nest_end(g, nest);
	return genl_ask(g, netdev_read_id, id, NULL);
}

int netdev_bind_tx(struct genl *g, const char *nic, int dmabuf, uint32_t *id)
{
	int rc = netdev_begin(g, ZC_NETDEV_CMD_BIND_TX, nic, dmabuf);

	return rc ? rc : genl_ask(g, netdev_read_id, id, NULL);
}
