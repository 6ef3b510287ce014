/* SPDX-License-Identifier: GPL-2.0-only */
/* The code of functions that have spots, and the source lines of these. */
#ifndef ZC_PERFDATA_SPOT_CODE_H
#define ZC_PERFDATA_SPOT_CODE_H

#include "analyze/perfdata/spots.h"

/*
 * Fills p->codes, and the lines of p->spots. `spots`, of all `n` stacks, says where functions lie.
 * What is not at hand, or not provably the recorded one, is left out.
 */
void spot_code_add(struct objects *ob, const struct spot *spots, size_t n);

#endif
