/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that hold a folder open. Every process of a run on this host inherits the open
 * folder, so all of them can be found and ended after any kind of failure.
 */
#ifndef ZC_HOLDERS_H
#define ZC_HOLDERS_H

/*
 * Opens the folder for this process and all its children. Returns the descriptor or -errno. Nobody
 * can read the folder through it.
 */
int holders_join(const char *dir);

/* Returns the number of other processes that hold the folder. */
int holders_count(const char *dir);

/*
 * Ends the holders: waits `patience_ms` for them to end by themselves, then sends SIGTERM (and
 * SIGCONT to stopped ones), then SIGKILL. Returns how many are left.
 */
int holders_end(const char *dir, int patience_ms);

#endif
