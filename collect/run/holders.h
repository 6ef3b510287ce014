/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has a folder open: everything that belongs to a run on this host inherits it open, so that
 * the run can be ended, however it was left.
 */
#ifndef ZC_HOLDERS_H
#define ZC_HOLDERS_H

/* Opens it for this process and all its children. 0 or -errno. */
int holders_join(const char *dir);

/* How many other processes hold it. */
int holders_count(const char *dir);

/*
 * Ends them: leaves them `patience_ms` to end by themselves, then SIGTERM (stopped ones are
 * continued), then SIGKILL. Returns how many there are still.
 */
int holders_end(const char *dir, int patience_ms);

#endif
