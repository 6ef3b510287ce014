// SPDX-License-Identifier: GPL-2.0-only
/* Which CPU was interrupted by which source, and which softirqs the CPU ran. */
#include "collect/collect.h"

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
