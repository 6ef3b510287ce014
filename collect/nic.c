// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interfaces of the host's network namespace and of the one that the workload lives in: the
 * counters of each interface, its queues, queueing disciplines and driver, and, after the window,
 * how it is set up.
 * The net.* sysctls of the workload's namespace are read with the set-up: hooks change them between
 * the runs, and hosts/ has those of the host alone.
 */
#include "collect/nic.h"

#include "collect/host.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- which interfaces there are --- */

struct listing {
	struct nic_space *s;
	nic_each each;
	struct str *text;
};

static struct nic_port *nic_links_find(struct nic_space *s, int index)
{
	for (size_t i = 0; i < s->nports; i++)
		if (s->port[i].index == index)
			return &s->port[i];
	return NULL;
}

static int nic_links_parse_link(void *arg, const void *attrs, size_t len)
{
	const struct ifinfomsg *info = netlink_head(attrs, sizeof(*info));
	const struct nlattr *a = genl_find(attrs, len, IFLA_IFNAME);
	struct listing *l = arg;
	struct nic_port *p = nic_links_find(l->s, info->ifi_index);
	char now[sizeof(p->name)] = "";

	if (!p) {
		p = array_new(l->s->port, l->s->nports, l->s->cap);
		*p = (struct nic_port){.index = info->ifi_index};
	}
	p->flags = info->ifi_flags;
	if (a && genl_size(a) <= sizeof(now)) {
		memcpy(now, genl_data(a), genl_size(a));
		now[sizeof(now) - 1] = '\0';
		if (*p->name && strcmp(p->name, now))
			map_free(&l->s->said); /* all names of its counters are written again */
		memcpy(p->name, now, sizeof(now));
	}
	if (l->each)
		l->each (l->s, p, attrs, len, l->text);
	return 0;
}

int nic_list(struct nic_space *s, nic_each each, struct str *text)
{
	struct listing l = {s, each, text};
	const struct ifinfomsg head = {0};

	for (size_t i = 0; i < s->nports; i++)
		s->port[i].flags = 0; /* unless it is still there */
	netlink_begin(&s->links, RTM_GETLINK, NLM_F_DUMP, &head, sizeof(head));
	return genl_ask(&s->links, nic_links_parse_link, &l, NULL);
}

/* --- a space --- */

int nic_space_open(struct nic_space *s, const char *name, struct error *err)
{
	struct error why = {0};

	*s = (struct nic_space){
		.name = name, .links = {.fd = -1}, .netdev = {.fd = -1}, .ethtool = {.fd = -1}};
	s->inet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->inet < 0)
		error_sys(&why, errno, "socket");
	else if (!netlink_open(&s->links, NETLINK_ROUTE, sizeof(struct ifinfomsg), &why))
		error_set(&why, -nic_list(s, NULL, NULL), "links");
	if (why.code) {
		nic_space_close(s);
		return error_sys(err, why.code, "cannot list interfaces by netlink");
	}
	genl_open(&s->netdev, "netdev", NULL); /* a kernel may lack these families */
	genl_open(&s->ethtool, "ethtool", NULL);
	return 0;
}

void nic_space_close(struct nic_space *s)
{
	if (!s->name)
		return;
	array_free(e, s->port, s->nports, free(e->names));
	map_free(&s->said);
	genl_close(&s->netdev);
	genl_close(&s->ethtool);
	genl_close(&s->links);
	if (s->inet >= 0)
		close(s->inet);
	*s = (struct nic_space){.inet = -1};
}

void nic_put(struct nic_space *s, const struct nic_port *p, const char *group, const char *names,
	     const char *values, struct str *text)
{
	uint64_t key = hash_bytes(group, strlen(group), (uint64_t)p->index);
	uint64_t hash = hash_bytes(names, strlen(names), 0) | 1, *said = map_at(&s->said, key);

	if (*said != hash)
		str_printf(text, "n\t%s\t%d\t%s\t%s%s\n", s->name, p->index, p->name, group, names);
	*said = hash;
	str_printf(text, "v\t%s\t%d\t%s\t%s%s\n", s->name, p->index, p->name, group, values);
}

