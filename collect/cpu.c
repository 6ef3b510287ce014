// SPDX-License-Identifier: GPL-2.0-only
/* Where CPU time went: idle, user, system, softirq ... per CPU, in clock ticks since boot. */
#include "collect/snapfile.h"

static const char source[] = "/proc/stat";

static int cpu_probe(struct collect *c)
{
	return snapfile_probe(c, source);
}

static int cpu_take(struct collect *c)
{
	return snapfile_take(c, source);
}

const struct collector collector_cpu = {
	.name = "cpu",
	.what = "CPU time: /proc/stat once a second",
	.files = {"proc_stat.snap"},
	.when = DATED,
	.probe = cpu_probe,
	.prepare = snapfile_prepare,
	.start = cpu_take,
	.snap = cpu_take,
	.stop = cpu_take,
	.finish = snapfile_finish,
};
