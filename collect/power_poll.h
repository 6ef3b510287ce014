/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that tells power, run beside the workload by a thread of its own: once a second, or
 * slower where it takes longer, or once for all where it goes on printing. What it prints is
 * appended to a .snap file with the time when it came. One process at a time, on CPUs that are not
 * measured where there are others, killed with all it started when it hangs or is not needed more.
 */
#ifndef ZC_POWER_POLL_H
#define ZC_POWER_POLL_H

#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
