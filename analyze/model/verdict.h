/* SPDX-License-Identifier: GPL-2.0-only */
/* The rule that says whether a change is real: that of compare, of sweeps and of charts. */
#ifndef ZC_VERDICT_H
#define ZC_VERDICT_H

#include "lib/stats.h"

/*
 * Is a change real? It is better or worse when the exact Mann-Whitney p is below alpha and the
 * change is larger than the threshold; in a table of many tests, Holm's correction applies to p. It
 * is ~ when one of the two does not hold. It is "too few runs" when even runs without any overlap
 * could not bring p below alpha: with alpha 0.05, one test takes 4 runs at each end. It is "copied"
 * when the change would be better, but NEW asked for zero copy and copied. It is "drift?" when it
 * would be one of the others, but the runs did not take turns and a drift can explain the change.
 * It is "others?" when it would be one of the others, but is made from the time of whole CPUs, and
 * other programs took more than VERDICT_OTHERS_PCT of a side's busy time.
 */
enum { VERDICT_OTHERS_PCT = 20 };
struct verdict_rule {
	double alpha;	  /* 0.05 */
	double threshold; /* a share of the base: 0.02 */
	bool copied;	  /* NEW copied: no speed-up is claimed */
	bool apart;	  /* the runs of the ends did not take turns */
	bool drifts;	  /* the runs of an end drift within the end */
};

/* The rule without options. */
#define VERDICT_RULE                             \
	{                                        \
		.alpha = 0.05, .threshold = 0.02 \
	}

enum verdict {
	VERDICT_NONE, /* not tested: an empty cell */
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_SAME,
	VERDICT_FEW,
	VERDICT_COPIED,
	VERDICT_DRIFT,
	VERDICT_OTHERS,
};
/* Returns the word in a cell, NULL for VERDICT_NONE. */
const char *verdict_name(enum verdict v);

/* Returns whether the change is real: better, worse, or better by a variant that copied. */
bool verdict_is_claim(enum verdict v);

/* Returns whether this many runs can give a verdict in a table of this many tests. */
bool verdict_possible(const struct verdict_rule *r, size_t nbase, size_t nnew, size_t tests);
/* Returns the runs that each end needs for a verdict. */
size_t verdict_runs_needed(const struct verdict_rule *r, size_t tests);

/*
 * Returns the verdict; p is corrected. `better` is +1 where more is better, -1 where less is
 * better, 0 for neither: then the verdict is ~ or none.
 */
enum verdict verdict_of(const struct verdict_rule *r, int better, double base, double new,
			double p);

/* Returns VERDICT_OTHERS for a claim, if other programs took so many percent of the busy time of
 * the CPUs that the figure counts, else `v`. */
enum verdict verdict_beside_others(enum verdict v, double others_pct);

/*
 * Returns VERDICT_DRIFT for a claim that a drift can explain, else `v`. Runs that did not take
 * turns must differ by more than the ranges (largest - smallest) of both ends together, and neither
 * end may drift. docs/method.md has the rate of false alarms that remains.
 */
enum verdict verdict_after_drift(const struct verdict_rule *r, enum verdict v, double change,
				 const double *base, size_t nbase, const double *new, size_t nnew);

/* Returns whether interval and change lie on opposite sides of `none`. No verdict follows then. */
bool verdict_opposed(const struct estimate *interval, double none, double change);

#endif
