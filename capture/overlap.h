/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_CAPTURE_OVERLAP_H
#define ZC_CAPTURE_OVERLAP_H

#include "capture/capture.h"

/*
 * Why the run in `dir`, whose sides all went well, cannot be counted: their windows, by one clock,
 * have no moment in common, or are farther apart than lib/window_skew.h allows. *again: no command
 * ended before its window did, so that it may go well the next time. NULL: they agree, or that
 * cannot be known.
 */
char *overlap_missing(struct capture *c, const char *dir, bool *again);

#endif
