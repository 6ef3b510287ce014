/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watts of the hosts that a set of runs ran on, each host counted once: what its meter measured,
 * or, where the query gives a model, idle + per_cpu x CPUs used.
 */
#ifndef ZC_MEASURE_POWER_H
#define ZC_MEASURE_POWER_H

#include "analyze/measures/scope.h"

enum power_source { POWER_NONE, POWER_MEASURED, POWER_IMPORTED, POWER_GIVEN, POWER_MODELLED };
extern const char *const power_source_names[]; /* NULL, "measured", ... */

struct power {
	double watts; /* NAN: none */
	enum power_source source;
	bool shared; /* the host also runs sides that are not asked for */
};

/*
 * Of `n` sides of one repeat (same variant, pass and repeat; failed or missing ones left out).
 * A host without a meter's figure in any of them, and without a model, makes the sum missing.
 */
struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n);

#endif
