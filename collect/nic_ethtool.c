// SPDX-License-Identifier: GPL-2.0-only
/* The driver's own counters, what `ethtool -S` shows, by the ioctl that every kernel has. */
#include "collect/nic.h"

#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/*
 * The kernel writes as many counters as the driver has by then, whatever room there is: a driver
 * that gets more of them since it was asked how many shall not reach the end.
 */
enum { SPARE = 4096, MOST = 65536 };

int nic_ethtool(const struct nic_space *s, const struct nic_port *p, void *data)
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

char *nic_strings(const struct nic_space *s, const struct nic_port *p, uint32_t set, uint32_t *n)
{
	struct ethtool_gstrings *g;
	char *text = NULL;
	uint32_t room;

	*n = nic_driver_count(s, p, set);
	if (!*n)
		return NULL;
	room = *n + SPARE;
	g = xcalloc(1, sizeof(*g) + (size_t)room * ETH_GSTRING_LEN);
	*g = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = set, .len = *n};
	if (!nic_ethtool(s, p, g) && g->len <= room) {
		*n = g->len;
		text = xmemdup(g->data, (size_t)*n * ETH_GSTRING_LEN + 1);
	}
	free(g);
	return text;
}

/* A name is a field of the line: no tab or newline in it, and never empty. */
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
	uint32_t n, i;
	char *strings = nic_strings(s, p, ETH_SS_STATS, &n);

	free(p->names);
	p->asked = true;
	p->n = strings ? n : 0;
	for (i = 0; i < p->n; i++)
		nic_driver_add_name(&list, strings + (size_t)i * ETH_GSTRING_LEN, i);
	p->names = str_take(&list);
	free(strings);
}

static void nic_driver_read_port(struct nic_space *s, struct nic_port *p, struct str *text)
{
	struct ethtool_stats *st;
	struct str v = {0};
	uint32_t i;

	if (!p->asked || nic_driver_count(s, p, ETH_SS_STATS) != p->n)
		nic_driver_read_names(s, p);
	if (!p->n)
		return;
	st = xcalloc(1, sizeof(*st) + ((size_t)p->n + SPARE) * sizeof(st->data[0]));
	*st = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = p->n};
	if (!nic_ethtool(s, p, st) && st->n_stats == p->n) {
		for (i = 0; i < p->n; i++)
			str_printf(&v, "\t%" PRIu64, (uint64_t)st->data[i]);
		nic_put(s, p, "ethtool", p->names, v.buf, text);
	}
	str_free(&v);
	free(st);
}

/* The ioctl goes by name, and that may be another's now. */
static bool nic_driver_renamed(const struct nic_space *s, const struct nic_port *p)
{
	struct ifreq ifr = {0};

	memcpy(ifr.ifr_name, p->name, sizeof(ifr.ifr_name));
	return ioctl(s->inet, SIOCGIFINDEX, &ifr) ? errno == ENODEV : ifr.ifr_ifindex != p->index;
}

static bool nic_driver_any_renamed(const struct nic_space *s)
{
	size_t i;

	for (i = 0; i < s->nports; i++)
		if (s->port[i].flags && nic_driver_renamed(s, &s->port[i]))
			return true;
	return false;
}

void nic_read_ethtool(struct nic_space *s, struct str *text)
{
	size_t i;

	if (nic_driver_any_renamed(s))
		nic_list(s, NULL, NULL);
	for (i = 0; i < s->nports; i++)
		if ((s->port[i].flags & IFF_UP) && !(s->port[i].flags & IFF_LOOPBACK))
			nic_driver_read_port(s, &s->port[i], text);
}
