/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects that the generic netlink family "netdev" lists, with the names that the kernel's
 * documentation gives their attributes (Documentation/netlink/specs/netdev.yaml of Linux 6.18). A
 * newer kernel may add attributes at the end. The numbers of the requests that change something are
 * in lib/zc_uapi.h.
 */
#ifndef ZC_NETDEV_H
#define ZC_NETDEV_H

#include "lib/genl.h"
#include "lib/str.h"

enum netdev_list {
	NETDEV_NAPIS,
	NETDEV_QUEUES,
	NETDEV_POOLS,
	NETDEV_POOL_STATS,
	NETDEV_QSTATS,
	NETDEV_LISTS
};

enum { NETDEV_ATTRS = 36 };

struct netdev_object {
	const char *name;
	uint8_t get;			/* the request that lists all of them */
	const char *attr[NETDEV_ATTRS]; /* by number; NULL: no such attribute */
};

extern const struct netdev_object netdev_objects[NETDEV_LISTS];

/* Returns the name of an attribute of the object, or NULL. */
const char *netdev_attr_name(const struct netdev_object *of, const struct nlattr *a);

/*
 * Adds a line "queue<tab>id=0<tab>ifindex=2..." for each object of the list. An attribute without a
 * number, such as io-uring, is 1, and what is nested in `info` follows it. A list that changed
 * while it was read is read again. Returns 0 or -errno: -EOPNOTSUPP where the kernel has no such
 * list.
 */
int netdev_print_list(struct genl *g, enum netdev_list list, struct str *text);

#endif
