/* SPDX-License-Identifier: GPL-2.0-only */
/* The `counters` table of a capture. */
#ifndef ZC_COUNTERS_STORE_H
#define ZC_COUNTERS_STORE_H

#include "analyze/measures/measure.h"

/*
 * Each event that was to be counted: the estimate over the runs, and, as perf stat -r prints it,
 * the mean with its standard error in percent; the part of the time that it had a hardware counter;
 * what was not counted or is not supported, as such. Then what follows from two events, for each
 * run, from events of one group where they are in one.
 */
int counters_from_store(struct store *s, const struct query *q, struct table *t, struct error *err);

#endif
