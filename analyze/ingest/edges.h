/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_EDGES_H
#define ZC_EDGES_H

#include "analyze/ingest/ingest.h"

#include <jansson.h>

/* How exactly the window was cut: metrics window_*_us, and notes. `root`: of run.json. */
void ingest_edges(struct ingest *in, const json_t *root);

#endif
