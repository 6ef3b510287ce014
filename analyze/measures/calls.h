/* SPDX-License-Identifier: GPL-2.0-only */
/* How many system calls the run's own processes made in its window. */
#ifndef ZC_CALLS_H
#define ZC_CALLS_H

#include "analyze/measures/scope.h"

/* NAN: not counted. */
double calls_of_run(struct store *s, const struct run *r);

/* Calls per unit of work, `rate_metric`'s, over the block's runs that counted them; n 0: none. */
struct estimate calls_per_work(struct store *s, const struct block *b, enum estimator est,
			       const char *rate_metric);

#endif
