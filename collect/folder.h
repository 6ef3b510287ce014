/* SPDX-License-Identifier: GPL-2.0-only */
/* The folder of a run, before the run: whose is what it holds? */
#ifndef ZC_FOLDER_H
#define ZC_FOLDER_H

#include "lib/error.h"

#include <stdbool.h>

/*
 * May a run be written to `dir`? Yes where it is not there or empty, and where a run was written
 * before, whatever was put beside that: *used then. -EEXIST: something else is kept in it.
 */
int folder_check(const char *dir, bool *used, struct error *err);

/* Nothing of an earlier run may pass for this one's. */
void folder_clear(const char *dir);

#endif
