/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power sources under /sys: energy counters of powercap (RAPL), or the same counters through perf
 * where powercap has none, and meters of hwmon. The name of a domain says where it lies, such as
 * "package-0/core" or "power_meter@hwmon2/power1". Energy is in uJ and power in uW, as in the
 * kernel.
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
	uint64_t max; /* an energy counter wraps behind this value; 0: unknown */
	uint64_t last, base, last_ns;
	bool read, gone;
	struct perf_evsel *evsel; /* for "perf", in place of fd */
	double scale;		  /* uJ per count of evsel */
};

struct power_domains {
	struct power_domain *d;
	size_t n, cap;
	int denied;	     /* errno of a source that may not be read; 0: none */
	struct error failed; /* a source, or its name, that the machine could not read */
};

/* Finds the domains below sysfs_root() (events.h). */
void power_find(struct power_domains *list);
void power_free(struct power_domains *list);

/*
 * Reads *value: for energy uJ since an arbitrary start, unwrapped from the first reading on; else
 * uW now. Returns 0 or -errno; -ERANGE: the counter went backwards without wrapping.
 */
int power_read(struct power_domain *d, uint64_t now_ns, uint64_t *value);

/*
 * A program that prints power. A thread runs it beside the workload: once a second, or slower where
 * it takes longer, or only once where it goes on printing. Its output goes to a .snap file, each
 * reading with its time. One process runs at a time, away from the measured CPUs where there are
 * others. It is killed with all its children when it hangs or is no longer needed.
 */

struct power_poll;

struct power_program {
	const char *name; /* in messages */
	char *const *argv;
	bool whole; /* the whole output of one run is a reading; else each line is one */
	/* Checks that the text holds a reading. Returns 0, or -errno with the reason. */
	int (*check)(const char *text, double *watts, struct error *err);
};

/*
 * Starts the poll and waits some seconds for its first reading. Without one the poll ends, and the
 * error has the program's own words. `program` must stay valid. `path` is the .snap, `heading` its
 * first record. The program runs on CPUs of `online` that are not in `measured`, if there are any.
 */
int power_poll_start(struct power_poll **poll, const struct power_program *program,
		     const char *path, const char *heading, const struct cpuset *online,
		     const struct cpuset *measured, struct error *err);

/* Runs the program once to check that it works. Nothing is saved. */
int power_poll_ask(const struct power_program *program, struct error *err);

/* Waits some seconds for a reading of that time or later. */
int power_poll_until(struct power_poll *poll, uint64_t mono_ns, struct error *err);

/*
 * Ends the poll. Fills *missed, which may be NULL, with the number of runs that gave no reading.
 * Returns 0, or the reason why polling stopped earlier.
 */
int power_poll_stop(struct power_poll *poll, unsigned int *missed, struct error *err);

#endif
