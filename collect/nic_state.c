// SPDX-License-Identifier: GPL-2.0-only
/*
 * How an interface is set up: rings, channels, offloads, header split. By ioctl what every kernel
 * has, by netlink the rest. What a driver does not tell has no row.
 */
#include "collect/nic.h"

#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <stdlib.h>
#include <string.h>

static void nic_state_add(const struct nic_space *s, const struct nic_port *p, struct str *rows,
			  const char *key, uint64_t value)
{
	str_printf(rows, "%s\t%d\t%s\t%s\t%" PRIu64 "\n", s->name, p->index, p->name, key, value);
}

static void nic_state_add_text(const struct nic_space *s, const struct nic_port *p,
			       struct str *rows, const char *key, const char *value)
{
	if (*value && !strpbrk(value, "\t\n"))
		str_printf(rows, "%s\t%d\t%s\t%s\t%s\n", s->name, p->index, p->name, key, value);
}

/* Numbers of a structure that the kernel fills: all of 32 bits. */
struct member {
	const char *key;
	size_t offset;
};

static void nic_state_add_members(const struct nic_space *s, const struct nic_port *p,
				  struct str *rows, const void *data, const struct member *list,
				  size_t n)
{
	uint32_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&v, (const char *)data + list[i].offset, sizeof(v));
		nic_state_add(s, p, rows, list[i].key, v);
	}
}

/* --- by ioctl --- */

static void nic_state_add_driver(const struct nic_space *s, const struct nic_port *p,
				 struct str *rows)
{
	struct ethtool_drvinfo d = {.cmd = ETHTOOL_GDRVINFO};

	if (nic_ethtool(s, p, &d))
		return;
	nic_state_add_text(s, p, rows, "driver", d.driver);
	nic_state_add_text(s, p, rows, "driver_version", d.version);
	nic_state_add_text(s, p, rows, "firmware", d.fw_version);
	nic_state_add_text(s, p, rows, "bus", d.bus_info);
}

static void nic_state_add_speed(const struct nic_space *s, const struct nic_port *p,
				struct str *rows)
{
	union {
		struct ethtool_link_settings link;
		char room[sizeof(struct ethtool_link_settings) + 3 * 127 * sizeof(uint32_t)];
	} u = {.link = {.cmd = ETHTOOL_GLINKSETTINGS}};
	int words;

	/* Asked with no room for its masks the kernel says, negated, how long they are. */
	if (nic_ethtool(s, p, &u) || u.link.link_mode_masks_nwords >= 0)
		return;
	words = -u.link.link_mode_masks_nwords;
	u.link = (struct ethtool_link_settings){.cmd = ETHTOOL_GLINKSETTINGS,
						.link_mode_masks_nwords = (int8_t)words};
	if (!nic_ethtool(s, p, &u) && u.link.speed && u.link.speed != (uint32_t)SPEED_UNKNOWN)
		nic_state_add(s, p, rows, "speed_mbps", u.link.speed);
}

static void nic_state_add_rings(const struct nic_space *s, const struct nic_port *p,
				struct str *rows)
{
	static const struct member list[] = {
		{"rx_ring", offsetof(struct ethtool_ringparam, rx_pending)},
		{"rx_ring_max", offsetof(struct ethtool_ringparam, rx_max_pending)},
		{"tx_ring", offsetof(struct ethtool_ringparam, tx_pending)},
		{"tx_ring_max", offsetof(struct ethtool_ringparam, tx_max_pending)},
	};
	struct ethtool_ringparam r = {.cmd = ETHTOOL_GRINGPARAM};

	if (!nic_ethtool(s, p, &r))
		nic_state_add_members(s, p, rows, &r, list, array_size(list));
}

static void nic_state_add_channels(const struct nic_space *s, const struct nic_port *p,
				   struct str *rows)
{
	static const struct member list[] = {
		{"rx_channels", offsetof(struct ethtool_channels, rx_count)},
		{"rx_channels_max", offsetof(struct ethtool_channels, max_rx)},
		{"tx_channels", offsetof(struct ethtool_channels, tx_count)},
		{"tx_channels_max", offsetof(struct ethtool_channels, max_tx)},
		{"combined_channels", offsetof(struct ethtool_channels, combined_count)},
		{"combined_channels_max", offsetof(struct ethtool_channels, max_combined)},
	};
	struct ethtool_channels c = {.cmd = ETHTOOL_GCHANNELS};

	if (!nic_ethtool(s, p, &c))
		nic_state_add_members(s, p, rows, &c, list, array_size(list));
}

static void nic_state_add_coalescing(const struct nic_space *s, const struct nic_port *p,
				     struct str *rows)
{
	static const struct member list[] = {
		{"rx_usecs", offsetof(struct ethtool_coalesce, rx_coalesce_usecs)},
		{"rx_frames", offsetof(struct ethtool_coalesce, rx_max_coalesced_frames)},
		{"tx_usecs", offsetof(struct ethtool_coalesce, tx_coalesce_usecs)},
		{"adaptive_rx", offsetof(struct ethtool_coalesce, use_adaptive_rx_coalesce)},
	};
	struct ethtool_coalesce c = {.cmd = ETHTOOL_GCOALESCE};

