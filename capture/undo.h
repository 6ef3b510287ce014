/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal of what must be undone: a shell script NNN each in the folder of state_folder,
 * written before what it undoes is begun and taken away when it has run. Whatever ends a capture,
 * the next one here finds what is left and undoes it, the last first. So a script may run twice, or
 * where only a part of what it undoes was done, or nothing.
 */
#ifndef ZC_CAPTURE_UNDO_H
#define ZC_CAPTURE_UNDO_H

#include "lib/error.h"

#include <stdbool.h>

struct undo {
	const char *owner; /* "the plan", "setting mtu=9000" */
	const char *saved; /* $saved in `after`; NULL: there is none */
	const char *after;
	double timeout_s; /* 0: none */
};

int undo_write(const char *dir, unsigned int n, const struct undo *u, struct error *err);

/* Runs number n, not to be interrupted, and takes it away; it stays when it fails. 0: none there.
 */
int undo_run(const char *dir, unsigned int n, struct error *err);

/*
 * Runs what an earlier, killed capture in `dir` left; err: the first that failed. What was due
 * before the last boot is dropped with a warning: the boot has undone it. With `forget` failures
 * are warnings, and nothing is left: what they were to undo may be gone, as an interface with its
 * namespace, and no try would ever do.
 */
int undo_recover(const char *dir, bool forget, struct error *err);

/* Is anything left to undo? */
bool undo_due(const char *dir);

/*
 * Where zcost notes what it must undo: outside of the capture folder, which may come from anybody,
 * in a folder that nobody else can write to. It is /run/zcost/KEY for root, and zcost/KEY in
 * $XDG_RUNTIME_DIR (or /run/user/UID) for other users; $ZCOST_STATE is another place for both. KEY
 * is the capture folder's device, inode and time of birth: a folder that is renamed keeps its
 * notes, a copy has none.
 */
/*
 * Returns the path of the notes on the capture folder `capture`; the caller frees. With `make` the
 * folder is made, or `err` says why there is none. Without, NULL says that there are no notes.
 */
char *state_folder(const char *capture, bool make, struct error *err);

/* Tells a user other than root whether root has notes on the capture folder. */
bool state_of_root(const char *capture);

/* Removes the folder of the notes if it is empty. */
void state_drop(const char *capture);

#endif
