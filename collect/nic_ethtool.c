// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an interface is set up (rings, channels, offloads, header split), and its driver's own
 * counters. Requests that every kernel knows go by ioctl, the others by netlink. A value that the
 * driver does not report has no row.
 */
#include "collect/nic.h"

#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>

/* --- the driver's counters --- */

/* The driver's own counters are those that `ethtool -S` shows. */

/*
 * The kernel writes as many counters as the driver has at that moment, whatever the size of the
 * buffer. SPARE is room for counters that the driver gets after it reported their number.
 */
enum { SPARE = 4096, MOST = 65536 };

/* Runs one ethtool command. *data begins with its number. Returns 0 or -errno. */
static int nic_ethtool(const struct nic_space *s, const struct nic_port *p, void *data)
{
	struct ifreq ifr = {.ifr_data = data};

	memcpy(ifr.ifr_name, p->name, sizeof(ifr.ifr_name));
	return ioctl(s->inet, SIOCETHTOOL, &ifr) ? -errno : 0;
}

static uint32_t nic_driver_count(const struct nic_space *s, const struct nic_port *p, uint32_t set)
{
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} u = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << set}};

	if (nic_ethtool(s, p, &u) || !u.info.sset_mask || u.info.data[0] > MOST)
		return 0;
	return u.info.data[0];
}

/*
 * Returns the strings of a set (ETH_SS_STATS, ETH_SS_FEATURES), ETH_GSTRING_LEN bytes each. The
 * caller frees them.
 */
static char *nic_strings(const struct nic_space *s, const struct nic_port *p, uint32_t set,
			 uint32_t *n)
{
	autofree struct ethtool_gstrings *g = NULL;
	uint32_t room;

	*n = nic_driver_count(s, p, set);
	if (!*n)
		return NULL;
	room = *n + SPARE;
	g = xcalloc(1, sizeof(*g) + (size_t)room * ETH_GSTRING_LEN);
	*g = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = set, .len = *n};
	if (nic_ethtool(s, p, g) || g->len > room)
		return NULL;
	*n = g->len;
	return xmemdup(g->data, (size_t)*n * ETH_GSTRING_LEN + 1);
}

/* Adds a name as one field of the line: without tab or newline, and never empty. */
static void nic_driver_add_name(struct str *list, const char *name, uint32_t place)
{
	char copy[ETH_GSTRING_LEN + 1] = "", *at;

	memcpy(copy, name, ETH_GSTRING_LEN);
	for (at = copy; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			*at = ' ';
	at = str_trim(copy);
	if (*at)
		str_printf(list, "\t%s", at);
	else
		str_printf(list, "\tunnamed-%u", place);
}

static void nic_driver_read_names(const struct nic_space *s, struct nic_port *p)
{
	struct str list = {0};
	uint32_t n;
	autofree char *strings = nic_strings(s, p, ETH_SS_STATS, &n);

	free(p->names);
	p->asked = true;
	p->n = strings ? n : 0;
	for (uint32_t i = 0; i < p->n; i++)
		nic_driver_add_name(&list, strings + (size_t)i * ETH_GSTRING_LEN, i);
	p->names = str_take(&list);
}

static void nic_driver_read_port(struct nic_space *s, struct nic_port *p, struct str *text)
{
	autofree struct ethtool_stats *st = NULL;
	freed(str_free) struct str v = {0};

	if (!p->asked || nic_driver_count(s, p, ETH_SS_STATS) != p->n)
		nic_driver_read_names(s, p);
	if (!p->n)
		return;
	st = xcalloc(1, sizeof(*st) + ((size_t)p->n + SPARE) * sizeof(st->data[0]));
	*st = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = p->n};
	if (!nic_ethtool(s, p, st) && st->n_stats == p->n) {
		for (uint32_t i = 0; i < p->n; i++)
			str_printf(&v, "\t%" PRIu64, (uint64_t)st->data[i]);
		nic_put(s, p, "ethtool", p->names, v.buf, text);
	}
}

void nic_read_ethtool(struct nic_space *s, struct str *text)
{
	for (size_t i = 0; i < s->nports; i++)
		if ((s->port[i].flags & IFF_UP) && !(s->port[i].flags & IFF_LOOPBACK))
			nic_driver_read_port(s, &s->port[i], text);
}

