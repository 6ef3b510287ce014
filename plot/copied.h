/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Was it zero copy? Every chart says so of each variant, but of a base that did not ask for it, and
 * no speed-up is claimed for one that copied, that dropped the data or that has no evidence.
 */
#ifndef ZC_PLOT_COPIED_H
#define ZC_PLOT_COPIED_H

#include "lib/table.h"
#include "plot/figure.h"

enum copied {
	COPIED_UNKNOWN, /* no evidence */
	COPIED_DROPPED, /* not even received: neither a copy nor none */
	COPIED_ALL,	/* zero copy on no side */
	COPIED_PART,
	COPIED_NONE, /* at least nine parts of ten on a side without a copy */
};

/* From the rows of table `zerocopy`; the best side counts, *percent is its zero-copy share. */
enum copied copied_state(const struct table *zerocopy, const char *variant, double *percent,
			 const char **side);

/* Zero-copy share 0..1 of one side, the lowest of its evidence; NaN without any. */
double copied_share(const struct table *zerocopy, const char *variant, const char *side);

/* One caption for all variants. */
struct drawing;
void copied_caption(const struct drawing *d, struct figure *f);

#endif
