/* SPDX-License-Identifier: GPL-2.0-only */
/* The files and folders of a capture folder, and their checksums, before they are packed. */
#ifndef ZC_ARCHIVE_SCAN_H
#define ZC_ARCHIVE_SCAN_H

#include "analyze/archive/members.h"
#include "analyze/archive/advance.h"
#include "lib/error.h"

/* By name. What is neither file nor folder is left out, and found. */
int scan_folder(struct members *m, const char *capture, struct findings *f, struct error *err);
int scan_sums(struct members *m, const char *capture, struct advance *progress, struct error *err);

/* Opens a member that is still the file that was scanned. fd or -errno. */
int scan_open(const struct member *e, const char *capture, struct error *err);

#endif
