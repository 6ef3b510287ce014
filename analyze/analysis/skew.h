/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks whether both sides of a run measured at the same time. */
#ifndef ZC_SKEW_H
#define ZC_SKEW_H

#include "analyze/store/store.h"

/*
 * Adds the metric window_skew_us to both sides of every run. It is the distance of the windows'
 * starts or of their ends, the larger one. The sides must share a clock or have compared clocks
 * (clock_offset). A skew above a thousandth of the window, beyond the error of the comparison,
 * adds a warning. A skew above the limit in lib/clock.h adds another warning. Sides with windows
 * that do not overlap fail, and *left_out counts them. Returns 0 or -errno.
 */
int skew_store(struct store *s, size_t *left_out, struct error *err);

#endif
