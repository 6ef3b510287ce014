// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU counters of the network softirq: processed, dropped, time squeezed, RPS. */
#include "collect/snapfile.h"

static const char source[] = "/proc/net/softnet_stat";

static int softnet_probe(struct collect *c)
{
	return snapfile_probe(c, source);
}

static int softnet_take(struct collect *c)
{
	return snapfile_take(c, source);
}

const struct collector collector_softnet = {
	.name = "softnet",
	.what = "packets per CPU in the network softirq, drops, squeezes",
	.files = {"softnet.snap"},
	.when = DATED,
	.probe = softnet_probe,
	.prepare = snapfile_prepare,
	.start = softnet_take,
	.snap = softnet_take,
	.stop = softnet_take,
	.finish = snapfile_finish,
};
