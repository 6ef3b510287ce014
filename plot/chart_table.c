// SPDX-License-Identifier: GPL-2.0-only
/* The list of charts. A new chart is one file, a row here, and a test. */
#include "plot/chart.h"

#include "lib/alloc.h"

#include <string.h>

// clang-format off
#define CHARTS(row) \
	row(throughput) \
	row(cpu) \
	row(components) \
	row(functions) \
	row(functions_sender) \
	row(waterfall) \
	row(waterfall_sender) \
	row(syscalls) \
	row(timeline) \
	row(sweep) \
	row(sizes) \
	row(latency) \
	row(idle) \
	row(counters) \
	row(roi_c) \
	row(roi_p) \
	row(flame) \
	row(flame_diff)
// clang-format on

#define DECLARATION(name) extern const struct chart chart_##name;
#define ADDRESS(name)	  &chart_##name,

CHARTS(DECLARATION)
static const struct chart *const charts[] = {CHARTS(ADDRESS)};

const struct chart *chart_at(size_t i)
{
	return i < array_size(charts) ? charts[i] : NULL;
}

const struct chart *chart_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(charts); i++)
		if (!strcmp(charts[i]->name, name))
			return charts[i];
	return NULL;
}
