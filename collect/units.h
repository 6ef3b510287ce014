/* SPDX-License-Identifier: GPL-2.0-only */
/* What may read a workload's output, by the name run.json keeps (docs/formats.md). */
#ifndef ZC_COLLECT_UNITS_H
#define ZC_COLLECT_UNITS_H

#include "lib/error.h"

/* 0, or -EINVAL with the adapters there are. */
int units_check(const char *units, struct error *err);

#endif
