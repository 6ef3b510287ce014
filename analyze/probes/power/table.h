/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watts of the hosts of a set of runs. Each host counts once: with its metered power or, if the
 * query has a model, with idle + per_cpu x CPUs used.
 *
 * Wall, platform and package power (analyze/probes/power/parser.h) are different quantities. All
 * figures of a table use one kind: the query's, else the first of these that the store has. A run
 * without this kind has no figure.
 */
#ifndef ZC_MEASURE_POWER_H
#define ZC_MEASURE_POWER_H

#include "analyze/scope/scope.h"

enum power_source { POWER_NONE, POWER_MEASURED, POWER_IMPORTED, POWER_GIVEN, POWER_MODELLED };
extern const char *const power_source_names[]; /* NULL, "measured", ... */

struct power {
	double watts; /* NAN if not known */
	enum power_source source;
	const char *kind; /* NULL for a model or no power */
	bool shared;	  /* the host also runs sides that the query excludes */
};

/* Returns true if any run of the query's variant has power of that kind. */
bool power_has_kind(struct store *s, const struct query *q, const char *kind);

/* Returns the kind of power that figures use, or NULL if no power was measured. */
const char *power_kind(struct store *s, const struct query *q);

/*
 * Returns the power of `n` sides of one repeat, which have the same variant, pass and repeat. The
 * caller leaves out failed and missing runs. The sum is missing if a host has neither a metered
 * figure nor a model.
 */
struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n);

/* Returns whether the query has --power-model. */
bool power_is_modelled(const struct query *q);

/* Adds a note on the kind that the figures use if several kinds were measured. */
void power_note_kinds(struct store *s, const struct query *q, struct table *t);

#endif
