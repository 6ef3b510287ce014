/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can tell power under /sys: energy counters of powercap (RAPL), or, where these are not to be
 * had, the same ones through perf; and meters of hwmon. A domain is named by where it lies,
 * "package-0/core", "power_meter@hwmon2/power1". Energy is in uJ, power in uW, as the kernel has
 * them.
 */
#ifndef ZC_POWER_H
#define ZC_POWER_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_evsel;

struct power_domain {
	const char *source; /* "powercap", "perf" or "hwmon" */
	char *name;
	int fd;
	bool energy;
	uint64_t max; /* an energy counter starts again from 0 behind this; 0: unknown */
	uint64_t last, base, last_ns;
	bool read, gone;
	struct perf_evsel *evsel; /* perf: read by it, not by fd */
	double scale;		  /* of its counts, in uJ */
};

struct power_domains {
	struct power_domain *d;
	size_t n, cap;
	int denied; /* errno of a source that is there but may not be read */
};

/* Looks below /sys, or what stands for it (pmu.h). */
void power_find(struct power_domains *list);
void power_free(struct power_domains *list);

/*
 * *value: uJ since boot or so, unwrapped from the first reading on; or uW now. 0 or -errno;
 * -ERANGE: the counter went backwards, and not over its end.
 */
int power_read(struct power_domain *d, uint64_t now_ns, uint64_t *value);

/* power_perf.c, for power_find.c alone. */
void power_find_perf(struct power_domains *list);
int power_read_perf(const struct power_domain *d, uint64_t *microjoules);
void power_close_perf(struct power_domain *d);

#endif
