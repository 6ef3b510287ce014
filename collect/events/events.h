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
 * Events of a PMU by its description in sysfs, as perf has them: "pmu/event=0x3c,umask=0x1/",
 * "power/energy-pkg/". devices/PMU below bus/event_source holds type, format/NAME (which bits of
 * which word a term fills), events/NAME (terms under a name) with .scale and .unit, and, for what
 * belongs to a socket, cpumask: the CPU to ask in each; for one kind of core, cpus.
 */

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

/*
 * Numbers of tracepoints. tracefs is read where it is mounted; else a child mounts it in a mount
 * namespace of its own, which ends with the child: nothing stays behind and nobody sees it.
 */

/* ids[i] of "system/name" in names[i]. -EACCES with the way out where it is not allowed. */
int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err);

struct event {
	char *name;	    /* as given, with its modifiers */
	unsigned int group; /* from 1 on; events of one number belong together */
	struct perf_event_attr attr;
	double scale;
	char unit[32]; /* "" for counts, "ns" for clocks, what sysfs says for a PMU's */
	bool per_socket, some_cpus;
	struct cpuset cpus; /* where some_cpus: the only ones that can be asked */
};

struct event_list {
	struct event *e;
	size_t n, cap;
};

/* What is counted unless told otherwise. */
extern const char events_default[];

/*
 * Are they written well? This host need not have them. -EINVAL: what is wrong, where.
 */
int event_list_check(const char *text, struct error *err);

/* All of them on this host. -EINVAL, or -ENOENT for a PMU or tracepoint that it does not have. */
int event_list_read(struct event_list *list, const char *text, struct error *err);
void event_list_free(struct event_list *list);

/* events_names.c: type, config and unit of a plain name, r1a8 included. False: there is none. */
bool event_named(struct event *e, const char *name);
/* For messages: the common ones. */
extern const char event_names_hint[];

#endif
