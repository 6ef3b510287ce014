/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The power meters of an analysis. They are checked against the capture and stored in the store.
 */
#ifndef ZC_METERS_H
#define ZC_METERS_H

#include "analyze/analysis/analysis.h"
#include "analyze/ingest/layout.h"
#include "analyze/store/store.h"

/* Checks the meters. Returns -EINVAL if the capture lacks the side of a meter. */
int meters_check(const struct analysis *a, const struct layout *l, struct error *err);

/*
 * Returns the meters in the existing store of the capture, or NULL. Returns NULL if the store is
 * missing or of another version. The caller frees the string.
 */
char *meters_remembered(const char *capture);

/* Stores the meters of this analysis. */
int meters_remember(const struct analysis *a, struct store *s, struct error *err);

#endif
