/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds files that changed after `zcost capture` wrote them, by the checksums in the manifest.
 * Threads check the files while other threads analyze the runs, so a machine with idle CPUs loses
 * no time.
 */
#ifndef ZC_DAMAGE_H
#define ZC_DAMAGE_H

#include "analyze/probes/layout.h"

struct damage;

enum damage_kind { DAMAGE_DIFFERS, DAMAGE_MISSING, DAMAGE_UNREADABLE, DAMAGE_KINDS };

/*
 * Starts to check the files of the entries that are `wanted` and have a successful run, and the
 * files outside all entries. Returns 0 or -errno.
 */
int damage_start(struct damage **d, const struct layout *l, const char *capture,
		 bool (*wanted)(const void *arg, const struct layout_entry *e), const void *arg,
		 size_t threads, struct error *err);
void damage_wait(struct damage *d);
void damage_free(struct damage *d);

/*
 * Returns a message such as "2 files (first perf.data) differ from ..." about the files of an
 * entry, or NULL if there are none. If the entry is NULL, the message covers the files outside all
 * entries. The caller frees the message. damage_of_all() covers all files and prints names relative
 * to the capture's folder.
 */
char *damage_of(const struct damage *d, const struct layout_entry *e, enum damage_kind kind);
char *damage_of_all(const struct damage *d, enum damage_kind kind);

#endif
