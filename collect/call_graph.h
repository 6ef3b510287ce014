/* SPDX-License-Identifier: GPL-2.0-only */
/* How perf record is to find callers. */
#ifndef ZC_CALL_GRAPH_H
#define ZC_CALL_GRAPH_H

#include "lib/error.h"

/* fp, dwarf, dwarf,SIZE (bytes of stack in each sample) or lbr; -EINVAL: something else. */
int call_graph_check(const char *mode, struct error *err);

#endif
