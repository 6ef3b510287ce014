/* SPDX-License-Identifier: GPL-2.0-only */
/* A .snap of which at least two snapshots are needed, each of lines. */
#ifndef ZC_SNAP_LINES_H
#define ZC_SNAP_LINES_H

#include "analyze/ingest/ingest.h"
#include "lib/snap.h"

/* A damaged tail is a lossy note of `what`; fewer than two snapshots are -ENODATA. */
int snap_lines_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
		    struct error *err);

/* Calls `one` for each line that is not empty, cut up in place. How many it found not readable. */
size_t snap_lines(char *text, bool (*one)(char *line, void *arg), void *arg);

#endif
