// SPDX-License-Identifier: GPL-2.0-only
#include "lib/netdev.h"

#include "lib/zc_uapi.h"

static int take_id(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, ZC_NETDEV_A_DMABUF_ID);

	if (a && arg)
		*(uint32_t *)arg = genl_u32(a);
	return 0;
}

static int begin(struct genl *g, uint8_t cmd, unsigned int ifindex, int dmabuf)
{
	int rc = genl_open(g, "netdev", NULL);

	if (rc)
		return rc;
	genl_begin(g, cmd, 0);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_IFINDEX, ifindex);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_FD, (uint32_t)dmabuf);
	return 0;
}

int netdev_bind_rx(struct genl *g, unsigned int ifindex, unsigned int queue, int dmabuf,
		   uint32_t *id)
{
	int rc = begin(g, ZC_NETDEV_CMD_BIND_RX, ifindex, dmabuf);
	size_t nest;

	if (rc)
		return rc;
	nest = genl_nest(g, ZC_NETDEV_A_DMABUF_QUEUES);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_ID, queue);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_TYPE, ZC_NETDEV_QUEUE_TYPE_RX);
	genl_nest_end(g, nest);
	return genl_ask(g, take_id, id, NULL);
}

int netdev_bind_tx(struct genl *g, unsigned int ifindex, int dmabuf, uint32_t *id)
{
	int rc = begin(g, ZC_NETDEV_CMD_BIND_TX, ifindex, dmabuf);

	return rc ? rc : genl_ask(g, take_id, id, NULL);
}
