// SPDX-License-Identifier: GPL-2.0-only
/*
 * RAPL's counters through perf: power/energy-pkg/ and its like, in units that sysfs tells, one CPU
 * asked in each socket. They are those of powercap, whose domains give them their names here.
 */
#include "collect/power.h"

#include "collect/libperf.h"
#include "collect/perf_event.h"
#include "collect/pmu.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <perf/cpumap.h>
#include <perf/evsel.h>
#include <stdlib.h>
#include <string.h>

static const char pmu[] = "power";

/* THE TABLE of its events; %d: the socket. */
static const struct {
	const char *event, *domain;
} events[] = {
	{"energy-pkg", "package-%d"},
	{"energy-cores", "package-%d/core"},
	{"energy-gpu", "package-%d/uncore"},
	{"energy-ram", "package-%d/dram"},
	{"energy-psys", "psys"},
};

static int power_perf_socket(unsigned int cpu)
{
	char *path = xasprintf("%s/devices/system/cpu/cpu%u/topology/physical_package_id",
			       sysfs_root(), cpu);
	char *text = NULL;
	int socket = 0;

	if (!file_read(path, &text, NULL, NULL))
		socket = atoi(text);
	free(text);
	free(path);
	return socket < 0 ? 0 : socket;
}

static int power_perf_open_on(const struct pmu_event *e, unsigned int cpu,
			      struct perf_evsel **evsel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config[0],
		.config1 = e->config[1],
		.config2 = e->config[2],
	};
	char number[16];
	struct perf_cpu_map *map;
	int rc;

	snprintf(number, sizeof(number), "%u", cpu);
	map = perf_cpu_map__new(number);
	*evsel = perf_evsel__new(&attr);
	rc = map && *evsel ? perf_evsel__open(*evsel, map, NULL) : -ENOMEM;
	perf_cpu_map__put(map);
	if (rc && *evsel)
		perf_evsel__delete(*evsel);
	return rc;
}

static char *power_perf_domain_name(const char *pattern, unsigned int cpu)
{
	const char *mark = strstr(pattern, "%d");

	if (!mark)
		return xstrdup(pattern);
	return xasprintf("%.*s%d%s", (int)(mark - pattern), pattern, power_perf_socket(cpu),
			 mark + 2);
}

/* Microjoules of one count; 0: it does not count joules. */
static double power_perf_unit(const struct pmu_event *e)
{
	if (!(e->scale > 0) || !isfinite(e->scale) || strcasecmp(e->unit, "Joules"))
		return 0;
	return e->scale * 1e6;
}

static void power_perf_add(struct power_domains *list, const char *pattern,
			   const struct pmu_event *e, unsigned int cpu)
{
	struct perf_evsel *evsel;
	int rc = power_perf_open_on(e, cpu, &evsel);

	if (rc) {
		if (rc == -EACCES || rc == -EPERM)
			list->denied = -rc;
		return;
	}
	array_grow(list->d, list->n, list->cap);
	list->d[list->n++] = (struct power_domain){.source = "perf",
						   .name = power_perf_domain_name(pattern, cpu),
						   .fd = -1,
						   .energy = true,
						   .evsel = evsel,
						   .scale = power_perf_unit(e)};
}

void power_find_perf(struct power_domains *list)
{
	struct pmu_event e;
	unsigned int cpu;
	size_t i;

	libperf_quiet();
	for (i = 0; i < array_size(events); i++) {
		if (!pmu_has_event(pmu, events[i].event) ||
		    pmu_event_read(&e, pmu, events[i].event, NULL) || !(power_perf_unit(&e) > 0))
			continue;
		if (!e.some_cpus)
			cpuset_add(&e.cpus, 0);
		for (cpu = 0; cpu < CPUSET_MAX; cpu++)
			if (cpuset_has(&e.cpus, cpu))
				power_perf_add(list, events[i].domain, &e, cpu);
	}
}

/* A CPU that goes offline takes its event along: then there is nothing to read. */
int power_read_perf(const struct power_domain *d, uint64_t *microjoules)
{
	struct perf_counts_values v;

	errno = ENODEV; /* nothing read leaves it as it is */
	if (perf_evsel__read(d->evsel, 0, 0, &v))
		return -errno;
	*microjoules = (uint64_t)((double)v.val * d->scale);
	return 0;
}

void power_close_perf(struct power_domain *d)
{
	if (!d->evsel)
		return;
	perf_evsel__close(d->evsel);
	perf_evsel__delete(d->evsel);
}
