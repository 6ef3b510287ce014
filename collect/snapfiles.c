// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectors that copy files of /proc, c->is->sources, one behind the other. The first
 * source must be there; the others are left out where the kernel does not have them. A collector
 * with `in_netns` names its sources below /proc/thread-self/net: they are read in the network
 * namespace that the workload lives in, and a line "netns <inode>" stands before them. `read` also
 * serves as `before`: the first reading takes longer than the later ones, so it is thrown away.
 */
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { PIECE = 32768 };

/* Adds all of an open file of /proc or /sys, read from its start. Returns 0 or -errno. */
static int reading_add(struct reading *r, int fd)
{
	char piece[PIECE];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, piece, sizeof(piece), at)) > 0) {
		str_add(&r->text, piece, (size_t)n);
		at += n;
	}
	return n < 0 ? -errno : 0;
}

struct snapfile {
	const char *const *sources;
	int fd[COLLECT_SOURCES]; /* -1 if not open */
};

static int snapfile_probe(struct collect *c)
{
	const char *source = c->is->sources[0];

	return access(source, R_OK) ? error_sys(&c->err, errno, "%s: cannot read", source) : 0;
}

static void snapfile_close_sources(struct snapfile *s)
{
	for (size_t i = 0; i < COLLECT_SOURCES; i++)
		fd_close(&s->fd[i]);
}

static int snapfile_open_sources(void *arg, struct error *err)
{
	struct snapfile *s = arg;

	snapfile_close_sources(s);
	for (size_t i = 0; i < COLLECT_SOURCES && s->sources[i]; i++) {
		s->fd[i] = open(s->sources[i], O_RDONLY | O_CLOEXEC);
		if (s->fd[i] < 0 && error_of_machine(errno)) /* others may be missing */
			return error_sys(err, errno, "%s: cannot open", s->sources[i]);
	}
	return 0;
}

static int snapfile_prepare(struct collect *c)
{
	struct snapfile *s = c->data = xcalloc(1, sizeof(*s));

	s->sources = c->is->sources;
	for (size_t i = 0; i < COLLECT_SOURCES; i++)
		s->fd[i] = -1;
	return snapfile_open_sources(s, &c->err);
}

static int snapfile_read(struct collect *c)
{
	struct snapfile *s = c->data;
	int rc;

	if (c->is->in_netns) {
		netns_enter(c, snapfile_open_sources, s);
		str_printf(&c->reading.text, "netns %" PRIu64 "\n", c->netns.id);
	}
	for (size_t i = 0; i < COLLECT_SOURCES && s->sources[i]; i++) {
		rc = s->fd[i] < 0 ? 0 : reading_add(&c->reading, s->fd[i]);
		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot read", s->sources[i]);
	}
	return 0;
}

static void snapfile_finish(struct collect *c)
{
	autofree struct snapfile *s = c->data;

	if (c->is->in_netns)
		collect_info_str(c, "netns", c->netns.fd ? "workload" : "host");
	snapfile_close_sources(s);
}

#define SNAPFILE                                                             \
	.when = DATED, .probe = snapfile_probe, .prepare = snapfile_prepare, \
	.read = snapfile_read, .finish = snapfile_finish

/* Where CPU time went: idle, user, system, softirq ... per CPU, in clock ticks since boot. */
const struct collector collector_cpu = {
	.name = "cpu",
	.what = "CPU time: /proc/stat once a second",
	.files = {"proc_stat.snap"},
	.sources = {"/proc/stat"},
	.passes = PASS_EVERY,
	.required = PASS_MEASURE,
	.always_due = true,
	SNAPFILE,
};

/* Per-CPU counters of the network softirq: processed, dropped, time squeezed, RPS. */
const struct collector collector_softnet = {
	.name = "softnet",
	.what = "packets per CPU in the network softirq, drops, squeezes",
	.files = {"softnet.snap"},
	.sources = {"/proc/net/softnet_stat"},
	.passes = PASS_EVERY,
	.always_due = true,
	SNAPFILE,
};

/* Which CPU was interrupted by which source, and which softirqs the CPU ran. */
const struct collector collector_irq = {
	.name = "irq",
	.what = "interrupts and softirqs by source and CPU",
	.files = {"irq.snap"},
	.sources = {"/proc/interrupts", "/proc/softirqs"},
	.passes = PASS_MEASURE,
	.before = snapfile_read,
	SNAPFILE,
};

/*
 * The network stack's own counters, of the namespace that the workload lives in. The number of the
 * namespace stands before them, since a workload may enter its own after the window has opened.
 */
const struct collector collector_snmp = {
	.name = "snmp",
	.what = "the network stack's counters: IP, TCP, UDP, as nstat has them",
	.files = {"snmp.snap"},
	.sources = {"/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat",
		    "/proc/thread-self/net/snmp6"},
	.passes = PASS_MEASURE,
	.in_netns = true,
	.before = snapfile_read,
	SNAPFILE,
};

const struct collector collector_sockstat = {
	.name = "sockstat",
	.what = "sockets in use, TCP and UDP memory",
	.files = {"sockstat.snap"},
	.sources = {"/proc/thread-self/net/sockstat", "/proc/thread-self/net/sockstat6"},
	.passes = PASS_MEASURE,
	.in_netns = true,
	.before = snapfile_read,
	SNAPFILE,
};
