/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of CPU time: columns of table cpu and the metrics that they show. */
#ifndef ZC_CPU_PARTS_H
#define ZC_CPU_PARTS_H

#include "analyze/measures/measure.h"

struct cpu_part {
	const char *column, *metric;
};

extern const struct cpu_part cpu_parts[8]; /* ends with NULL */

/* Table cpu with --by. */
extern const struct measure measure_cpu_by;

#endif
