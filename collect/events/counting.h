/* SPDX-License-Identifier: GPL-2.0-only */
/* Events opened on CPUs, in groups, through libperf. */
#ifndef ZC_COUNTING_H
#define ZC_COUNTING_H

#include "collect/events/events.h"
#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What perf_event_open allows here. */

/*
 * Can these CPUs be sampled as a whole? Then *event is "cycles", or "cpu-clock" where there is no
 * PMU. -EACCES with the way out where it is not allowed.
 */
int perf_event_choose(const struct cpuset *cpus, const char **event, struct error *err);

/* kernel.perf_event_max_sample_rate, 0 when unknown. */
unsigned int perf_event_max_rate(void);

/* Fills `err` for a perf_event_open that failed with `code`: what is missing, the way out. */
int perf_event_denied(int code, struct error *err);

/* libperf, told to keep its debugging talk to itself. */

void libperf_quiet(void);

struct perf_evsel;
struct perf_cpu_map;

struct counting {
	enum { NOT_SUPPORTED, COUNTING } state;
	int rc;		    /* why it is not supported */
	unsigned int group; /* the event's; 0: it is counted by itself */
	bool leads;	    /* switched by itself, and the others of its group with it */
	struct perf_evsel *evsel;
	struct perf_cpu_map *cpus;
};

/*
 * Opens `n` events as one group on those of `cpus` that they can be counted on; of a socket's, on
 * the CPUs that speak for one. Those that the host does not have are left out. Where the hardware
 * does not take them at once, each is opened by itself, and *fits is false.
 */
void counting_open_group(struct counting *of, const struct event *events, size_t n,
			 const struct cpuset *cpus, bool *fits);
void counting_close(struct counting *c);

/*
 * Many CPUs take many open files. counting_more_files allows as many as may be and returns what was
 * allowed; counting_own_files sets that again, which leaves those open that are, and keeps them
 * from the workload.
 */
uint64_t counting_more_files(void);
void counting_own_files(uint64_t limit);

#endif
