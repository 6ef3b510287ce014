// SPDX-License-Identifier: GPL-2.0-only
/* All interfaces and their counters of 64 bits, rtnl_link_stats64. */
#include "collect/nic.h"

#include "collect/rtnl.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>

/* In the kernel's order; a kernel may have fewer, or more behind them. */
static const char *const names[] = {
	"rx_packets",	       "tx_packets",	    "rx_bytes",		"tx_bytes",
	"rx_errors",	       "tx_errors",	    "rx_dropped",	"tx_dropped",
	"multicast",	       "collisions",	    "rx_length_errors", "rx_over_errors",
	"rx_crc_errors",       "rx_frame_errors",   "rx_fifo_errors",	"rx_missed_errors",
	"tx_aborted_errors",   "tx_carrier_errors", "tx_fifo_errors",	"tx_heartbeat_errors",
	"tx_window_errors",    "rx_compressed",	    "tx_compressed",	"rx_nohandler",
	"rx_otherhost_dropped"};

/* --- which interfaces there are --- */

struct listing {
	struct nic_space *s;
	nic_each each;
	void *arg;
};

static struct nic_port *nic_links_find(struct nic_space *s, int index)
{
	size_t i;

	for (i = 0; i < s->nports; i++)
		if (s->port[i].index == index)
			return &s->port[i];
	return NULL;
}

/* Under another name all that it has is named anew. */
static void nic_links_parse_name(struct nic_space *s, struct nic_port *p, const void *name,
				 size_t size)
{
	char now[sizeof(p->name)] = "";

	memcpy(now, name, size);
	now[sizeof(now) - 1] = '\0';
	if (*p->name && strcmp(p->name, now))
		map_free(&s->said);
	memcpy(p->name, now, sizeof(now));
}

static void nic_links_parse_link(void *arg, const void *head, const void *attrs, size_t len)
{
	const struct ifinfomsg *info = head;
	struct listing *l = arg;
	const struct nlattr *a = genl_find(attrs, len, IFLA_IFNAME);
	struct nic_port *p = nic_links_find(l->s, info->ifi_index);

	if (!p) {
		array_grow(l->s->port, l->s->nports, l->s->cap);
		p = &l->s->port[l->s->nports++];
		*p = (struct nic_port){.index = info->ifi_index};
	}
	p->flags = info->ifi_flags;
	if (a && genl_size(a) <= sizeof(p->name))
		nic_links_parse_name(l->s, p, genl_data(a), genl_size(a));
	if (l->each)
		l->each(l->s, p, attrs, len, l->arg);
}

int nic_list(struct nic_space *s, nic_each each, void *arg)
{
	struct listing l = {s, each, arg};
	struct ifinfomsg head = {0};
	size_t i;

	for (i = 0; i < s->nports; i++)
		s->port[i].flags = 0; /* unless it is still there */
	return rtnl_dump(s->route, RTM_GETLINK, RTM_NEWLINK, &head, sizeof(head),
			 nic_links_parse_link, &l);
}

struct nic_port *nic_port_of(struct nic_space *s, int index)
{
	return nic_links_find(s, index);
}

/* --- counters --- */

struct counters {
	struct stats {
		int index;
		unsigned int n;
		uint64_t v[array_size(names)];
	} * list;
	size_t n, cap;
	bool strange; /* an interface that was not there before */
	struct nic_space *s;
};

static void nic_links_parse_stats(void *arg, const void *head, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, IFLA_STATS_LINK_64);
	const struct if_stats_msg *info = head;
	struct counters *c = arg;
	struct stats *st;
	size_t size;

	if (!a)
		return;
	array_grow(c->list, c->n, c->cap);
	st = &c->list[c->n++];
	size = genl_size(a) < sizeof(st->v) ? genl_size(a) : sizeof(st->v);
	st->index = (int)info->ifindex;
	st->n = (unsigned int)(size / sizeof(st->v[0]));
	memcpy(st->v, genl_data(a), size);
	c->strange |= !nic_links_find(c->s, st->index);
}

static void nic_links_add_stats(struct nic_space *s, const struct nic_port *p,
				const struct stats *st, struct str *text)
{
	struct str n = {0}, v = {0};
	unsigned int i;

	for (i = 0; i < st->n; i++) {
		str_printf(&n, "\t%s", names[i]);
		str_printf(&v, "\t%" PRIu64, st->v[i]);
	}
	if (st->n)
		nic_put(s, p, "link", n.buf, v.buf, text);
	str_free(&n);
	str_free(&v);
}

int nic_read_links(struct nic_space *s, struct str *text)
{
	struct if_stats_msg head = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
	struct counters c = {.s = s};
	struct nic_port *p;
	size_t i;
	int rc;

	rc = rtnl_dump(s->route, RTM_GETSTATS, RTM_NEWSTATS, &head, sizeof(head),
		       nic_links_parse_stats, &c);
	if (!rc && c.strange)
		rc = nic_list(s, NULL, NULL);
	for (i = 0; i < c.n && !rc; i++) {
		p = nic_links_find(s, c.list[i].index);
		if (p)
			nic_links_add_stats(s, p, &c.list[i], text);
	}
	free(c.list);
	return rc;
}