/* In the kernel's order. An old kernel has fewer, a new one more at the end. */
static const char *const link_names[] = {
	"rx_packets",	       "tx_packets",	    "rx_bytes",		"tx_bytes",
	"rx_errors",	       "tx_errors",	    "rx_dropped",	"tx_dropped",
	"multicast",	       "collisions",	    "rx_length_errors", "rx_over_errors",
	"rx_crc_errors",       "rx_frame_errors",   "rx_fifo_errors",	"rx_missed_errors",
	"tx_aborted_errors",   "tx_carrier_errors", "tx_fifo_errors",	"tx_heartbeat_errors",
	"tx_window_errors",    "rx_compressed",	    "tx_compressed",	"rx_nohandler",
	"rx_otherhost_dropped"};

static void nic_links_add_stats(struct nic_space *s, const struct nic_port *p, const void *attrs,
				size_t len, struct str *text)
{
	const struct nlattr *a = genl_find(attrs, len, IFLA_STATS64);
	size_t n = a ? genl_size(a) / sizeof(uint64_t) : 0;
	freed(str_free) struct str names = {0}, values = {0};
	uint64_t v;

	for (size_t i = 0; i < n && i < array_size(link_names); i++) {
		memcpy(&v, (const char *)genl_data(a) + i * sizeof(v), sizeof(v));
		str_printf(&names, "\t%s", link_names[i]);
		str_printf(&values, "\t%" PRIu64, v);
	}
	if (n)
		nic_put(s, p, "link", names.buf, values.buf, text);
}

/* --- queues --- */

/*
 * Counters of queues that drivers report by the family "netdev" of generic netlink, Linux 6.10 and
 * later.
 */

enum { SCOPE_QUEUE = 1 };
enum { A_IFINDEX = 1, A_TYPE, A_ID, A_SCOPE };