	if (!nic_ethtool(s, p, &c))
		nic_state_add_members(s, p, rows, &c, list, array_size(list));
}

/* feature:rx-gro, feature:rx-gro-hw ...: 1 on, 0 off; those that are fixed off are left out. */
static void nic_state_add_features(const struct nic_space *s, const struct nic_port *p,
				   struct str *rows)
{
	uint32_t n, i;
	char *names = nic_strings(s, p, ETH_SS_FEATURES, &n);
	struct ethtool_gfeatures *f;
	struct str key = {0};

	if (!names)
		return;
	f = xcalloc(1, sizeof(*f) + ((size_t)n / 32 + 1) * sizeof(f->features[0]));
	*f = (struct ethtool_gfeatures){.cmd = ETHTOOL_GFEATURES, .size = n / 32 + 1};
	for (i = nic_ethtool(s, p, f) ? n : 0; i < n; i++) {
		const char *name = names + (size_t)i * ETH_GSTRING_LEN;
		const struct ethtool_get_features_block *b = &f->features[i / 32];
		bool on = b->active >> (i % 32) & 1;
		bool fixed = !(b->available >> (i % 32) & 1) || (b->never_changed >> (i % 32) & 1);

		if (!*name || (!on && fixed))
			continue;
		str_reset(&key);
		str_printf(&key, "feature:%.*s", ETH_GSTRING_LEN, name);
		nic_state_add(s, p, rows, key.buf, on);
	}
	str_free(&key);
	free(f);
	free(names);
}

/* --- by netlink --- */

/* The kernel's ABI; headers may be older than it. */
enum { RINGS_GET = 15, A_RINGS_HEADER = 1, A_HEADER_INDEX = 1, SPLIT_ON = 2 };

static const struct {
	uint16_t type;
	const char *key;
} rings[] =
	{
		{10, "rx_buf_len"}, /* of receive buffers, where the driver has a choice */
		{11, "tcp_data_split"},
		{17, "hds_thresh"}, /* Linux 6.14 */
		{18, "hds_thresh_max"},
},
  links[] = {
	  {IFLA_MTU, "mtu"},	     {IFLA_GSO_MAX_SIZE, "gso_max_size"},
	  {58, "gro_max_size"}, /* BIG TCP: above 65536 */
	  {63, "gso_ipv4_max_size"}, {64, "gro_ipv4_max_size"},
};

struct state {
	const struct nic_space *s;
	const struct nic_port *p;
	struct str *rows;
};

static int nic_state_parse_rings(void *arg, const void *attrs, size_t len)
{
	const struct state *st = arg;
	const struct nlattr *a;
	size_t i;

	for (i = 0; i < array_size(rings); i++) {
		a = genl_find(attrs, len, rings[i].type);
		if (!a)
			continue;
		if (strcmp(rings[i].key, "tcp_data_split"))
			nic_state_add(st->s, st->p, st->rows, rings[i].key, genl_u32(a));
		else if (genl_size(a) && *(const uint8_t *)genl_data(a)) /* 0: unknown */
			nic_state_add(st->s, st->p, st->rows, rings[i].key,
				      *(const uint8_t *)genl_data(a) == SPLIT_ON);
	}
	return 0;
}

static void nic_state_add_header_split(struct nic_space *s, const struct nic_port *p,
				       struct str *rows)
{
	struct state st = {s, p, rows};
	size_t nest;

	if (!s->ethtool)
		return;
	genl_begin(s->ethtool, RINGS_GET, 0);
	nest = genl_nest(s->ethtool, A_RINGS_HEADER);
	genl_put_u32(s->ethtool, A_HEADER_INDEX, (uint32_t)p->index);
	genl_nest_end(s->ethtool, nest);
	genl_ask(s->ethtool, nic_state_parse_rings, &st, NULL);
}

static void nic_state_add_link(struct nic_space *s, const struct nic_port *p, const void *attrs,
			       size_t len, void *rows)
{
	const struct nlattr *a;
	size_t i;

	nic_state_add(s, p, rows, "up", !!(p->flags & IFF_UP));
	for (i = 0; i < array_size(links); i++) {
		a = genl_find(attrs, len, links[i].type);
		if (a)
			nic_state_add(s, p, rows, links[i].key, genl_u32(a));
	}
}

void nic_read_state(struct nic_space *s, struct str *rows)
{
	size_t i;

	nic_list(s, nic_state_add_link, rows);
	for (i = 0; i < s->nports; i++) {
		const struct nic_port *p = &s->port[i];

		/* The name of one that is no more may be another's. */
		if (!p->flags || p->flags & IFF_LOOPBACK)
			continue;
		nic_state_add_driver(s, p, rows);
		nic_state_add_speed(s, p, rows);
		nic_state_add_rings(s, p, rows);
		nic_state_add_channels(s, p, rows);
		nic_state_add_coalescing(s, p, rows);
		nic_state_add_features(s, p, rows);
		nic_state_add_header_split(s, p, rows);
	}
}
