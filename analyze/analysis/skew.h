/* SPDX-License-Identifier: GPL-2.0-only */
/* Do both sides of a run measure the same seconds? */
#ifndef ZC_SKEW_H
#define ZC_SKEW_H

#include "analyze/store/store.h"

/*
 * Adds the metric window_skew_us to both sides of every run of the store whose sides share a clock,
 * or have two that were compared (clock_offset): how far their windows' starts, or ends, are apart,
 * whichever is more. More than a thousandth of the window, beyond the error of the comparison, is a
 * warning, and one that says so where it is more than lib/clock.h has. Sides whose windows
 * have no moment in common have failed: *left_out of them. 0 or -errno.
 */
int skew_store(struct store *s, size_t *left_out, struct error *err);

#endif
