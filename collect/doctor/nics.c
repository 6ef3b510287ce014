// SPDX-License-Identifier: GPL-2.0-only
/* Network interfaces: what a fast or zero-copy transfer needs. */
#include "collect/doctor/doctor.h"
#include "collect/host.h"
#include "collect/nic.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts the findings of one interface, from the rows of nic_read_state. */
typedef void (*put_fn)(struct doctor *d, const char *rows, const char *name);

enum { TEXT = 128, LATE_US = 100 };

/* Returns the value of a key in the rows of nic_read_state, "SPACE IFINDEX NAME key value". */
static bool doctor_nic_value_of(const char *rows, const char *name, const char *key,
				char value[TEXT])
{
	char *want = xasprintf("\t%s\t%s\t", name, key);
	const char *at = rows ? strstr(rows, want) : NULL;

	if (at) {
		at += strlen(want);
		snprintf(value, TEXT, "%.*s", (int)strcspn(at, "\n"), at);
	}
	free(want);
	return at;
}

static double doctor_nic_number_of(const char *rows, const char *name, const char *key)
{
	char value[TEXT];

	return doctor_nic_value_of(rows, name, key, value) ? strtod(value, NULL) : NAN;
}

static void doctor_nic_put_facts(struct doctor *d, const char *rows, const char *name)
{
	double speed = doctor_nic_number_of(rows, name, "speed_mbps"),
	       mtu = doctor_nic_number_of(rows, name, "mtu");
	double big = doctor_nic_number_of(rows, name, "gro_max_size");
	char driver[TEXT] = "unknown driver", *node;
	char of_node[TEXT] = "", gbps[TEXT] = "";

	doctor_nic_value_of(rows, name, "driver", driver);
	node = host_fact("%s/class/net/%s/device/numa_node", sysfs_root(), name);
	if (node && atoi(node) >= 0)
		snprintf(of_node, sizeof(of_node), ", on NUMA node %s", node);
	if (speed > 0)
		snprintf(gbps, sizeof(gbps), ", %g Gbit/s", speed / 1e3);
	doctor_put(d, name, FINDING_NOTE, NULL, "%s%s, MTU %.0f%s%s", driver, gbps, mtu, of_node,
		   big > 65536 ? ", BIG TCP" : "");
	free(node);
}

/* Puts the offloads that are off and could be on. */
static void doctor_nic_put_offloads(struct doctor *d, const char *rows, const char *name)
{
	static const struct {
		const char *feature, *option, *why;
	} list[] = {
		{"feature:rx-gro", "gro", "each packet goes up the stack alone"},
		{"feature:tx-tcp-segmentation", "tso", "the CPU cuts every send into packets"},
		{"feature:tx-scatter-gather", "sg",
		 "the NIC takes no fragments: MSG_ZEROCOPY and sendfile copy"},
		{"feature:rx-checksum", "rx", "the CPU adds up every received byte"},
	};
	size_t i;

	for (i = 0; i < array_size(list); i++) {
		char *todo;

		if (!(doctor_nic_number_of(rows, name, list[i].feature) ==
		      0)) /* absent: the interface does not have it */
			continue;
		todo = xasprintf("ethtool -K %s %s on", name, list[i].option);
		doctor_put(d, list[i].option, FINDING_PARTLY, todo, "%s: off: %s", name,
			   list[i].why);
		free(todo);
	}
}

static void doctor_nic_put_header_split(struct doctor *d, const char *rows, const char *name)
{
	double split = doctor_nic_number_of(rows, name, "tcp_data_split");
	double thresh = doctor_nic_number_of(rows, name, "hds_thresh");
	char *todo = xasprintf("ethtool -G %s tcp-data-split on hds-thresh 0", name);

	if (isnan(split))
		doctor_put(d, "header split", FINDING_NO, NULL,
			   "%s: its driver reports none, so neither zcrx nor devmem TCP can work",
			   name);
	else if (split < 1)
		doctor_put(d, "header split", FINDING_PARTLY, todo,
			   "%s: off: zcrx and devmem TCP refuse it", name);
	else if (thresh > 0)
		doctor_put(
			d, "header split", FINDING_PARTLY, todo,
			"%s: only packets above %.0f bytes (hds-thresh): zcrx and devmem TCP refuse it",
			name, thresh);
	else
		doctor_put(d, "header split", FINDING_YES, NULL, "%s: on, for every packet", name);
	free(todo);
}

