// SPDX-License-Identifier: GPL-2.0-only
/* Sockets in use and their memory, in the namespace that the workload lives in. */
#include "collect/collect.h"

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