/* --- how it is set up --- */

struct state {
	const struct nic_space *s;
	const struct nic_port *p;
	struct str *rows;
};

static void nic_state_add(const struct state *st, const char *key, uint64_t value)
{
	str_printf(st->rows, "%s\t%d\t%s\t%s\t%" PRIu64 "\n", st->s->name, st->p->index,
		   st->p->name, key, value);
}

static void nic_state_add_text(const struct state *st, const char *key, const char *value)
{
	if (*value && !strpbrk(value, "\t\n"))
		str_printf(st->rows, "%s\t%d\t%s\t%s\t%s\n", st->s->name, st->p->index, st->p->name,
			   key, value);
}

/* --- by ioctl --- */

static void nic_state_add_driver(const struct state *st)
{
	struct ethtool_drvinfo d = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_cmd c = {.cmd = ETHTOOL_GSET};
	uint32_t mbps = nic_ethtool(st->s, st->p, &c) ? 0 : (uint32_t)c.speed_hi << 16 | c.speed;

	if (!nic_ethtool(st->s, st->p, &d)) {
		nic_state_add_text(st, "driver", d.driver);
		nic_state_add_text(st, "driver_version", d.version);
		nic_state_add_text(st, "firmware", d.fw_version);
		nic_state_add_text(st, "bus", d.bus_info);
	}
	if (mbps && mbps != (uint32_t)SPEED_UNKNOWN)
		nic_state_add(st, "speed_mbps", mbps);
}

/* Numbers of 32 bits in the structure that the kernel fills for a command. */
static const struct {
	const char *key;
	uint32_t command;
	size_t offset;
} numbers[] = {
	{"rx_ring", ETHTOOL_GRINGPARAM, offsetof(struct ethtool_ringparam, rx_pending)},
	{"rx_ring_max", ETHTOOL_GRINGPARAM, offsetof(struct ethtool_ringparam, rx_max_pending)},
	{"tx_ring", ETHTOOL_GRINGPARAM, offsetof(struct ethtool_ringparam, tx_pending)},
	{"tx_ring_max", ETHTOOL_GRINGPARAM, offsetof(struct ethtool_ringparam, tx_max_pending)},
	{"rx_channels", ETHTOOL_GCHANNELS, offsetof(struct ethtool_channels, rx_count)},
	{"rx_channels_max", ETHTOOL_GCHANNELS, offsetof(struct ethtool_channels, max_rx)},
	{"tx_channels", ETHTOOL_GCHANNELS, offsetof(struct ethtool_channels, tx_count)},
	{"tx_channels_max", ETHTOOL_GCHANNELS, offsetof(struct ethtool_channels, max_tx)},
	{"combined_channels", ETHTOOL_GCHANNELS, offsetof(struct ethtool_channels, combined_count)},
	{"combined_channels_max", ETHTOOL_GCHANNELS,
	 offsetof(struct ethtool_channels, max_combined)},
	{"rx_usecs", ETHTOOL_GCOALESCE, offsetof(struct ethtool_coalesce, rx_coalesce_usecs)},
	{"rx_frames", ETHTOOL_GCOALESCE,
	 offsetof(struct ethtool_coalesce, rx_max_coalesced_frames)},
	{"tx_usecs", ETHTOOL_GCOALESCE, offsetof(struct ethtool_coalesce, tx_coalesce_usecs)},
	{"adaptive_rx", ETHTOOL_GCOALESCE,
	 offsetof(struct ethtool_coalesce, use_adaptive_rx_coalesce)},
};

static void nic_state_add_numbers(const struct state *st)
{
	union {
		uint32_t command;
		struct ethtool_ringparam rings;
		struct ethtool_channels channels;
		struct ethtool_coalesce coalesce;
	} u = {0};
	uint32_t value, asked = 0;
	bool answered = false;

	for (size_t i = 0; i < array_size(numbers); i++) {
		if (numbers[i].command != asked) {
			memset(&u, 0, sizeof(u));
			asked = u.command = numbers[i].command;
			answered = !nic_ethtool(st->s, st->p, &u);
		}
		memcpy(&value, (const char *)&u + numbers[i].offset, sizeof(value));
		if (answered)
			nic_state_add(st, numbers[i].key, value);
	}
}