static void doctor_nic_put_queues(struct doctor *d, const char *rows, const char *name)
{
	double n = fmax(doctor_nic_number_of(rows, name, "combined_channels"),
			doctor_nic_number_of(rows, name, "rx_channels"));
	double filter = doctor_nic_number_of(rows, name, "feature:rx-ntuple-filter");
	char *todo = xasprintf("ethtool -K %s ntuple on", name);

	if (filter == 0)
		doctor_put(d, "flow steering", FINDING_PARTLY, todo,
			   "%s: off: flows cannot be steered to the queue that zcrx or devmem uses",
			   name);
	else if (filter > 0)
		doctor_put(d, "flow steering", FINDING_YES, NULL, "%s: ntuple filters are on",
			   name);
	free(todo);
	if (n == 1)
		doctor_put(d, "queues", FINDING_NOTE, NULL,
			   "%s: one; zero copy needs a second queue for itself", name);
	else if (n > 1)
		doctor_put(d, "queues", FINDING_YES, NULL, "%s: %.0f", name, n);
}

/* Puts how long the ring holds packets that nobody fetches, at --rate or at the NIC's own rate. */
static void doctor_nic_put_ring(struct doctor *d, const char *rows, const char *name)
{
	double entries = doctor_nic_number_of(rows, name, "rx_ring"),
	       mtu = doctor_nic_number_of(rows, name, "mtu");
	double most = doctor_nic_number_of(rows, name, "rx_ring_max");
	double gbps =
		d->rate_gbps ? d->rate_gbps : doctor_nic_number_of(rows, name, "speed_mbps") / 1e3;
	double us = entries * mtu * 8 / (gbps * 1e3);
	char *todo = most > entries ? xasprintf("ethtool -G %s rx %.0f", name, most) : NULL;

	if (isfinite(us) && gbps > 0)
		doctor_put(d, "rx ring", us < LATE_US ? FINDING_PARTLY : FINDING_YES,
			   us < LATE_US ? todo : NULL,
			   "%s: %.0f of %.0f entries: %.0f us of full packets at %g Gbit/s%s", name,
			   entries, most, us, gbps,
			   us < LATE_US ? "; a softirq that comes later loses some" : "");
	free(todo);
}

static void doctor_nic_put_one(struct doctor *d, const char *rows, const char *name)
{
	doctor_nic_put_facts(d, rows, name);
	doctor_nic_put_offloads(d, rows, name);
	if (!d->rate_gbps) /* else among the path's */
		doctor_nic_put_ring(d, rows, name);
	doctor_nic_put_queues(d, rows, name);
	doctor_nic_put_header_split(d, rows, name);
}

static void doctor_nic_put_none(struct doctor *d, const struct nic_space *s)
{
	struct str names = {0};
	size_t i;

	if (!d->nic) {
		doctor_put(d, "interfaces", FINDING_NO, NULL, "only loopback is up");
		return;
	}
	for (i = 0; i < s->nports; i++)
		str_printf(&names, "%s%s", i ? ", " : "", s->port[i].name);
	doctor_put(d, "interfaces", FINDING_NO, NULL,
		   "no interface '%s' in this network namespace; there are: %s", d->nic,
		   names.len ? names.buf : "none");
	str_free(&names);
}

bool doctor_any_split(void)
{
	struct nic_space s;
	struct str rows = {0};
	bool found = false;
	size_t i;

	if (nic_space_open(&s, "host"))
		return false;
	nic_read_state(&s, &rows);
	for (i = 0; i < s.nports; i++)
		found |= s.port[i].flags & IFF_UP && !(s.port[i].flags & IFF_LOOPBACK) &&
			 !isnan(doctor_nic_number_of(rows.buf, s.port[i].name, "tcp_data_split"));
	str_free(&rows);
	nic_space_close(&s);
	return found;
}

/* Puts the findings of --nic, or of each interface that is up. */
static size_t doctor_nic_each(struct doctor *d, const struct nic_space *s, const char *rows,
			      put_fn put)
{
	size_t i, n = 0;

	for (i = 0; i < s->nports; i++) {
		const struct nic_port *p = &s->port[i];

		if (d->nic ? strcmp(d->nic, p->name) != 0
			   : !(p->flags & IFF_UP) || p->flags & IFF_LOOPBACK)
			continue;
		put(d, rows, p->name);
		n++;
	}
	return n;
}

static void doctor_nic_put_all(struct doctor *d, put_fn put)
{
	struct nic_space s;
	struct str rows = {0};
	int rc = nic_space_open(&s, "host");

	if (rc) {
		doctor_put(d, "interfaces", FINDING_NO, NULL, "cannot be listed: %s",
			   strerror(-rc));
		return;
	}
	nic_read_state(&s, &rows);
	if (!doctor_nic_each(d, &s, rows.buf, put))
		doctor_nic_put_none(d, &s);
	str_free(&rows);
	nic_space_close(&s);
}

static void doctor_check_nics(struct doctor *d)
{
	doctor_nic_put_all(d, doctor_nic_put_one);
}

const struct check check_nic = {
	.name = "nic",
	.what = "network interfaces: offloads, header split, flow steering, queues, rings",
	.options = DOCTOR_NIC,
	.run = doctor_check_nics,
};

void doctor_put_rings(struct doctor *d)
{
	doctor_nic_put_all(d, doctor_nic_put_ring);
}
