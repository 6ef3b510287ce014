// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network stack's own counters, of the namespace that the workload lives in: /proc/net/snmp,
 * netstat and snmp6 behind each other, and before them the number of the namespace, since a
 * workload may enter its own after the window has opened.
 */
#include "collect/run/netns.h"
#include "collect/run/reading.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const sources[] = {"/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat",
				      "/proc/thread-self/net/snmp6"}; /* none without IPv6 */

struct snmp {
	struct reading reading;
	struct netns netns;
	int fd[array_size(sources)]; /* -1: none */
};

static int snmp_probe(struct collect *c)
{
	return access(sources[0], R_OK) ? error_sys(&c->err, errno, "%s: cannot read", sources[0])
					: 0;
}

static void snmp_close_all(struct snmp *s)
{
	size_t i;

	for (i = 0; i < array_size(sources); i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = -1;
	}
}

static int snmp_open_all(void *arg)
{
	struct snmp *s = arg;
	size_t i;

	snmp_close_all(s);
	for (i = 0; i < array_size(sources); i++)
		s->fd[i] = open(sources[i], O_RDONLY | O_CLOEXEC);
	return 0;
}

static int snmp_prepare(struct collect *c)
{
	struct snmp *s = xcalloc(1, sizeof(*s));

	c->data = s;
	s->fd[0] = s->fd[1] = s->fd[2] = -1;
	netns_init(&s->netns);
	snmp_open_all(s);
	return reading_open(&s->reading, c, c->is->files[0]);
}

static void snmp_follow(struct collect *c, struct snmp *s)
{
	struct error err = {0};

	if (netns_follow(&s->netns, c->run->pid) && netns_inside(&s->netns, snmp_open_all, s, &err))
		collect_degraded(c, "%s", err.text);
	if (s->netns.others)
		collect_degraded(c, "the workload's processes are in several network namespaces: "
				    "only the first is read");
}

static int snmp_read_all(struct collect *c, struct snmp *s)
{
	size_t i;
	int rc;

	snmp_follow(c, s);
	str_printf(&s->reading.text, "netns %" PRIu64 "\n", s->netns.id);
	for (i = 0; i < array_size(sources); i++) {
		rc = s->fd[i] < 0 ? 0 : reading_add(&s->reading, s->fd[i]);
		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot read", sources[i]);
	}
	return 0;
}

/* Finds the namespace, and reads for nothing, so that the window's start costs no more than later.
 */
static int snmp_before(struct collect *c)
{
	return snmp_read_all(c, c->data);
}

static int snmp_take(struct collect *c, bool must)
{
	struct snmp *s = c->data;
	int rc;

	if (!reading_begin(&s->reading, must))
		return 0;
	rc = snmp_read_all(c, s);
	return rc ? rc : reading_end(&s->reading, &c->err);
}

static int snmp_take_end(struct collect *c)
{
	return snmp_take(c, true);
}

static int snmp_take_between(struct collect *c)
{
	return snmp_take(c, false);
}

static void snmp_finish(struct collect *c)
{
	struct snmp *s = c->data;

	collect_info_str(c, "netns", s->netns.fd < 0 ? "host" : "workload");
	reading_close(&s->reading, c);
	snmp_close_all(s);
	netns_close(&s->netns);
	free(s);
}

const struct collector collector_snmp = {
	.name = "snmp",
	.what = "the network stack's counters: IP, TCP, UDP, as nstat has them",
	.files = {"snmp.snap"},
	.when = DATED,
	.probe = snmp_probe,
	.prepare = snmp_prepare,
	.before = snmp_before,
	.start = snmp_take_end,
	.snap = snmp_take_between,
	.stop = snmp_take_end,
	.finish = snmp_finish,
};
