/* SPDX-License-Identifier: GPL-2.0-only */
/* The power meters that an analysis was given: checked against the capture, and remembered. */
#ifndef ZC_METERS_H
#define ZC_METERS_H

#include "analyze/analysis/analysis.h"
#include "analyze/ingest/layout.h"
#include "analyze/store/store.h"

/* -EINVAL: a meter of a side that the capture does not have. */
int meters_check(const struct analysis *a, const struct layout *l, struct error *err);

/*
 * What the store that is about to be renewed was told of meters, or NULL; the caller frees. A
 * store that is missing or of another version tells nothing.
 */
char *meters_remembered(const char *capture);

/* Writes down what this analysis was told. */
int meters_remember(const struct analysis *a, struct store *s, struct error *err);

#endif
