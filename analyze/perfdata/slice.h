/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a recording's time, as a user names it: seconds as perf script prints them, or "+1.5",
 * so long after the first sample.
 */
#ifndef ZC_PERFDATA_SLICE_H
#define ZC_PERFDATA_SLICE_H

#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>

struct time_point {
	uint64_t ns;
	bool given, relative;
};

struct time_slice {
	struct time_point from, to; /* [from, to) */
};

/* "12345.678901", "+0.25", to the nanosecond. -EINVAL: anything else. */
int time_point_parse(struct time_point *p, const char *text);

struct recording;

/*
 * In nanoseconds of the recording's clock; all of it, 0 and 0, where neither end is given. -EINVAL:
 * the samples have no time, or the slice is empty; -ENODATA: it has no sample at all.
 */
int slice_resolve(const struct time_slice *s, const struct recording *r, uint64_t *from,
		  uint64_t *to, struct error *err);

#endif
