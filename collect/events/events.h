/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events to count, written as perf has them:
 *
 *   cycles,{instructions,cache-misses},L1-dcache-load-misses:u     names, groups, modifiers
 *   r01c2, cpu/event=0x3c,umask=0x1/, msr/tsc/                     raw codes, events of a PMU
 *   net:napi_poll                                                  tracepoints
 *
 * Events in braces are counted at the same times. Modifiers: u user, k kernel, h hypervisor, H
 * host, G guest.
 */
#ifndef ZC_EVENTS_H
#define ZC_EVENTS_H

#include "lib/cpuset.h"

#include <linux/perf_event.h>
#include <stddef.h>

struct event {
	char *name;	    /* as the user wrote it, with its modifiers */
	unsigned int group; /* counts from 1; events with the same number are one group */
	struct perf_event_attr attr;
	double scale;	 /* 1 where sysfs has none */
	char unit[32];	 /* "" for counts, "ns" for clocks, the unit in sysfs for a PMU's event */
	bool per_socket; /* one of `cpus` counts for each socket */
	bool some_cpus;	 /* only `cpus` can count it */
	struct cpuset cpus;
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

/* --- what this host has --- */

/*
 * Fills an event of a PMU: "pmu/event=0x3c,umask=0x1/", "imc/reads/". `terms` is the text between
 * the slashes. The folder bus/event_source/devices/PMU of sysfs holds type, format/NAME (the bits
 * that a term fills), and events/NAME (terms under a name) with .scale and .unit. A PMU of a socket
 * has cpumask, the CPU that counts for each socket. A PMU of one kind of core has cpus.
 * Returns -ENOENT for an unknown PMU or term, and the error lists the known ones; -EINVAL for a
 * malformed term or a value that does not fit.
 */
int pmu_event_read(struct event *e, const char *pmu, const char *terms, struct error *err);

/* Says whether the PMU has an event of that name. */
bool pmu_has_event(const char *pmu, const char *event);

/*
 * Fills ids[i] with the number of the tracepoint names[i], "system/name". Returns -EACCES with the
 * way out where it is not allowed.
 */
int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err);

/* --- what perf_event_open allows here --- */

/*
 * Checks that these CPUs can be sampled as a whole. Then *event is "cycles", or "cpu-clock" where
 * there is no PMU. Returns -EACCES with the way out where it is not allowed.
 */
int perf_event_choose(const struct cpuset *cpus, const char **event, struct error *err);

/* Returns kernel.perf_event_max_sample_rate, or 0 when it is unknown. */
unsigned int perf_event_max_rate(void);

/*
 * Returns the pages of the ring buffer of each of n CPUs: 16 MiB, or less where all buffers would
 * exceed 512 MiB. Without privileges the limit is small, so perf's own default is used.
 */
unsigned int perf_event_ring_pages(unsigned int n);

/* Returns kernel.perf_event_paranoid, or the kernel's default of 2 when it is unknown. */
int perf_event_paranoid(void);

/*
 * Fills `err` for a perf_event_open that failed with `code`, with what is missing and the way out.
 */
int perf_event_denied(int code, struct error *err);

/* --- counting on CPUs --- */

struct counting {
	int rc;		    /* -errno of an event that is not counted; 0: it is */
	unsigned int group; /* the event's group; 0: it is counted by itself */
	bool leads;	    /* it is switched, and the others of its group with it */
	struct counted {
		unsigned int cpu;
		int fd;
	} * on;
	size_t n, cap;
};

/*
 * Opens an event on those of `cpus` that can count it, switched off: in the group of `leader`,
 * which counts on the same CPUs, or by itself. Returns 0, -ENODEV when none of the CPUs has it,
 * -EINVAL when the hardware does not know the event or cannot count it with the group, or another
 * -errno.
 */
int counting_open(struct counting *c, const struct event *e, const struct cpuset *cpus,
		  const struct counting *leader);
int counting_switch(const struct counting *c, bool on);
void counting_close(struct counting *c);

#endif
