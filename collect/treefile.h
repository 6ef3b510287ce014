/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A collector that writes a .snap of what each of the workload's processes or threads is at: at the
 * window's start, once a second or less often (collect/reading.h), at its end.
 */
#ifndef ZC_TREEFILE_H
#define ZC_TREEFILE_H

#include "collect/collect.h"
#include "collect/tree.h"
#include "lib/str.h"

/* Adds what a snapshot holds. */
typedef void (*treefile_fill)(struct str *s, const struct tree *tree);

int treefile_prepare(struct collect *c); /* opens c->is->files[0] */
int treefile_take(struct collect *c, treefile_fill fill);
int treefile_snap(struct collect *c, treefile_fill fill); /* when it is time again */
void treefile_finish(
	struct collect *c); /* info: that of a reading, and threads, the most there were */

#endif
