/* SPDX-License-Identifier: GPL-2.0-only */
/* The workload's account of its work (workload/workload.h), over the window. */
#ifndef ZC_INGEST_WORKLOAD_H
#define ZC_INGEST_WORKLOAD_H

#include "analyze/probes/ingest.h"

/* Replaces the units of run.json by those of in->how.units for the run's side. */
void workload_set_units(struct ingest *in);

/* Returns the raw file that the adapter in in->units reads, or NULL: the run has none to read. */
const char *workload_file(const struct ingest *in);

/* Reads the file through the adapter that in->units names. `path` is its name in messages. */
int ingest_workload(struct ingest *in, const char *path, struct error *err);

/* Reads the lines of tcpzc's output, cut up in place, for its summary (workload_summary.c). */
void ingest_summary(struct ingest *in, char *text);

#endif
