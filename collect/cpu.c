// SPDX-License-Identifier: GPL-2.0-only
/* Where CPU time went: idle, user, system, softirq ... per CPU, in clock ticks since boot. */
#include "collect/collect.h"

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
