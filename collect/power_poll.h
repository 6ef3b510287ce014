/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that prints watts (--power-command). A shell runs it beside the workload once a second,
 * or slower where the command takes longer, or only once where it goes on printing. A thread saves
 * each line with its time in a .snap file. Both run away from the measured CPUs where there are
 * others.
 */
#ifndef ZC_POWER_POLL_H
#define ZC_POWER_POLL_H

#include "lib/error.h"

#include <stdint.h>

struct power_poll;
struct run;

/*
 * Starts the poll and waits some seconds for its first reading. Without one the poll ends, and the
 * error has the command's own words. `command` must stay valid. `path` is the .snap, `heading` its
 * first record.
 */
int power_poll_start(struct power_poll **poll, const struct run *run, const char *command,
		     const char *path, const char *heading, struct error *err);

/* Waits some seconds for a reading of that time or later. */
int power_poll_until(struct power_poll *poll, uint64_t mono_ns, struct error *err);

/* Ends the poll. Returns 0, or the reason why the command ended earlier. */
int power_poll_stop(struct power_poll *poll, struct error *err);

#endif
