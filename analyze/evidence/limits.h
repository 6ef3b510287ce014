/* SPDX-License-Identifier: GPL-2.0-only */
/* What limited a variant, in words, for other tables and for charts. */
#ifndef ZC_LIMITS_H
#define ZC_LIMITS_H

#include "analyze/scope/measure.h"

/*
 * The order of the limits in words: the largest share of the window first, or by name. Two variants
 * have the same limits if their words by name are equal.
 */
enum limits_order { LIMITS_BY_SHARE, LIMITS_BY_NAME };

/*
 * Returns the limits of a variant by its rows in table limits, such as "sender cpu and sender rwnd
 * (waits for the receiver)". NULL: the variant has no row. The caller frees the text.
 */
char *limits_words(const struct table *limits, const char *variant, enum limits_order order);

/*
 * Returns whether two variants have different bottlenecks: both have rows in their tables limits,
 * and no limit of a side is a row of both. `cpu` and `softirq` are one limit: the side's busiest
 * CPU. The tables may be the same.
 */
bool limits_differ(const struct table *limits, const char *variant, const struct table *others,
		   const char *other);

/*
 * Fills table limits with all sides, also with --workload-only: what limits the workload may lie
 * outside of it.
 * The caller frees `t`, also after an error. Returns 0 or -errno.
 */
int limits_read(struct store *s, const struct query *q, struct table *t, struct error *err);

/* Adds the limits of all variants of the query as one result. Returns 0 or -errno. */
int limits_note(struct store *s, const struct query *q, struct table *t, struct error *err);

/* Returns whether the driver's links have no wire, so that their speed is only a number. */
bool limits_driver_is_virtual(const char *driver);

#endif
