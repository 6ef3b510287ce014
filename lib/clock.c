// SPDX-License-Identifier: GPL-2.0-only
#include "lib/clock.h"

#include <time.h>

enum { NS = 1000000000 };

uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}
