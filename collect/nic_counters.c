// SPDX-License-Identifier: GPL-2.0-only
/* All interfaces and their counters of 64 bits, rtnl_link_stats64. */
#include "collect/nic.h"

#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* --- rtnetlink --- */

enum { ANSWER = 32768, PATIENCE_S = 2 };

struct dump {
	uint32_t seq;
	uint16_t answer;
	size_t head_len;
	void (*each)(void *arg, const void *head, const void *attrs, size_t len);
	void *arg;
};

int rtnl_open(void)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* Returns 1 when more follows, 0 at the end, or -errno. */
static int rtnl_receive(const struct dump *d, const struct nlmsghdr *m)
{
	const struct nlmsgerr *e = NLMSG_DATA(m);
	size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(d->head_len);

	if (m->nlmsg_seq != d->seq)
		return 1;
	if (m->nlmsg_type == NLMSG_DONE)
		return 0;
	if (m->nlmsg_type == NLMSG_ERROR)
		return m->nlmsg_len < NLMSG_LENGTH(sizeof(*e)) ? -EBADMSG : e->error;
	if (m->nlmsg_type == d->answer && m->nlmsg_len >= skip)
		d->each(d->arg, NLMSG_DATA(m), (const char *)m + skip, m->nlmsg_len - skip);
	return 1;
}

static int rtnl_receive_all(int fd, const struct dump *d)
{
	_Alignas(struct nlmsghdr) char buf[ANSWER];
	const struct nlmsghdr *m;
	unsigned int left;
	ssize_t got;
	int rc;

	for (;;) {
		got = recv(fd, buf, sizeof(buf), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPIPE;
		left = (unsigned int)got;
		for (m = (void *)buf; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			rc = rtnl_receive(d, m);
			if (rc <= 0)
				return rc;
		}
	}
}

/*
 * Sends the message `type` with the request `head`, and calls `each` for every message of type
 * `answer`, with its head, which is as long as the request's, and its attributes. Returns 0 or
 * -errno.
 */
static int rtnl_dump(int fd, uint16_t type, uint16_t answer, const void *head, size_t head_len,
		     void (*each)(void *arg, const void *head, const void *attrs, size_t len),
		     void *arg)
{
	static uint32_t seq;
	struct dump d = {++seq, answer, head_len, each, arg};
	struct {
		struct nlmsghdr head;
		char rest[64];
	} r = {.head = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + head_len),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			.nlmsg_seq = d.seq}};

	if (head_len > sizeof(r.rest))
		return -EMSGSIZE;
	memcpy(r.rest, head, head_len);
	if (send(fd, &r, r.head.nlmsg_len, 0) < 0)
		return -errno;
	return rtnl_receive_all(fd, &d);
}

/* --- links --- */

/* In the kernel's order. An old kernel has fewer, a new one more at the end. */
static const char *const link_names[] = {
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

/* After a rename all names of the interface's counters are written again. */
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

/* --- counters --- */

struct counters {
	struct stats {
		int index;
		unsigned int n;
		uint64_t v[array_size(link_names)];
	} * list;
	size_t n, cap;
	bool strange; /* a new interface */
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
		str_printf(&n, "\t%s", link_names[i]);
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

/* --- queues --- */

/*
 * Counters of queues that drivers report by the family "netdev" of generic netlink, Linux 6.10 and
 * later. The numbers are the kernel's ABI; the installed headers may be older.
 */

enum { QSTATS_GET = 12 };
enum { A_IFINDEX = 1, A_TYPE, A_ID, A_SCOPE, A_FIRST = 8 };
enum { SCOPE_QUEUE = 1 };

/* From A_FIRST on. */
static const char *const queue_names[] = {
	"rx-packets",
	"rx-bytes",
	"tx-packets",
	"tx-bytes",
	"rx-alloc-fail",
	"rx-hw-drops",
	"rx-hw-drop-overruns",
	"rx-csum-complete",
	"rx-csum-unnecessary",
	"rx-csum-none",
	"rx-csum-bad",
	"rx-hw-gro-packets",
	"rx-hw-gro-bytes",
	"rx-hw-gro-wire-packets",
	"rx-hw-gro-wire-bytes",
	"rx-hw-drop-ratelimits",
	"tx-hw-drops",
	"tx-hw-drop-errors",
	"tx-csum-none",
	"tx-needs-csum",
	"tx-hw-gso-packets",
	"tx-hw-gso-bytes",
	"tx-hw-gso-wire-packets",
	"tx-hw-gso-wire-bytes",
	"tx-hw-drop-ratelimits",
	"tx-stop",
	"tx-wake",
};

struct queues {
	struct nic_space *s;
	struct str *text;
};

static void nic_queues_add(struct queues *q, const void *attrs, size_t len, int index, bool tx,
			   uint32_t id)
{
	const struct nic_port *p = nic_links_find(q->s, index);
	struct str n = {0}, v = {0};
	const struct nlattr *a;
	char group[32];

	while ((a = genl_next(&attrs, &len))) {
		unsigned int type = a->nla_type & NLA_TYPE_MASK;

		if (type < A_FIRST || type - A_FIRST >= array_size(queue_names))
			continue;
		str_printf(&n, "\t%s", queue_names[type - A_FIRST]);
		str_printf(&v, "\t%" PRIu64, genl_u64(a));
	}
	snprintf(group, sizeof(group), "%s-%u", tx ? "tx" : "rx", id);
	if (p && n.len)
		nic_put(q->s, p, group, n.buf, v.buf, q->text);
	str_free(&n);
	str_free(&v);
}

static int nic_queues_parse(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *index = genl_find(attrs, len, A_IFINDEX);
	const struct nlattr *type = genl_find(attrs, len, A_TYPE);
	const struct nlattr *id = genl_find(attrs, len, A_ID);

	if (index && type && id && genl_u32(type) <= 1)
		nic_queues_add(arg, attrs, len, (int)genl_u32(index), genl_u32(type), genl_u32(id));
	return 0;
}

int nic_read_queues(struct nic_space *s, struct str *text)
{
	struct queues q = {s, text};
	int rc;

	if (!s->netdev)
		return 0;
	genl_begin(s->netdev, QSTATS_GET, NLM_F_DUMP);
	genl_put_u32(s->netdev, A_SCOPE, SCOPE_QUEUE);
	rc = genl_ask(s->netdev, nic_queues_parse, &q, NULL);
	if (rc == -EOPNOTSUPP || rc == -EINVAL) { /* the family of Linux 6.3 to 6.9 */
		genl_close(s->netdev);
		free(s->netdev);
		s->netdev = NULL;
		return 0;
	}
	return rc;
}
