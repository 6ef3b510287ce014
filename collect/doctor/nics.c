// SPDX-License-Identifier: GPL-2.0-only
/* Network interfaces: what a fast or zero-copy transfer needs. */
#include "collect/doctor/doctor.h"
#include "collect/nic.h"
#include "lib/alloc.h"

#include <math.h>

enum { LATE_US = 100 };

/* One interface, and the rows of all of them: "SPACE IFINDEX NAME key value" (nic_read_state). */
struct port {
	const char *rows, *name;
};

/* Returns the value of a key of the interface, which the caller frees, or NULL. */
static char *port_text(const struct port *p, const char *key)
{
	autofree char *want = xasprintf("\t%s\t%s\t", p->name, key);
	const char *at = p->rows ? strstr(p->rows, want) : NULL;

	at = at ? at + strlen(want) : NULL;
	return at ? xstrndup(at, strcspn(at, "\n")) : NULL;
}

static double port_number(const struct port *p, const char *key)
{
	autofree char *text = port_text(p, key);

	return text ? strtod(text, NULL) : NAN;
}

static void port_put_facts(struct doctor *d, const struct port *p)
{
	autofree char *driver = port_text(p, "driver");
	double speed = port_number(p, "speed_mbps");
	freed(str_free) struct str why = {0};

	str_puts(&why, driver ? driver : "unknown driver");
	if (speed > 0)
		str_printf(&why, ", %g Gbit/s", speed / 1e3);
	doctor_put(d, p->name, STATE_NOTE, NULL, "%s, MTU %.0f", why.buf, port_number(p, "mtu"));
}

/* Puts the offloads that are off and could be on. */
static void port_put_offloads(struct doctor *d, const struct port *p)
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

	for (size_t i = 0; i < array_size(list); i++) {
		autofree char *todo = xasprintf("ethtool -K %s %s on", p->name, list[i].option);

		if (port_number(p, list[i].feature) == 0) /* NAN: the interface does not have it */
			doctor_put(d, list[i].option, STATE_PARTLY, todo, "%s: off: %s", p->name,
				   list[i].why);
	}
}

static void port_put_header_split(struct doctor *d, const struct port *p)
{
	double split = port_number(p, "tcp_data_split"), thresh = port_number(p, "hds_thresh");
	autofree char *todo = xasprintf("ethtool -G %s tcp-data-split on%s", p->name,
					isnan(thresh) ? "" : " hds-thresh 0");

	if (isnan(split))
		doctor_put(d, "header split", STATE_NO, NULL,
			   "%s: its driver reports none, so neither zcrx nor devmem TCP can work",
			   p->name);
	else if (split < 1)
		doctor_put(d, "header split", STATE_PARTLY, todo,
			   "%s: off: zcrx and devmem TCP refuse it", p->name);
	else if (thresh > 0)
		doctor_put(
			d, "header split", STATE_PARTLY, todo,
			"%s: only packets above %.0f bytes (hds-thresh): zcrx and devmem TCP refuse it",
			p->name, thresh);
	else
		doctor_put(d, "header split", STATE_YES, NULL, "%s: on, for every packet", p->name);
}

static void port_put_queues(struct doctor *d, const struct port *p)
{
	double n = fmax(port_number(p, "combined_channels"), port_number(p, "rx_channels"));
	double filter = port_number(p, "feature:rx-ntuple-filter");
	autofree char *todo = xasprintf("ethtool -K %s ntuple on", p->name);

	if (filter == 0)
		doctor_put(d, "flow steering", STATE_PARTLY, todo,
			   "%s: off: flows cannot be steered to the queue that zcrx or devmem uses",
			   p->name);
	else if (filter > 0)
		doctor_put(d, "flow steering", STATE_YES, NULL, "%s: ntuple filters are on",
			   p->name);
	if (n == 1)
		doctor_put(d, "queues", STATE_NOTE, NULL,
			   "%s: one; zero copy needs a second queue for itself", p->name);
	else if (n > 1)
		doctor_put(d, "queues", STATE_YES, NULL, "%s: %.0f", p->name, n);
}

/* Puts how long the ring holds packets that nobody fetches, at --rate or at the NIC's own rate. */
static void port_put_ring(struct doctor *d, const struct port *p)
{
	double entries = port_number(p, "rx_ring"), most = port_number(p, "rx_ring_max");
	double gbps = d->rate_gbps ? d->rate_gbps : port_number(p, "speed_mbps") / 1e3;
	double us = entries * port_number(p, "mtu") * 8 / (gbps * 1e3);
	bool late = us < LATE_US;
	autofree char *todo =
		late && most > entries ? xasprintf("ethtool -G %s rx %.0f", p->name, most) : NULL;

	if (isfinite(us) && gbps > 0)
		doctor_put(d, "rx ring", late ? STATE_PARTLY : STATE_YES, todo,
			   "%s: %.0f of %.0f entries: %.0f us of full packets at %g Gbit/s%s",
			   p->name, entries, most, us, gbps,
			   late ? "; a softirq that comes later loses some" : "");
}

static void port_put_all(struct doctor *d, const struct port *p)
{
	port_put_facts(d, p);
	port_put_offloads(d, p);
	if (!d->rate_gbps) /* else among the path's */
		port_put_ring(d, p);
	port_put_queues(d, p);
	port_put_header_split(d, p);
}

/* --- all interfaces --- */

static void doctor_put_no_nic(struct doctor *d, const struct nic_space *s)
{
	freed(str_free) struct str names = {0};

	for (size_t i = 0; i < s->nports; i++)
		str_item(&names, !i, false, s->port[i].name);
	if (d->nic)
		doctor_put(d, "interfaces", STATE_NO, NULL,
			   "no interface '%s' in this network namespace; there are: %s", d->nic,
			   names.len ? names.buf : "none");
	else
		doctor_put(d, "interfaces", STATE_NO, NULL, "only loopback is up");
}

/*
 * Puts the findings of --nic, or of each interface that is up. Returns false when there is none.
 */
static bool doctor_nic_each(struct doctor *d, void (*put)(struct doctor *d, const struct port *p))
{
	freed(nic_space_close) struct nic_space s;
	freed(str_free) struct str rows = {0};
	int rc = nic_space_open(&s, "host", NULL);
	bool any = false;

	if (rc) {
		doctor_put(d, "interfaces", STATE_NO, NULL, "cannot be listed: %s", strerror(-rc));
		return false;
	}
	nic_read_state(&s, &rows);
	for (size_t i = 0; i < s.nports; i++) {
		const struct nic_port *p = &s.port[i];

		if (d->nic ? strcmp(d->nic, p->name) != 0
			   : !(p->flags & IFF_UP) || p->flags & IFF_LOOPBACK)
			continue;
		put(d, &(struct port){rows.buf, p->name});
		any = true;
	}
	if (!any)
		doctor_put_no_nic(d, &s);
	return any;
}

static void port_find_split(struct doctor *d, const struct port *p)
{
	d->split |= !isnan(port_number(p, "tcp_data_split"));
}

void doctor_put_split(struct doctor *d)
{
	d->split = false;
	if (doctor_nic_each(d, port_find_split) && !d->split)
		doctor_put(
			d, "interfaces", STATE_NO, NULL,
			"no driver of an interface that is up reports header split, so no packet can be received this way (doctor nic)");
}

void doctor_check_nic(struct doctor *d)
{
	doctor_nic_each(d, port_put_all);
}

void doctor_put_rings(struct doctor *d)
{
	doctor_nic_each(d, port_put_ring);
}
