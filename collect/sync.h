/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `zcost collect --sync`: someone else says when the window opens, so that two sides, here or on
 * another host, measure the same seconds. Lines on standard input and output, fit for ssh:
 *
 *   we say      ready\n                     the workload runs, every collector waits to be switched
 *                                           on
 *   we hear     go <start_ns> <duration_ns>\n
 *                                           open the window at that CLOCK_MONOTONIC time of this
 *                                           host (at once when it is past); duration 0: until the
 *                                           command ends
 *   or          abort\n                     stop the workload; the run is marked failed
 *
 * The end of standard input at any time before the run is over means abort: whoever steered us is
 * gone. A second `go` is ignored. --warmup and --duration are not used, and run.json holds what
 * was measured in fact.
 *
 * The clock to speak of is the host's own: whoever steers two hosts asks each for its time first.
 */
#ifndef ZC_SYNC_H
#define ZC_SYNC_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sync_heard { SYNC_NOTHING, SYNC_GO, SYNC_ABORT };

struct sync {
	int fd;
	char line[256];
	size_t len;
	bool closed;
	uint64_t start_ns, duration_ns; /* of the `go` heard */
	char why[128];			/* of an abort */
};

int sync_say_ready(struct error *err);

/* Reads what there is; call when fd is readable. */
enum sync_heard sync_hear(struct sync *s);

#endif
