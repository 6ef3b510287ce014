/* SPDX-License-Identifier: GPL-2.0-only */
/* Pass two on several threads: each takes the next chunk that nobody has, into a fold of its own.
 */
#ifndef ZC_PERFDATA_PASS_TWO_H
#define ZC_PERFDATA_PASS_TWO_H

#include "analyze/perfdata/fold.h"

struct folds {
	struct fold *list;
	size_t n;
};

/* Folds all chunks; the caller frees. */
void pass_two(struct folds *f, const struct recording *r, const struct perfdata_options *o);
void folds_free(struct folds *f);

#endif
