// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/nic_names.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdio.h>
#include <string.h>

/*
 * THE TABLE of patterns, for sscanf: %u is the queue, %n must be reached. `of`: which way it goes;
 * NULL: what is behind it begins with rx or tx, else the one that it begins with.
 */
static const struct {
	const char *pattern, *of;
} patterns[] = {
	{"rx%u_%n", "rx"},	  {"tx%u_%n", "tx"},	    /* mlx5, virtio_net */
	{"rx_queue_%u_%n", "rx"}, {"tx_queue_%u_%n", "tx"}, /* ixgbe, igb, ice, veth */
	{"rx-%u.%n", "rx"},	  {"tx-%u.%n", "tx"},	    /* i40e, sfc */
	{"rxq%u_%n", "rx"},	  {"txq%u_%n", "tx"},	    {"rxq%u:%n", "rx"},
	{"txq%u:%n", "tx"},	  {"rx_%u_%n", "rx"},	    {"tx_%u_%n", "tx"},
	{"rxq_%u_%n", "rx"},	  {"txq_%u_%n", "tx"},	    {"rx.%u.%n", "rx"},
	{"tx.%u.%n", "tx"},	  {"queue_%u_%n", NULL},    /* ena */
	{"[%u]: %n", NULL},	  {"[%u]:%n", NULL},	    /* bnxt */
	{"q%u_%n", NULL},	  {"ch%u_%n", "ch"},	    /* mlx5: a channel, both ways */
	{"rx%*[^[][%u]%n", "rx"}, {"tx%*[^[][%u]%n", "tx"}, /* gve */
};

static const char *nic_name_way(const char *rest)
{
	return str_starts(rest, "rx") ? "rx" : str_starts(rest, "tx") ? "tx" : "queue";
}

/* "rx_64_bytes_phy", "rx_65_to_127_bytes": frames of so many bytes. */
static bool is_size(const char *rest)
{
	return str_starts(rest, "byte") || str_starts(rest, "to_") || str_starts(rest, "Byte");
}

bool nic_queue(const char *name, char *queue, size_t size)
{
	unsigned int n;
	size_t i;

	for (i = 0; i < array_size(patterns); i++) {
		int end = 0;

		if (sscanf(name, patterns[i].pattern, &n, &end) != 1 || !end || is_size(name + end))
			continue;
		snprintf(queue, size, "%s-%u",
			 patterns[i].of ? patterns[i].of : nic_name_way(name + end), n);
		return true;
	}
	return false;
}
