/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_TCPZC_HISTS_H
#define ZC_TCPZC_HISTS_H

#include "analyze/ingest/ingest.h"

#include <jansson.h>

/* Metrics and notes of the summary's histograms, its retried sends and full rings. */
void tcpzc_hists(struct ingest *in, const json_t *summary);

#endif
