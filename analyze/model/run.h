/* SPDX-License-Identifier: GPL-2.0-only */
/* One side of one run of a capture. */
#ifndef ZC_RUN_H
#define ZC_RUN_H

#include <stdint.h>

struct run {
	int64_t id; /* in the store */
	const char *variant, *pass, *side, *host, *command, *cpus, *status, *why;
	int repeat, ncpus, position;
	uint64_t start_ns, end_ns; /* the window, CLOCK_MONOTONIC; both 0: there is no window */
};

#endif
