/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of each run's window in the whole window's place: --from and --to of a capture. The window
 * is narrowed before the raw files are read, so that every figure is over exactly this interval.
 * What cannot tell of it, a total of the whole window, or readings too far apart, gives no figure:
 * it is named, and never stretched.
 */
#ifndef ZC_WINDOW_H
#define ZC_WINDOW_H

#include "analyze/ingest/ingest.h"

/* Narrows in->run's window as in->how.slice says. -ERANGE: the window ends before it begins. */
int window_narrow(struct ingest *in, struct error *err);

/* `what`, a collector, has no figure in the slice, because of `why`. */
void window_absent(struct ingest *in, const char *what, const char *why);

/*
 * Do readings at these times, the earliest first, tell of the slice? Counters are taken to move
 * evenly between two readings, so the slice's ends must lie near readings, or several readings in
 * it; else it says so. Always true of a whole window.
 */
bool window_resolves(struct ingest *in, const char *what, const uint64_t *t_ns, size_t n);

/* The same of the instants of a .snap file; true also where it cannot be read. */
bool window_resolves_snaps(struct ingest *in, const char *what, const char *path);

/* Leaves the points of series that lie in the slice. */
void window_cut_series(struct ingest *in);

#endif
