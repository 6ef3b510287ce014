// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLES of plain event names, as perf list has them. */
#include "collect/events.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char events_default[] = "{cycles,instructions},{cache-references,cache-misses},"
			      "{branches,branch-misses},context-switches,cpu-migrations,"
			      "page-faults,cpu-clock";

const char event_names_hint[] =
	"there are cycles instructions cache-misses branch-misses context-switches page-faults and "
	"more by name ('perf list hw sw cache'), L1-dcache-load-misses and the like, r01c2, "
	"pmu/event=0x3c/ and system:tracepoint";

#define HW(name, id)                                             \
	{                                                        \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, "" \
	}
#define SW(name, id, unit)                                         \
	{                                                          \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, unit \
	}

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *unit;
} names[] = {
	HW("cycles", CPU_CYCLES),
	HW("cpu-cycles", CPU_CYCLES),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES),
	HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS),
	HW("branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES),
	HW("ref-cycles", REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HW("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	SW("cpu-clock", CPU_CLOCK, "ns"),
	SW("task-clock", TASK_CLOCK, "ns"),
	SW("page-faults", PAGE_FAULTS, ""),
	SW("faults", PAGE_FAULTS, ""),
	SW("minor-faults", PAGE_FAULTS_MIN, ""),
	SW("major-faults", PAGE_FAULTS_MAJ, ""),
	SW("context-switches", CONTEXT_SWITCHES, ""),
	SW("cs", CONTEXT_SWITCHES, ""),
	SW("cpu-migrations", CPU_MIGRATIONS, ""),
	SW("migrations", CPU_MIGRATIONS, ""),
	SW("alignment-faults", ALIGNMENT_FAULTS, ""),
	SW("emulation-faults", EMULATION_FAULTS, ""),
	SW("cgroup-switches", CGROUP_SWITCHES, ""),
	SW("dummy", DUMMY, ""),
};

/* "L1-dcache-loads", "LLC-store-misses": cache, operation, result. */
static const struct {
	const char *name;
	uint64_t id;
} caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},	{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB},	{"branch", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},
};

static const struct {
	const char *name;
	uint64_t op, result;
} accesses[] = {
	{"loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS},
};

static bool event_set(struct event *e, uint32_t type, uint64_t config, const char *unit)
{
	e->attr.type = type;
	e->attr.config = config;
	snprintf(e->unit, sizeof(e->unit), "%s", unit);
	return true;
}

static bool event_cache_named(struct event *e, const char *name)
{
	size_t c, a, n;

	for (c = 0; c < array_size(caches); c++) {
		n = strlen(caches[c].name);
		if (strncmp(name, caches[c].name, n) || name[n] != '-')
			continue;
		for (a = 0; a < array_size(accesses); a++)
			if (!strcmp(name + n + 1, accesses[a].name))
				return event_set(e, PERF_TYPE_HW_CACHE,
						 caches[c].id | accesses[a].op << 8 |
							 accesses[a].result << 16,
						 "");
	}
	return false;
}

/* "r01c2" */
static bool event_raw_code(struct event *e, const char *name)
{
	size_t n = strlen(name);

	if (*name != 'r' || n < 2 || n > 17 || strspn(name + 1, "0123456789abcdefABCDEF") != n - 1)
		return false;
	return event_set(e, PERF_TYPE_RAW, strtoull(name + 1, NULL, 16), "");
}

bool event_named(struct event *e, const char *name)
{
	size_t i;

	for (i = 0; i < array_size(names); i++)
		if (!strcmp(names[i].name, name))
			return event_set(e, names[i].type, names[i].config, names[i].unit);
	return event_cache_named(e, name) || event_raw_code(e, name);
}
