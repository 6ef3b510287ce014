/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can tell power under /sys: energy counters of powercap (RAPL), or, where these are not to be
 * had, the same ones through perf; and meters of hwmon. A domain is named by where it lies,
 * "package-0/core", "power_meter@hwmon2/power1". Energy is in uJ, power in uW, as the kernel has
 * them.
 */
#ifndef ZC_POWER_H
#define ZC_POWER_H

#include "lib/cpuset.h"
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

/*
 * A program that tells power, run beside the workload by a thread of its own: once a second, or
 * slower where it takes longer, or once for all where it goes on printing. What it prints is
 * appended to a .snap file with the time when it came. One process at a time, on CPUs that are not
 * measured where there are others, killed with all it started when it hangs or is not needed more.
 */

struct power_poll;

struct power_program {
	const char *name; /* in messages */
	char *const *argv;
	bool whole; /* a reading is all that one run prints; else each line is one */
	/* Is there a reading in it? 0, or -errno with the reason. */
	int (*check)(const char *text, double *watts, struct error *err);
};

/*
 * Starts it and waits for its first reading, some seconds at most: without one there is nothing to
 * poll, it is ended again, and the error says what it said. `program` must stay. `path`: the .snap;
 * `heading`: its first record. `measured`: CPUs to keep away from, if `online` has others.
 */
int power_poll_start(struct power_poll **poll, const struct power_program *program,
		     const char *path, const char *heading, const struct cpuset *online,
		     const struct cpuset *measured, struct error *err);

/* Does it work? Runs it once, keeps nothing. */
int power_poll_ask(const struct power_program *program, struct error *err);

/* Waits until there is a reading of that time or later, some seconds at most. */
int power_poll_until(struct power_poll *poll, uint64_t mono_ns, struct error *err);

/*
 * Ends it. *missed (may be NULL): how many of its runs gave no reading or failed. 0, or the reason
 * why it was given up before.
 */
int power_poll_stop(struct power_poll *poll, unsigned int *missed, struct error *err);

#endif
