/* SPDX-License-Identifier: GPL-2.0-only */
/* The run functions and columns of all measures, for THE TABLE in measure.c alone. */
#ifndef ZC_TABLES_H
#define ZC_TABLES_H

#include "analyze/measures/measure.h"

/* A measure: its columns and the function that fills them. */
#define MEASURE(name, columns)                              \
	extern const struct column name##_columns[columns]; \
	int name##_run(struct store *, const struct query *, struct table *, struct error *)

// clang-format off: a row per measure
MEASURE(functions, 9);
MEASURE(components, 5);
MEASURE(contexts, 5);
MEASURE(groups, 8);
MEASURE(hotspots, 12);
MEASURE(modules, 5);
MEASURE(syscalls, 14);
MEASURE(summary, 36);
MEASURE(runs, 20);
MEASURE(cpu, 13);
MEASURE(passes, 12);
MEASURE(rates, 3);
MEASURE(roi, 20);
MEASURE(scores, 9);
MEASURE(variants, 4); /* and one for each setting of the plan */
MEASURE(zerocopy, 8);
MEASURE(family, 8); /* of metrics of one kind: which, the table's name tells */
MEASURE(counters, 12);
MEASURE(power, 12);
MEASURE(sched, 8);
MEASURE(tcp, 29);
MEASURE(irq, 13);
MEASURE(idle, 11);
MEASURE(nic, 14);
MEASURE(snmp, 10);
MEASURE(softnet, 12);
MEASURE(host, 3);
MEASURE(topology, 12);
/* cpu with --by; sched of a capture. */
int cpu_by_run(struct store *, const struct query *, struct table *, struct error *);
int sched_capture_run(struct store *, const struct query *, struct table *, struct error *);
// clang-format on

#endif
