/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces of one network namespace: their counters, read again and again, and how they are
 * set up. nic_links.c (all interfaces, by rtnetlink), nic_queues.c (queues, by the netdev family of
 * generic netlink), nic_ethtool.c (the driver's own, by ioctl), nic_state.c.
 *
 * A reading is text: a line "v<tab>SPACE<tab>IFINDEX<tab>NAME<tab>GROUP<tab>value..." for each
 * group of counters, and before the first one, and whenever their names change, the same with "n"
 * and names.
 */
#ifndef ZC_NIC_H
#define ZC_NIC_H

#include "lib/genl.h"
#include "lib/hash.h"
#include "lib/str.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nic_port {
	int index;
	char name[IFNAMSIZ];
	unsigned int flags; /* IFF_UP ...; 0: it is no more */
	unsigned int n;	    /* of the driver's counters; 0: none */
	char *names;	    /* theirs, tab before each */
	bool asked;	    /* for their names */
};

struct nic_space {
	const char *name;	       /* "host", "workload" */
	int inet;		       /* a socket for ioctl; below 0: the space is not open */
	int route;		       /* rtnetlink */
	struct genl *netdev, *ethtool; /* NULL: the kernel has no such family */
	struct nic_port *port;
	size_t nports, cap;
	struct map said; /* names that were written: key group of an interface, value the names'
			    hash */
};

/* In the namespace that we are in now. 0 or -errno. */
int nic_space_open(struct nic_space *s, const char *name);
void nic_space_close(struct nic_space *s);

/* The counters of all interfaces, added to `text`. 0 or -errno. */
int nic_read_links(struct nic_space *s, struct str *text);
int nic_read_queues(struct nic_space *s, struct str *text);
void nic_read_ethtool(struct nic_space *s, struct str *text);

/* Rows "SPACE IFINDEX NAME key value": rings, channels, offloads ... */
void nic_read_state(struct nic_space *s, struct str *rows);

/* Asks for all links again, and calls `each`, which may be NULL, with the attributes of every one.
 */
typedef void (*nic_each)(struct nic_space *s, const struct nic_port *p, const void *attrs,
			 size_t len, void *arg);
int nic_list(struct nic_space *s, nic_each each, void *arg);

/* The port of that number; NULL: there is none. */
struct nic_port *nic_port_of(struct nic_space *s, int index);

/* Writes names and values of a group; both have a tab before each. */
void nic_put(struct nic_space *s, const struct nic_port *p, const char *group, const char *names,
	     const char *values, struct str *text);

/* One ethtool command; *data begins with its number. 0 or -errno. */
int nic_ethtool(const struct nic_space *s, const struct nic_port *p, void *data);
/* The strings of a set (ETH_SS_STATS, ETH_SS_FEATURES), ETH_GSTRING_LEN each; freed by the caller.
 */
char *nic_strings(const struct nic_space *s, const struct nic_port *p, uint32_t set, uint32_t *n);

/*
 * Dumps of rtnetlink: all links, the counters of all links. Attributes are walked with genl_next
 * (lib/genl.h). A socket speaks to the network namespace that it was opened in.
 */

/* A descriptor or -errno. */
int rtnl_open(void);

/*
 * Asks for a dump by message `type`, whose request is `head`, and calls `each` for every message of
 * `answer` type: its head, which is as long as the request's, and the attributes. 0 or -errno.
 */
int rtnl_dump(int fd, uint16_t type, uint16_t answer, const void *head, size_t head_len,
	      void (*each)(void *arg, const void *head, const void *attrs, size_t len), void *arg);

#endif
