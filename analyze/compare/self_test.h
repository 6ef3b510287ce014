/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often would `compare` see a difference where there is none? The runs of one variant are split
 * in two at random, many times (every way, where these are few), and each time judged as base and
 * new are. Runs of one variant differ by chance alone, unless the machine drifted.
 */
#ifndef ZC_SELF_TEST_H
#define ZC_SELF_TEST_H

#include "analyze/compare/compare.h"
#include "analyze/compare/diff.h"

enum { SPLITS = 2000 }; /* at most; every split where there are no more */

struct splits {
	uint64_t *of; /* bit i: run i goes to the base */
	size_t n, runs, base;
	bool every;
};

/* Of up to 64 runs into halves, each pair of halves once. */
void splits_make(struct splits *s, size_t runs);
void splits_free(struct splits *s);

/* One side of a judged split: `all` holds the runs at BASE alone, and is not changed. */
void diff_split(struct diff *d, const struct diff *all, uint64_t base);

/*
 * Fills a table: for each variant (or only `variant`), table and side the share of splits with a
 * false alarm, its interval, and the level that so many runs can attain. Counts in out->worse the
 * rates that are above alpha beyond their interval.
 */
int compare_self_test(struct comparison *c, const char *capture, const char *variant,
		      struct table *t, struct outcome *out, struct error *err);

#endif
