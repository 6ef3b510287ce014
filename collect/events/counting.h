/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that count on CPUs, in groups, through libperf. */
#ifndef ZC_COUNTING_H
#define ZC_COUNTING_H

#include "collect/events/events.h"
#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What perf_event_open allows on this host. */

/*
 * Checks that these CPUs can be sampled as a whole. Then *event is "cycles", or "cpu-clock" where
 * there is no PMU. Returns -EACCES with the way out where it is not allowed.
 */
int perf_event_choose(const struct cpuset *cpus, const char **event, struct error *err);

/* Returns kernel.perf_event_max_sample_rate, or 0 when it is unknown. */
unsigned int perf_event_max_rate(void);

/* Returns kernel.perf_event_paranoid, or the kernel's default of 2 when it is unknown. */
int perf_event_paranoid(void);

/*
 * Fills `err` for a perf_event_open that failed with `code`, with what is missing and the way out.
 */
int perf_event_denied(int code, struct error *err);

/* Stops libperf from printing debug messages. */

void libperf_quiet(void);

struct perf_evsel;
struct perf_cpu_map;

struct counting {
	enum { NOT_SUPPORTED, COUNTING } state;
	int rc;		    /* -errno of an event that is not supported */
	unsigned int group; /* the event's group; 0: it is counted by itself */
	bool leads;	    /* it is switched, and the others of its group with it */
	struct perf_evsel *evsel;
	struct perf_cpu_map *cpus;
};

/*
 * Opens `n` events as one group on those of `cpus` that can count them. Events of a socket are
 * opened on the CPU that counts for the socket. Events that the host does not have are left out.
 * Where the hardware cannot count them together, each is opened by itself, and *fits is false.
 * Where memory is missing, none is opened, and each `rc` is -ENOMEM.
 */
void counting_open_group(struct counting *of, const struct event *events, size_t n,
			 const struct cpuset *cpus, bool *fits);
void counting_close(struct counting *c);

/*
 * Many CPUs need many open files. counting_more_files raises the limit as far as possible and
 * returns the old one. counting_own_files restores the old limit, under which open files stay open,
 * and keeps the workload from inheriting the events.
 */
uint64_t counting_more_files(void);
void counting_own_files(uint64_t limit);

#endif
