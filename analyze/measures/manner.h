/* SPDX-License-Identifier: GPL-2.0-only */
/* In what manner the capture was read, where that is not the usual one: said of each table. */
#ifndef ZC_MANNER_H
#define ZC_MANNER_H

#include "analyze/store/store.h"
#include "lib/table.h"

/* Notes: which part of the windows it is of; `frames`: whether inlined functions have their own. */
void manner_say(struct store *s, bool frames, struct table *t);

/* Why a collector's figures are absent, where that is the slice; else NULL. */
const char *manner_absent(struct store *s, const char *collector);

#endif
