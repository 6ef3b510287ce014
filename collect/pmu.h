/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a PMU by its description in sysfs, as perf has them: "pmu/event=0x3c,umask=0x1/",
 * "power/energy-pkg/". devices/PMU below bus/event_source holds type, format/NAME (which bits of
 * which word a term fills), events/NAME (terms under a name) with .scale and .unit, and, for what
 * belongs to a socket, cpumask: the CPU to ask in each; for one kind of core, cpus.
 */
#ifndef ZC_PMU_H
#define ZC_PMU_H

#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct pmu_event {
	uint32_t type;
	uint64_t config[4]; /* config, config1, config2, config3 */
	double scale;	    /* 1 where there is none */
	char unit[32];	    /* "" where there is none */
	bool per_socket;    /* cpus is a cpumask: one CPU speaks for many */
	bool some_cpus;	    /* cpus is what the PMU has; else any CPU will do */
	struct cpuset cpus;
};

/* /sys, or what ZCOST_SYSFS says instead, for tests. */
const char *sysfs_root(void);

/*
 * `terms` as between the slashes. -ENOENT: no such PMU, or term; the error lists those there are.
 * -EINVAL: a term that is not one, or a value that does not fit.
 */
int pmu_event_read(struct pmu_event *e, const char *pmu, const char *terms, struct error *err);

/* Does the PMU have a named event? */
bool pmu_has_event(const char *pmu, const char *event);

#endif
