/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose capture it is, and what an earlier one that was killed has left: processes that run,
 * settings that hold. (Its half runs: leftovers.c.)
 */
#ifndef ZC_CAPTURE_RECOVER_H
#define ZC_CAPTURE_RECOVER_H

#include "capture/capture.h"

/* The folder itself is what is locked: nothing to leave behind. Returns the fd or -errno. */
int recover_lock(const char *dir, struct error *err);

/* Call when the plan is known to be that of the capture. Sets c->mark, and c->runs_fd. */
int recover_earlier(struct capture *c, struct error *err);

/* runs/, and the lock on it that all of a run inherits: the next capture can wait for its end. */
int recover_lock_runs(struct capture *c, struct error *err);
/* Is it handed down just now? What `before` leaves running does not belong to a run. */
void recover_hand_down(const struct capture *c, bool down);

/* A side that was killed leaves others to end its processes: they write until then. */
void recover_sweep(const struct capture *c, const struct run_id *id);

#endif
