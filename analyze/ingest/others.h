/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_OTHERS_H
#define ZC_OTHERS_H

#include "analyze/ingest/ingest.h"

/*
 * Metric others_user_pct, and a warning where it is much; after the files of both cpu and threads
 * were read.
 */
void ingest_others(struct ingest *in);

#endif
