// SPDX-License-Identifier: GPL-2.0-only
/* Collectors that copy files of /proc. */
#include "collect/collect.h"

/* Where CPU time went: idle, user, system, softirq ... per CPU, in clock ticks since boot. */
const struct collector collector_cpu = {
	.name = "cpu",
	.what = "CPU time: /proc/stat once a second",
	.files = {"proc_stat.snap"},
	.sources = {"/proc/stat"},
	.when = DATED,
	.passes = PASS_EVERY,
	.required = PASS_MEASURE,
	.always_due = true,
	SNAPFILE_HOOKS,
};

/* Per-CPU counters of the network softirq: processed, dropped, time squeezed, RPS. */
const struct collector collector_softnet = {
	.name = "softnet",
	.what = "packets per CPU in the network softirq, drops, squeezes",
	.files = {"softnet.snap"},
	.sources = {"/proc/net/softnet_stat"},
	.when = DATED,
	.passes = PASS_EVERY,
	.always_due = true,
	SNAPFILE_HOOKS,
};

/* Which CPU was interrupted by which source, and which softirqs the CPU ran. */
const struct collector collector_irq = {
	.name = "irq",
	.what = "interrupts and softirqs by source and CPU",
	.files = {"irq.snap"},
	.sources = {"/proc/interrupts", "/proc/softirqs"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.before = snapfile_read,
	SNAPFILE_HOOKS,
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
	.when = DATED,
	.passes = PASS_MEASURE,
	.in_netns = true,
	.before = snapfile_read,
	SNAPFILE_HOOKS,
};

const struct collector collector_sockstat = {
	.name = "sockstat",
	.what = "sockets in use, TCP and UDP memory",
	.files = {"sockstat.snap"},
	.sources = {"/proc/thread-self/net/sockstat", "/proc/thread-self/net/sockstat6"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.in_netns = true,
	.before = snapfile_read,
	SNAPFILE_HOOKS,
};
