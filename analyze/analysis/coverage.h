/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares the coverage of the profiles of one variant and side. */
#ifndef ZC_ANALYSIS_COVERAGE_H
#define ZC_ANALYSIS_COVERAGE_H

#include "analyze/store/store.h"

/*
 * Adds a warning to each run whose metric coverage_pct is an outlier among the runs of its variant,
 * side and pass. Returns 0 or -errno.
 */
int coverage_store(struct store *s, struct error *err);

#endif
