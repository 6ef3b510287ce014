/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a figure of watts is the power of. Figures of two kinds never meet in one sum:
 *
 *   wall      what the whole machine takes in: a meter, the BMC, an ACPI power meter
 *   platform  RAPL's psys: what the board's regulators count, less than the wall
 *   package   the processors' packages, and the memory that RAPL counts beside them
 *   other     something that a sensor of this host measures, which no total can be made of
 *
 * Each domain of each source is a metric of its own, power_w:KIND/SOURCE/DOMAIN. A kind's total,
 * power_w:KIND and energy_j:KIND, is the sum over one source alone, as several sources of a kind
 * measure the same watts; domains inside another (package-0/core) are not added to it.
 */
#ifndef ZC_POWER_KINDS_H
#define ZC_POWER_KINDS_H

#include "analyze/ingest/ingest.h"

/* The kind of a domain of power.tsv. */
const char *power_kind_of(const char *source, const char *domain);

/* Is there a kind of this name? */
bool power_kind_known(const char *kind);

/* Keeps a domain's mean watts in the window; NAN: it is there, but does not cover it. `how`: NULL
 * (measured) or "imported". */
void power_add(struct ingest *in, const char *kind, const char *source, const char *domain,
	       double watts, const char *how);

/* When all sources were read: the metrics. */
void power_put(struct ingest *in);

#endif
