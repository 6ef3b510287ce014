/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where zcost notes what it must undo: outside of the capture folder, which may come from anybody,
 * in a folder that nobody else can write to. It is /run/zcost/KEY for root, and zcost/KEY in
 * $XDG_RUNTIME_DIR (or /run/user/UID) for other users; $ZCOST_STATE is another place for both. KEY
 * is the capture folder's device, inode and time of birth: a folder that is renamed keeps its
 * notes, a copy has none.
 */
#ifndef ZC_CAPTURE_STATE_H
#define ZC_CAPTURE_STATE_H

#include "lib/error.h"

#include <stdbool.h>

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
