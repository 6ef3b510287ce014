/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan's `before` and `after`. What must be undone is written down in CAPTURE/.undo before
 * `before` starts and taken away when `after` has run: a capture that was killed outright is
 * cleaned up by the next one.
 */
#ifndef ZC_CAPTURE_HOOK_H
#define ZC_CAPTURE_HOOK_H

#include "capture/interrupt.h"
#include "capture/plan.h"

/* Runs what an earlier, killed capture in `dir` left to be undone. */
int hook_recover(const char *dir, struct error *err);

/* -EINTR when a signal came meanwhile. `after` is due from here on, also after a failure. */
int hook_before(const char *dir, const struct plan *p, struct interrupt *intr, struct error *err);

/* Not to be interrupted. */
int hook_after(const char *dir, const struct plan *p, struct error *err);

#endif
