// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network stack's own counters, of the namespace that the workload lives in. The number of the
 * namespace stands before them, since a workload may enter its own after the window has opened.
 */
#include "collect/collect.h"

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
