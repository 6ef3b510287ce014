// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event counts of the side's CPUs over the window, as the kernel gives them: with the time each
 * event was wanted and the time it had a hardware counter, nothing scaled. An event this host does
 * not have is no row.
 */
#include "collect/collect.h"
#include "collect/libperf.h"
#include "collect/perf_event.h"
#include "collect/run.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <perf/cpumap.h>
#include <perf/evsel.h>
#include <stdlib.h>

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
};

struct counters {
	struct perf_cpu_map *cpus;
	struct perf_evsel *evsel[array_size(events)]; /* NULL: not here */
	struct str rows;
};

static int open_event(struct counters *k, size_t i)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = events[i].type,
		.config = events[i].config,
		.disabled = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	struct perf_evsel *evsel = perf_evsel__new(&attr);
	int rc = evsel ? perf_evsel__open(evsel, k->cpus, NULL) : -ENOMEM;

	if (!rc) {
		k->evsel[i] = evsel;
		return 0;
	}
	if (evsel) {
		perf_evsel__close(evsel);
		perf_evsel__delete(evsel);
	}
	return rc;
}

static int prepare(struct collect *c)
{
	struct counters *k = c->data = xcalloc(1, sizeof(*k));
	char *cpus = cpuset_format(&c->run->cpus);
	struct str missing = {0};
	size_t i, n = 0;
	int rc = 0;

	libperf_quiet();
	k->cpus = perf_cpu_map__new(cpus);
	free(cpus);
	for (i = 0; i < array_size(events); i++) {
		int e = open_event(k, i);

		n += !e;
		if (!e)
			continue;
		rc = e;
		str_printf(&missing, "%s%s", missing.len ? ", " : "", events[i].name);
	}
	if (n && missing.len)
		collect_why(c, "not on this host: %s", missing.buf);
	str_free(&missing);
	return n ? 0 : perf_event_denied(-rc, &c->err);
}

static int start(struct collect *c)
{
	struct counters *k = c->data;
	size_t i;

	for (i = 0; i < array_size(events); i++)
		if (k->evsel[i] && perf_evsel__enable(k->evsel[i]))
			return error_sys(&c->err, errno, "%s: cannot be switched on",
					 events[i].name);
	return 0;
}

static int read_event(struct collect *c, struct counters *k, size_t i)
{
	struct perf_counts_values v;
	int idx, rc;

	perf_cpu_map__for_each_idx(idx, k->cpus)
	{
		rc = perf_evsel__read(k->evsel[i], idx, 0, &v);
		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot be read", events[i].name);
		str_printf(&k->rows, "%s\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
			   events[i].name, perf_cpu_map__cpu(k->cpus, idx).cpu, v.val, v.ena,
			   v.run);
	}
	return 0;
}

/* All off first: reading takes longer. */
static int stop(struct collect *c)
{
	struct counters *k = c->data;
	size_t i;

	for (i = array_size(events); i--;)
		if (k->evsel[i])
			perf_evsel__disable(k->evsel[i]);
	str_puts(&k->rows, "event\tcpu\tvalue\tenabled_ns\trunning_ns\n");
	for (i = 0; i < array_size(events); i++)
		if (k->evsel[i] && read_event(c, k, i))
			return -c->err.code;
	return 0;
}

static void finish(struct collect *c)
{
	struct counters *k = c->data;
	char *path = collect_path(c, "counters.tsv");
	struct error err = {0};
	size_t i;

	if (k->rows.len && file_write(path, k->rows.buf, k->rows.len, &err))
		collect_degraded(c, "%s", err.text);
	for (i = 0; i < array_size(events); i++) {
		if (!k->evsel[i])
			continue;
		perf_evsel__close(k->evsel[i]);
		perf_evsel__delete(k->evsel[i]);
	}
	perf_cpu_map__put(k->cpus);
	str_free(&k->rows);
	free(path);
	free(k);
}

const struct collector collector_counters = {
	.name = "counters",
	.what = "cycles, instructions, cache, context switches per CPU",
	.files = {"counters.tsv"},
	.prepare = prepare,
	.start = start,
	.stop = stop,
	.finish = finish,
};
