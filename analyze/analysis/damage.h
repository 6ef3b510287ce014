/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a capture that are not as `zcost capture` left them, by the checksums in its manifest.
 * Threads read them while the runs are analyzed: no time is lost on a machine with CPUs to spare.
 */
#ifndef ZC_DAMAGE_H
#define ZC_DAMAGE_H

#include "analyze/ingest/layout.h"

struct damage;

enum damage_kind { DAMAGE_DIFFERS, DAMAGE_MISSING, DAMAGE_UNREADABLE, DAMAGE_KINDS };

/* Of the entries whose run is ok and `wanted`, and of what belongs to no entry; -errno or 0. */
int damage_start(struct damage **d, const struct layout *l, const char *capture,
		 bool (*wanted)(const void *arg, const struct layout_entry *e), const void *arg,
		 size_t threads, struct error *err);
void damage_wait(struct damage *d);
void damage_free(struct damage *d);

/*
 * "2 files (first perf.data) differ from ...": of an entry, of what belongs to none (NULL), or,
 * with names as seen from the capture's folder, of all. NULL: none are. The caller frees.
 */
char *damage_of(const struct damage *d, const struct layout_entry *e, enum damage_kind kind);
char *damage_of_all(const struct damage *d, enum damage_kind kind);

#endif
