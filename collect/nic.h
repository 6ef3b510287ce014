/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces of one network namespace: their counters, read again and again, and how they are
 * set up. nic.c has the counters of all interfaces, by rtnetlink, and of their queues, by the
 * netdev family of generic netlink. nic_ethtool.c has the driver's counters and the set-up.
 *
 * A reading is text: a line "v<tab>SPACE<tab>IFINDEX<tab>NAME<tab>GROUP<tab>value..." for each
 * group of counters. A line with "n" and the names stands before the first one, and again whenever
 * the names change.
 */
#ifndef ZC_NIC_H
#define ZC_NIC_H

#include "lib/genl.h"
#include "lib/hash.h"
#include "lib/str.h"

#include <net/if.h>

struct nic_port {
	int index;
	char name[IFNAMSIZ];
	unsigned int flags; /* IFF_UP ...; 0: the interface is gone */
	unsigned int n;	    /* number of the driver's counters */
	char *names;	    /* names of the counters, a tab before each */
	bool asked;	    /* the driver was asked for the names */
};

struct nic_space {
	const char *name;	     /* "host", "workload" */
	int inet;		     /* a socket for ioctl; below 0: the space is not open */
	struct genl links;	     /* rtnetlink: all interfaces, their counters */
	struct genl netdev, ethtool; /* fd below 0: the kernel has no such family */
	struct nic_port *port;
	size_t nports, cap;
	struct map said; /* hash of the names that were written; the key is an interface's group */
};

/* Opens the namespace that we are in now. Returns 0 or -errno. */
int nic_space_open(struct nic_space *s, const char *name, struct error *err);
void nic_space_close(struct nic_space *s);

/*
 * Objects that the kernel's family "netdev" lists (queues.c). `attr` has the names of attributes by
 * number, as in Documentation/netlink/specs/netdev.yaml of Linux 6.18.
 */
enum netdev_list { NETDEV_NAPI, NETDEV_QUEUE, NETDEV_POOL, NETDEV_POOL_STATS, NETDEV_QSTATS };
enum { NETDEV_ATTRS = 36 };
extern const struct netdev_object {
	const char *name;
	uint8_t get; /* the request that lists all of them */
	const char *attr[NETDEV_ATTRS];
} netdev_objects[NETDEV_QSTATS + 1];

/* Returns the name of the attribute, or NULL. */
const char *netdev_attr_name(enum netdev_list list, const struct nlattr *a);

/*
 * Adds a line "queue<tab>id=0<tab>ifindex=2..." for each object. An attribute without a number,
 * such as io-uring, is 1, and `info` is the id of the pool. A list that changed while it was read
 * is read again. Returns 0 or -errno: -EOPNOTSUPP where the kernel has no such list.
 */
int netdev_print_list(struct genl *g, enum netdev_list list, struct str *text);

/* Adds the drivers' counters to `text`. */
void nic_read_ethtool(struct nic_space *s, struct str *text);

/* Adds rows "SPACE IFINDEX NAME key value": rings, channels, offloads and so on. -errno: none. */
int nic_read_state(struct nic_space *s, struct str *rows);

/*
 * Lists all links again, and calls `each`, which may be NULL, with the attributes of every link and
 * `text`.
 */
typedef void (*nic_each)(struct nic_space *s, const struct nic_port *p, const void *attrs,
			 size_t len, struct str *text);
int nic_list(struct nic_space *s, nic_each each, struct str *text);

/*
 * Adds the values of a group, and its names when they changed. Each name and value has a tab before
 * it.
 */
void nic_put(struct nic_space *s, const struct nic_port *p, const char *group, const char *names,
	     const char *values, struct str *text);

#endif
