/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watts of the hosts that a set of runs ran on, each host counted once: what its meter measured,
 * or, where the query gives a model, idle + per_cpu x CPUs used.
 *
 * Wall, platform and package power (analyze/ingest/power.h) are different things: all figures
 * of one table are of one kind, the query's, else the first of these that the store has; a run
 * without it has no figure.
 */
#ifndef ZC_MEASURE_POWER_H
#define ZC_MEASURE_POWER_H

#include "analyze/measures/scope.h"

enum power_source { POWER_NONE, POWER_MEASURED, POWER_IMPORTED, POWER_GIVEN, POWER_MODELLED };
extern const char *const power_source_names[]; /* NULL, "measured", ... */
extern const char *const power_kind_names[4];  /* "wall", "platform", "package", NULL */

struct power {
	double watts; /* NAN: none */
	enum power_source source;
	const char *kind; /* NULL: a model's, or none */
	bool shared;	  /* the host also runs sides that are not asked for */
};

/* Does any run of the query's variant have power of that kind? */
bool power_has_kind(struct store *s, const struct query *q, const char *kind);

/* The kind that figures are of; NULL: nothing was measured. */
const char *power_kind(struct store *s, const struct query *q);

/*
 * Of `n` sides of one repeat (same variant, pass and repeat; failed or missing ones left out).
 * A host without a meter's figure in any of them, and without a model, makes the sum missing.
 */
struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n);

/* Into the notes: which kind the figures are of where several were measured. */
void power_note_kinds(struct store *s, const struct query *q, struct table *t);

/* -EINVAL: no kind of this name. */
int power_kind_check(const char *name, struct error *err);

#endif
