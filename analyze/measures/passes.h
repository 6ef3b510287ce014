/* SPDX-License-Identifier: GPL-2.0-only */
/* What the instruments of a pass cost the workload. */
#ifndef ZC_PASSES_H
#define ZC_PASSES_H

#include "analyze/measures/block_table.h"

/* A line of the dearest passes of these blocks, where there is a measure pass beside another. */
void passes_note(struct store *s, const struct block_list *list, struct table *t);

#endif
