/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of tracepoints. tracefs is read where it is mounted; else a child mounts it in a mount
 * namespace of its own, which ends with the child: nothing stays behind and nobody sees it.
 */
#ifndef ZC_TRACEFS_H
#define ZC_TRACEFS_H

#include "lib/error.h"

#include <stddef.h>

/* ids[i] of "system/name" in names[i]. -EACCES with the way out where it is not allowed. */
int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err);

#endif
