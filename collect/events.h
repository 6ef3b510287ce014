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

#include "collect/pmu.h"
#include "lib/error.h"

#include <linux/perf_event.h>
#include <stddef.h>

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
