/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which names a packed capture may hold. One rule for both ends: what pack writes, unpack takes.
 * Refused are absolute names, "..", empty parts, control characters, parts of more than 255 bytes,
 * names of more than 1024, more than 32 folders deep.
 */
#ifndef ZC_ARCHIVE_NAMES_H
#define ZC_ARCHIVE_NAMES_H

#include "lib/error.h"

/* `raw` without leading "./" and trailing "/"; "" for the folder itself. The caller frees. */
int name_clean(const char *raw, char **clean, struct error *err);

/* For messages: control characters as '?', cut at a bearable length; static buffer. */
const char *name_shown(const char *raw);

#endif
