/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events to count, written as perf has them:
 *
 *   cycles,{instructions,cache-misses},L1-dcache-load-misses:u     names, groups, modifiers
 *   r01c2, cpu/event=0x3c,umask=0x1/, msr/tsc/                     raw codes, events of a PMU
 *   net:napi_poll                                                  tracepoints
 *
 * Events in braces are counted at the same times. Modifiers: u user, k kernel, h hypervisor, H
 * host, G guest; those of a group hold for all in it.
 */
#ifndef ZC_EVENTS_H
#define ZC_EVENTS_H

#include "lib/cpuset.h"
#include "lib/error.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Events of a PMU, by its description in sysfs, written as for perf: "pmu/event=0x3c,umask=0x1/",
 * "power/energy-pkg/". The folder bus/event_source/devices/PMU holds type, format/NAME (the bits
 * that a term fills), and events/NAME (terms under a name) with .scale and .unit. A PMU of a socket
 * has cpumask, the CPU that counts for each socket. A PMU of one kind of core has cpus.
 */

struct pmu_event {
	uint32_t type;
	uint64_t config[4]; /* config, config1, config2, config3 */
	double scale;	    /* 1 when sysfs has none */
	char unit[32];	    /* "" when sysfs has none */
	bool per_socket;    /* cpus is a cpumask: one CPU counts for its socket */
	bool some_cpus;	    /* only `cpus` can count it; else every CPU can */
	struct cpuset cpus;
};

/*
 * Reads an event. `terms` is the text between the slashes. Returns -ENOENT for an unknown PMU or
 * term, and the error lists the known ones; -EINVAL for a malformed term or a value that does not
 * fit.
 */
int pmu_event_read(struct pmu_event *e, const char *pmu, const char *terms, struct error *err);

/* Says whether the PMU has an event of that name. */
bool pmu_has_event(const char *pmu, const char *event);

/*
 * Numbers of tracepoints, from tracefs where it is mounted. Elsewhere a child mounts tracefs in its
 * own mount namespace, which ends with the child, so no other process sees the mount.
 */

/*
 * Fills ids[i] with the number of the tracepoint names[i], "system/name". Returns -EACCES with the
 * way out where it is not allowed.
 */
int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err);

struct event {
	char *name;	    /* as the user wrote it, with its modifiers */
	unsigned int group; /* from 1 on; events with the same number are one group */
	struct perf_event_attr attr;
	double scale;
	char unit[32]; /* "" for counts, "ns" for clocks, the unit in sysfs for a PMU's event */
	bool per_socket, some_cpus;
	struct cpuset cpus; /* with some_cpus: the only CPUs that can count it */
};

struct event_list {
	struct event *e;
	size_t n, cap;
};

/* The events that are counted when the user names none. */
extern const char events_default[];

/*
 * Checks how the events are written. This host need not have them. Returns -EINVAL with what is
 * wrong, and where.
 */
int event_list_check(const char *text, struct error *err);

/*
 * Reads the events for this host. Returns -EINVAL, or -ENOENT for a PMU or tracepoint that the host
 * does not have.
 */
int event_list_read(struct event_list *list, const char *text, struct error *err);
void event_list_free(struct event_list *list);

#endif
