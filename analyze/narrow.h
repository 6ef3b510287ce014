/* SPDX-License-Identifier: GPL-2.0-only */
/* What each table can spare on a narrow terminal. */
#ifndef ZC_NARROW_H
#define ZC_NARROW_H

#include "lib/table.h"

/* Sets t->least, by the table's name; a table that is not among them goes on in parts below
 * instead. */
void narrow_columns(struct table *t);

#endif
