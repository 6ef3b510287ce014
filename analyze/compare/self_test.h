/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measures how often `compare` sees a difference where there is none. Splits the runs of one
 * variant into two halves at random, many times, or in every way where the ways are few, and judges
 * the halves as BASE and NEW. Runs of one variant differ only by chance, unless the machine
 * drifted.
 */
#ifndef ZC_SELF_TEST_H
#define ZC_SELF_TEST_H

#include "analyze/compare/compare.h"

enum { SPLITS = 2000 }; /* at most */

struct splits {
	uint64_t *of; /* one mask per split; bit i: run i goes to the base */
	size_t n, runs, base;
	bool every; /* the list holds all splits */
};

/* Lists at most `most` splits of up to 63 runs, each pair of halves once. */
void splits_make(struct splits *s, size_t runs, size_t most);
void splits_free(struct splits *s);
/* The split of the first half of the runs from the second, and of every other run from the rest. */
uint64_t splits_first_half(const struct splits *s);
uint64_t splits_alternate(const struct splits *s);

/* Returns whether a self-test can split the runs of this table. */
bool compare_self_tests(const struct compare_table *table);

/*
 * Fills a table with a row for each variant (or only `variant`), table and side: the share of
 * splits with a false alarm, its interval, and the level that this many runs can attain. Counts in
 * out->worse the rates with an interval above alpha. c->table is the only table to test, or NULL:
 * metrics, components and functions.
 */
int compare_self_test(struct comparison *c, const char *capture, const char *variant,
		      struct table *t, struct outcome *out, struct error *err);

#endif
