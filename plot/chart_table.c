// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of charts. A new chart is one file, a row here, and a test. */
#include "plot/chart_all.h"

#include "lib/alloc.h"

#include <string.h>

#define ANY "base new variant from to "

static const struct chart charts[] = {
	{"throughput", "throughput of each variant", 24, chart_throughput, {ANY}},
	{"cpu",
	 "CPU use of both sides, stacked: user, system, softirq",
	 8,
	 chart_cpu,
	 {ANY "side"}},
	{"components",
	 "ns per KiB of both sides, stacked by component",
	 8,
	 chart_components,
	 {ANY "side"}},
	{"functions",
	 "the receiver's top functions, base against new",
	 8,
	 chart_functions,
	 {ANY "side limit"}},
	{"functions_sender",
	 "the sender's top functions, base against new",
	 8,
	 chart_functions_sender,
	 {ANY "limit"}},
	{"waterfall",
	 "the receiver's cost from base to new, component by component",
	 2,
	 chart_waterfall,
	 {ANY "side limit"}},
	{"waterfall_sender", "the sender's", 2, chart_waterfall_sender, {ANY "limit"}},
	{"roi_c",
	 "throughput squared for CPU use: receiver, sender, total",
	 8,
	 chart_roi_c,
	 {ANY "side roi-n"}},
	{"roi_p",
	 "throughput squared for power, where power is known",
	 8,
	 chart_roi_p,
	 {ANY OPT_MODEL "side roi-n roi-m"}},
};

const struct chart *chart_at(size_t i)
{
	return i < array_size(charts) ? &charts[i] : NULL;
}

const struct chart *chart_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(charts); i++)
		if (!strcmp(charts[i].name, name))
			return &charts[i];
	return NULL;
}
