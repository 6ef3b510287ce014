// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interfaces of the host's network namespace and of the one that the workload lives in: the
 * counters of each interface, its queues and its driver, and, after the window, how it is set up.
 * The net.* sysctls of the workload's namespace are read with the set-up: hooks change them between
 * the runs, and hosts/ has those of the host alone.
 */
#include "collect/nic.h"

#include "collect/host.h"
#include "collect/run/netns.h"
#include "collect/run/reading.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- a space --- */

/* Returns NULL when the kernel has no such family. */
static struct genl *nic_open_family(const char *name)
{
	struct genl *g = xcalloc(1, sizeof(*g));

	if (!genl_open(g, name, NULL))
		return g;
	free(g);
	return NULL;
}

int nic_space_open(struct nic_space *s, const char *name)
{
	int rc;

	*s = (struct nic_space){.name = name};
	s->inet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	s->route = s->inet < 0 ? -errno : rtnl_open();
	rc = s->route < 0 ? s->route : nic_list(s, NULL, NULL);
	if (rc) {
		nic_space_close(s);
		return rc;
	}
	s->netdev = nic_open_family("netdev");
	s->ethtool = nic_open_family("ethtool");
	return 0;
}

static void nic_close_family(struct genl *g)
{
	if (g)
		genl_close(g);
	free(g);
}

void nic_space_close(struct nic_space *s)
{
	size_t i;

	if (!s->name)
		return;
	for (i = 0; i < s->nports; i++)
		free(s->port[i].names);
	free(s->port);
	map_free(&s->said);
	nic_close_family(s->netdev);
	nic_close_family(s->ethtool);
	if (s->route >= 0)
		close(s->route);
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

static int nic_space_read(struct nic_space *s, struct str *text)
{
	int rc = nic_read_links(s, text);

	if (!rc)
		rc = nic_read_queues(s, text);
	if (!rc)
		nic_read_ethtool(s, text);
	return rc;
}

/* --- the collector --- */

struct nic {
	struct netns netns;
	struct nic_space host, workload;
	struct str state, sysctls;
};

static int nic_open_named(struct nic_space *s, const char *name, struct error *err)
{
	int rc = nic_space_open(s, name);

	return rc ? error_sys(err, -rc, "cannot list interfaces by netlink") : 0;
}

static int nic_prepare(struct collect *c)
{
	struct nic *n = xcalloc(1, sizeof(*n));

	c->data = n;
	n->host.inet = n->workload.inet = -1;
	netns_init(&n->netns);
	return nic_open_named(&n->host, "host", &c->err);
}

static int nic_open_workload(void *arg, struct error *err)
{
	return nic_open_named(arg, "workload", err);
}

static int nic_read(struct collect *c)
{
	struct nic *n = c->data;
	int rc;

	netns_enter(&n->netns, c, nic_open_workload, &n->workload);
	rc = nic_space_read(&n->host, &c->reading.text);
	if (!rc && n->workload.inet >= 0)
		rc = nic_space_read(&n->workload, &c->reading.text);
	return rc ? error_sys(&c->err, -rc, "cannot read interfaces by netlink") : 0;
}

/* Throws away the first reading: drivers take longer to name their counters than to read them. */
static int nic_before(struct collect *c)
{
	struct nic *n = c->data;
	int rc = nic_read(c);

	map_free(&n->host.said);
	map_free(&n->workload.said);
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
	bool other = n->netns.fd >= 0;
	struct error err = {0};
	int rc;

	if (other && n->workload.inet < 0)
		return;
	rc = other ? netns_inside(&n->netns, nic_read_sysctls, &n->sysctls, &err)
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
	struct nic *n = c->data;

	collect_write(c, c->is->files[1], &n->state);
	collect_write(c, c->is->files[2], &n->sysctls);
	collect_info_str(c, "netns", n->workload.inet < 0 ? "host" : "host,workload");
	nic_space_close(&n->host);
	nic_space_close(&n->workload);
	netns_close(&n->netns);
	str_free(&n->state);
	str_free(&n->sysctls);
	free(n);
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
