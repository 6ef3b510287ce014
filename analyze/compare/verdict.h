/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a change real? better / worse: the exact Mann-Whitney p, corrected by Holm where a table holds
 * many tests, is below alpha, and the change is larger than the threshold. ~ : one of the two does
 * not hold. too few runs: not even runs that are fully apart could bring p below alpha (with
 * alpha 0.05 one test takes 4 runs a side); then nothing is said, whatever the figures look like.
 * copied: would be better, but the new variant was to be zero-copy and copied instead.
 */
#ifndef ZC_VERDICT_H
#define ZC_VERDICT_H

#include "lib/stats.h"

#include <stdbool.h>
#include <stddef.h>

struct verdict_rule {
	double alpha;	  /* 0.05 */
	double threshold; /* as a share of the base: 0.02 */
	bool copied;	  /* no speed-up may be claimed */
};

enum verdict {
	VERDICT_NONE, /* not tested: prints as missing */
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_SAME,
	VERDICT_FEW,
	VERDICT_COPIED,
};
const char *verdict_name(enum verdict v); /* NULL for VERDICT_NONE */

/* Whether so many runs can give a verdict at all in a table of so many tests. */
bool verdict_possible(const struct verdict_rule *r, size_t nbase, size_t nnew, size_t tests);
/* Runs a side that can. */
size_t verdict_runs_needed(const struct verdict_rule *r, size_t tests);

/* better: +1 more is better, -1 less is better, 0 neither (then ~ or nothing). p is corrected. */
enum verdict verdict_of(const struct verdict_rule *r, int better, double base, double new,
			double p);

/*
 * A printed change is of all runs pooled, its interval of single runs (stats_test_shift): widens
 * the interval to hold the change, but never over `none`, so that it goes on saying what p says.
 */
void verdict_hold(struct estimate *interval, double none, double change);

/* Does the interval lie on the other side of `none` than the change? Then nothing is claimed. */
bool verdict_opposed(const struct estimate *interval, double none, double change);

#endif