/*
 * Adds feature:rx-gro, feature:rx-gro-hw and so on: 1 on, 0 off. Features that are fixed off are
 * left out.
 */
static void nic_state_add_features(const struct state *st)
{
	uint32_t n;
	autofree char *names = nic_strings(st->s, st->p, ETH_SS_FEATURES, &n);
	autofree struct ethtool_gfeatures *f = NULL;
	char key[ETH_GSTRING_LEN + 16];

	if (!names)
		return;
	f = xcalloc(1, sizeof(*f) + ((size_t)n / 32 + 1) * sizeof(f->features[0]));
	*f = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = n / 32 + 1};
	for (uint32_t i = nic_ethtool(st->s, st->p, f) ? n : 0; i < n; i++) {
		const char *name = names + (size_t)i * ETH_GSTRING_LEN;
		const struct ethtool_get_features_block *b = &f->features[i / 32];
		bool on = b->active >> (i % 32) & 1;
		bool fixed = !(b->available >> (i % 32) & 1) || (b->never_changed >> (i % 32) & 1);

		if (!*name || (!on && fixed))
			continue;
		snprintf(key, sizeof(key), "feature:%.*s", ETH_GSTRING_LEN, name);
		nic_state_add(st, key, on);
	}
}

/* --- by netlink --- */

/* These numbers are the kernel's ABI; the installed headers may be older. */
enum { RINGS_GET = 15, A_RINGS_HEADER = 1, A_HEADER_INDEX = 1, A_SPLIT = 11, SPLIT_ON = 2 };

struct attribute {
	uint16_t type;
	const char *key;
};

static const struct attribute rings[] = {
	{10, "rx_buf_len"}, /* size of receive buffers, where the driver offers a choice */
	{17, "hds_thresh"}, /* Linux 6.14 */
	{18, "hds_thresh_max"},
};
static const struct attribute links[] = {
	{IFLA_MTU, "mtu"},	   {IFLA_GSO_MAX_SIZE, "gso_max_size"},
	{58, "gro_max_size"}, /* BIG TCP: above 65536 */
	{63, "gso_ipv4_max_size"}, {64, "gro_ipv4_max_size"},
};

static void nic_state_add_attributes(const struct state *st, const void *attrs, size_t len,
				     const struct attribute *list, size_t n)
{
	const struct nlattr *a;

	for (size_t i = 0; i < n; i++)
		if ((a = genl_find(attrs, len, list[i].type)))
			nic_state_add(st, list[i].key, genl_u32(a));
}

static int nic_state_parse_rings(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, A_SPLIT);
	uint8_t split = a && genl_size(a) ? *(const uint8_t *)genl_data(a) : 0;

	nic_state_add_attributes(arg, attrs, len, rings, array_size(rings));
	if (split) /* 0 is unknown */
		nic_state_add(arg, "tcp_data_split", split == SPLIT_ON);
	return 0;
}

static void nic_state_add_rings(struct genl *g, const struct state *st)
{
	size_t nest;

	if (g->fd < 0)
		return;
	genl_begin(g, RINGS_GET, 0);
	nest = genl_nest(g, A_RINGS_HEADER);
	genl_put_u32(g, A_HEADER_INDEX, (uint32_t)st->p->index);
	genl_nest_end(g, nest);
	genl_ask(g, nic_state_parse_rings, (void *)st, NULL);
}

static void nic_state_add_link(struct nic_space *s, const struct nic_port *p, const void *attrs,
			       size_t len, struct str *rows)
{
	const struct state st = {s, p, rows};

	nic_state_add(&st, "up", !!(p->flags & IFF_UP));
	nic_state_add_attributes(&st, attrs, len, links, array_size(links));
}

int nic_read_state(struct nic_space *s, struct str *rows)
{
	int rc = nic_list(s, nic_state_add_link, rows);

	for (size_t i = 0; i < s->nports; i++) {
		const struct state st = {s, &s->port[i], rows};

		/* Another interface may have the name of one that is gone. */
		if (!st.p->flags || st.p->flags & IFF_LOOPBACK)
			continue;
		nic_state_add_driver(&st);
		nic_state_add_numbers(&st);
		nic_state_add_features(&st);
		nic_state_add_rings(&s->ethtool, &st);
	}
	return rc;
}