static void nic_queues_add(const struct listing *q, const void *attrs, size_t len, int index,
			   bool tx, uint32_t id)
{
	const struct nic_port *p = nic_links_find(q->s, index);
	freed(str_free) struct str n = {0}, v = {0};
	const struct nlattr *a;
	char group[32];

	while ((a = genl_next(&attrs, &len))) {
		const char *name = netdev_attr_name(NETDEV_QSTATS, a);

		if (!name)
			continue;
		str_printf(&n, "\t%s", name);
		str_printf(&v, "\t%" PRIu64, genl_u64(a));
	}
	snprintf(group, sizeof(group), "%s-%u", tx ? "tx" : "rx", id);
	if (p && n.len)
		nic_put(q->s, p, group, n.buf, v.buf, q->text);
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

static int nic_read_queues(struct nic_space *s, struct str *text)
{
	struct listing q = {.s = s, .text = text};
	int rc;

	if (s->netdev.fd < 0)
		return 0;
	genl_begin(&s->netdev, netdev_objects[NETDEV_QSTATS].get, NLM_F_DUMP);
	genl_put_u32(&s->netdev, A_SCOPE, SCOPE_QUEUE);
	rc = genl_ask(&s->netdev, nic_queues_parse, &q, NULL);
	/* the family of Linux 6.3 to 6.9 has no such request */
	return rc == -EOPNOTSUPP || rc == -EINVAL ? 0 : rc;
}

/* --- queueing disciplines --- */

/* Adds those at the top of an interface, which count the drops of all below them. */
static int nic_qdiscs_parse(void *arg, const void *attrs, size_t len)
{
	const struct tcmsg *info = netlink_head(attrs, sizeof(*info));
	const struct nlattr *kind = genl_find(attrs, len, TCA_KIND);
	const struct nlattr *all = genl_find(attrs, len, TCA_STATS2);
	const struct nlattr *a =
		all ? genl_find(genl_data(all), genl_size(all), TCA_STATS_QUEUE) : NULL;
	struct listing *q = arg;
	const struct nic_port *p = nic_links_find(q->s, info->tcm_ifindex);
	freed(str_free) struct str values = {0};
	struct gnet_stats_queue n;
	char group[32];

	if (!p || !kind || !a || genl_size(a) < sizeof(n) ||
	    (info->tcm_parent != TC_H_ROOT && info->tcm_parent != TC_H_INGRESS))
		return 0;
	memcpy(&n, genl_data(a), sizeof(n));
	snprintf(group, sizeof(group), "qdisc:%.*s", (int)genl_size(kind),
		 (const char *)genl_data(kind));
	str_printf(&values, "\t%u\t%u\t%u", n.drops, n.requeues, n.overlimits);
	nic_put(q->s, p, group, "\tdrops\trequeues\toverlimits", values.buf, q->text);
	return 0;
}

static int nic_read_qdiscs(struct nic_space *s, struct str *text)
{
	const struct tcmsg head = {0};
	struct listing q = {.s = s, .text = text};
	size_t links = s->links.head_len;
	int rc;

	s->links.head_len = sizeof(head);
	netlink_begin(&s->links, RTM_GETQDISC, NLM_F_DUMP, &head, sizeof(head));
	rc = genl_ask(&s->links, nic_qdiscs_parse, &q, NULL);
	s->links.head_len = links;
	return rc == -EOPNOTSUPP ? 0 : rc; /* a kernel without CONFIG_NET_SCHED */
}

static int nic_space_read(struct nic_space *s, struct str *text)
{
	int rc = nic_list(s, nic_links_add_stats, text);

	rc = rc ?: nic_read_qdiscs(s, text);
	rc = rc ?: nic_read_queues(s, text);
	if (!rc)
		nic_read_ethtool(s, text);
	return rc;
}

/* --- the collector --- */

struct nic {
	struct nic_space host, workload;
	struct str state, sysctls;
};

static int nic_open_workload(void *space, struct error *err)
{
	return nic_space_open(space, "workload", err);
}

static int nic_prepare(struct collect *c)
{
	struct nic *n = c->data = xcalloc(1, sizeof(*n));

	n->host.inet = n->workload.inet = -1;
	return nic_space_open(&n->host, "host", &c->err);
}

/* The next reading writes all names of counters again. */
static void nic_forget_names(struct nic *n)
{
	map_free(&n->host.said);
	map_free(&n->workload.said);
}

static int nic_read(struct collect *c)
{
	struct nic *n = c->data;
	int rc;

	netns_enter(c, nic_open_workload, &n->workload);
	rc = nic_space_read(&n->host, &c->reading.text);
	if (!rc && n->workload.inet >= 0)
		rc = nic_space_read(&n->workload, &c->reading.text);
	if (rc) /* its text is dropped */
		nic_forget_names(n);
	return rc ? error_sys(&c->err, -rc, "cannot read interfaces by netlink") : 0;
}

/* Throws away the first reading: drivers take longer to name their counters than to read them. */
static int nic_before(struct collect *c)
{
	int rc = nic_read(c);

	nic_forget_names(c->data);
	return rc;
}

static int nic_read_sysctls(void *sysctls, struct error *err)
{
	host_add_net_sysctls(sysctls, err);
	return -err->code;
}

/*
 * Reads the sysctls that the workload runs under. Of a namespace that cannot be entered there are
 * none, and netns_enter() has degraded the collector.
 */
static void nic_add_sysctls(struct collect *c, struct nic *n)
{
	bool other = c->netns.fd > 0;
	struct error err = {0};
	int rc;

	if (other && n->workload.inet < 0)
		return;
	rc = other ? netns_inside(&c->netns, nic_read_sysctls, &n->sysctls, &err)
		   : nic_read_sysctls(&n->sysctls, &err);
	if (rc)
		collect_degraded(c, "%s", err.text);
}

/* Reads the set-up after the window, because drivers may take long to report it. */
static int nic_after(struct collect *c)
{
	struct nic *n = c->data;
	int rc;

	str_puts(&n->state, "netns\tifindex\tinterface\tkey\tvalue\n");
	rc = nic_read_state(&n->host, &n->state);
	if (!rc && n->workload.inet >= 0)
		rc = nic_read_state(&n->workload, &n->state);
	nic_add_sysctls(c, n);
	return rc ? error_sys(&c->err, -rc, "cannot read the set-up of interfaces by netlink") : 0;
}

static void nic_finish(struct collect *c)
{
	autofree struct nic *n = c->data;

	collect_write(c, c->is->files[1], &n->state);
	collect_write(c, c->is->files[2], &n->sysctls);
	collect_info_str(c, "netns", n->workload.inet < 0 ? "host" : "host,workload");
	nic_space_close(&n->host);
	nic_space_close(&n->workload);
	str_free(&n->state);
	str_free(&n->sysctls);
}

const struct collector collector_nic = {
	.name = "nic",
	.what = "interfaces: counters of driver and queues, rings, channels, offloads; net.* sysctls",
	.files = {"nic.snap", "nic_state.tsv", "net_sysctls"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.prepare = nic_prepare,
	.before = nic_before,
	.read = nic_read,
	.after = nic_after,
	.finish = nic_finish,
};
