/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of tables that charts draw. A member has the name and the unit of its column. */
#ifndef ZC_RESULTS_H
#define ZC_RESULTS_H

#include "analyze/scope/scope.h"

struct idle_row {
	struct block block;
	const char *cpu; /* IDLE_ALL; "" for a single CPU */
	const char *source, *state;
	struct estimate time_pct;
	double entries_per_s, mean_us; /* NAN: not known */
	int64_t runs;
};

/* All CPUs of the side added up, and the sources. */
#define IDLE_ALL     "all"
#define IDLE_CPUIDLE "cpuidle"
#define IDLE_STAT    "/proc/stat"

#endif
