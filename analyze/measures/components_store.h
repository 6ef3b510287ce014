/* SPDX-License-Identifier: GPL-2.0-only */
/* The components of all functions into a store that is being made, for those who ask it in SQL. */
#ifndef ZC_COMPONENTS_STORE_H
#define ZC_COMPONENTS_STORE_H

#include "analyze/store/store.h"

/* By the rules inside the program, both sets; one transaction of its own. */
int components_store(struct store *s, struct error *err);

#endif
