/* SPDX-License-Identifier: GPL-2.0-only */
/* What perf_event_open allows here. */
#ifndef ZC_PERF_EVENT_H
#define ZC_PERF_EVENT_H

#include "lib/cpuset.h"
#include "lib/error.h"

/*
 * Can these CPUs be sampled as a whole? Then *event is "cycles", or "cpu-clock" where there is no
 * PMU. -EACCES with the way out where it is not allowed.
 */
int perf_event_choose(const struct cpuset *cpus, const char **event, struct error *err);

/* kernel.perf_event_max_sample_rate, 0 when unknown. */
unsigned int perf_event_max_rate(void);

/* Fills `err` for a perf_event_open that failed with `code`: what is missing, the way out. */
int perf_event_denied(int code, struct error *err);

#endif
