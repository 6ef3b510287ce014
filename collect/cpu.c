// SPDX-License-Identifier: GPL-2.0-only
/* Where CPU time went: idle, user, system, softirq ... per CPU, in clock ticks since boot. */
#include "collect/snapfile.h"

static const char source[] = "/proc/stat";

static int probe(struct collect *c)
{
	return snapfile_probe(c, source);
}

static int take(struct collect *c)
{
	return snapfile_take(c, source);
}

const struct collector collector_cpu = {
	.name = "cpu",
	.what = "CPU time: /proc/stat once a second",
	.files = {"proc_stat.snap"},
	.when = DATED,
	.probe = probe,
	.prepare = snapfile_prepare,
	.start = take,
	.snap = take,
	.stop = take,
	.finish = snapfile_finish,
};
