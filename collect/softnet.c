// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU counters of the network softirq: processed, dropped, time squeezed, RPS. */
#include "collect/collect.h"

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
