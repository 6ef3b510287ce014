/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of a sheet in parts (table_sheet.h) that each part begins with: the fewest from the left
 * that no two rows have alike.
 */
#ifndef ZC_TABLE_KEYS_H
#define ZC_TABLE_KEYS_H

#include "lib/table_sheet.h"

/* Do the keys, shortened to their widths, tell all rows apart? */
bool sheet_tells_apart(const struct sheet *sh);

/* Marks the keys. False: no columns tell the rows apart, and those that names are in are marked. */
bool sheet_choose_keys(struct sheet *sh);

/* Unmarks words that rows can be told apart without. True: there were some. */
bool sheet_spare_keys(struct sheet *sh);

/* Keys first, sets sh->keys; last what the table can spare, before a sentence. */
void sheet_arrange(struct sheet *sh);

#endif
