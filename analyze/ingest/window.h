/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A slice of each run's window: --from and --to of a capture. The window is narrowed before the
 * raw files are read, so that every figure is over exactly this interval. A total of the whole
 * window, or readings that are too far apart, give no figure: a note names them, and they are
 * never scaled.
 */
#ifndef ZC_WINDOW_H
#define ZC_WINDOW_H

#include "analyze/ingest/ingest.h"

/* Narrows in->run's window to in->how.slice. -ERANGE: the window ends before the slice begins. */
int window_narrow(struct ingest *in, struct error *err);

/* Notes that the collector `what` has no figure in the slice, and why. */
void window_absent(struct ingest *in, const char *what, const char *why);

/*
 * Returns whether readings at these times, sorted, resolve the slice, and notes it if they do not.
 * Counters are taken to move evenly between two readings: the slice's ends must lie near readings,
 * or several readings inside it. Always true for a whole window.
 */
bool window_resolves(struct ingest *in, const char *what, const uint64_t *t_ns, size_t n);

/* The same for the readings of a .snap file; true also if it cannot be read. */
bool window_resolves_snaps(struct ingest *in, const char *what, const char *path);

/* Drops the points of series outside the slice. */
void window_cut_series(struct ingest *in);

#endif
