/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A .snap file of readings that a collector puts together from several open files, and what they
 * cost. Where a reading takes long (thousands of interrupts, a driver that asks its firmware), the
 * ones between start and stop are taken less often: never more than a thousandth of the time. The
 * cost, CPU time, stands in run.json: readings, reading_us (the mean), longest_us, skipped.
 */
#ifndef ZC_READING_H
#define ZC_READING_H

#include "collect/collect.h"
#include "lib/str.h"

#include <stdint.h>

struct reading {
	int fd;
	struct str text;	    /* of the present reading; the collector adds to it */
	uint64_t began_ns, next_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;	    /* CPU time when it began */
	uint64_t spent_ns, longest_ns;
	unsigned int n, skipped;
};

/* Opens `file` in the run's folder. */
int reading_open(struct reading *r, struct collect *c, const char *file);

/* False: not due yet. Those at the window's ends are `must`. */
bool reading_begin(struct reading *r, bool must);

/* Adds all of an open file of /proc or /sys, read from its start. 0 or -errno. */
int reading_add(struct reading *r, int fd);

/* Writes the reading with the time when it began. */
int reading_end(struct reading *r, struct error *err);

void reading_close(struct reading *r, struct collect *c);

#endif
