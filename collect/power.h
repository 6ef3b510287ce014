/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can tell power under /sys: energy counters of powercap (RAPL) and meters of hwmon. A domain
 * is named by where it lies, "package-0/core", "power_meter@hwmon2/power1". Energy is in uJ, power
 * in uW, as the kernel has them.
 */
#ifndef ZC_POWER_H
#define ZC_POWER_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct power_domain {
	const char *source; /* "powercap" or "hwmon" */
	char *name;
	int fd;
	bool energy;
	uint64_t max; /* an energy counter starts again from 0 behind this; 0: unknown */
	uint64_t last, base;
	bool read, gone;
};

struct power_domains {
	struct power_domain *d;
	size_t n, cap;
	int denied; /* errno of a source that is there but may not be read */
};

/* Looks below `root` ("/sys"). */
void power_find(struct power_domains *list, const char *root);
void power_free(struct power_domains *list);

/* *value: uJ since boot or so, unwrapped from the first reading on; or uW now. 0 or -errno. */
int power_read(struct power_domain *d, uint64_t *value);

#endif
