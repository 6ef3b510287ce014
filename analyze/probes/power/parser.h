/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns power readings into energy over a window. A meter's watts are joined by straight lines
 * (trapezoids); the joules of an energy counter are interpolated at the window's ends. Nothing is
 * extrapolated.
 */
#ifndef ZC_POWER_H
#define ZC_POWER_H

#include "analyze/probes/ingest.h"

struct reading {
	uint64_t t_ns;
	double v; /* watts, or joules of a counter */
};

/* Return the joules in [from, to], which lies inside the readings. */
double readings_integrate(const struct reading *watts, size_t n, uint64_t from, uint64_t to);
double readings_difference(const struct reading *joules, size_t n, uint64_t from, uint64_t to);

/*
 * What a figure of watts is the power of. Figures of two kinds never meet in one sum:
 *
 *   wall      what the whole machine takes in: a meter, a BMC
 *   platform  RAPL's psys: what the board's regulators count, less than the wall
 *   package   the processors' packages, and the memory that RAPL counts beside them
 *   other     something that no total can be made of
 *
 * Each domain of each source has a metric, power_w:KIND/SOURCE/DOMAIN. Several sources of a kind
 * measure the same watts, so a kind's total (power_w:KIND, energy_j:KIND) is the sum over one
 * source. It leaves out a domain inside another domain (package-0/core).
 */

/*
 * Adds a domain's mean watts in the window. NAN: its readings do not cover the window. `how`: NULL
 * (measured) or "imported".
 */
void power_add(struct ingest *in, const char *kind, const char *source, const char *domain,
	       double watts, const char *how);

/*
 * Adds the readings in and close to the window as the series power_w:KIND/SOURCE/DOMAIN. A counter
 * of joules gives the mean power since its last reading.
 */
void readings_add_series(struct ingest *in, const char *kind, const char *source,
			 const char *domain, const struct reading *r, size_t n, bool energy);

/* Adds the metrics, and the series power_w:KIND of each kind's total, after all sources were read.
 */
void power_put(struct ingest *in);

#endif
