/* SPDX-License-Identifier: GPL-2.0-only */
/* A table for a patch's commit message: 72 columns, ASCII, no tabs. */
#ifndef ZC_TABLE_COMMIT_H
#define ZC_TABLE_COMMIT_H

#include "lib/table.h"

void table_write_commit(const struct table *t, FILE *out);

/* "T²/C → 3" as "T^2/C -> 3"; what has no spelling becomes '?', control characters but newline
 * blanks. */
char *ascii_of(struct arena *a, const char *s);

#endif
