/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which names a packed capture may hold. One rule for both ends: what pack writes, unpack takes.
 * Refused are absolute names, "..", empty parts, control characters, parts of more than 255 bytes,
 * names of more than 1024, more than 32 folders deep.
 */
#ifndef ZC_NAMES_H
#define ZC_NAMES_H

#include "lib/error.h"

/* `raw` without leading "./" and trailing "/"; "" for the folder itself. The caller frees. */
int name_clean(const char *raw, char **clean, struct error *err);

/* Returns whether a packed capture may hold the name. */
bool name_is_safe(const char *name);

/* Returns whether the name is one part of a path: no '/', no control character, at most 255 bytes,
 * and neither "", "." nor "..". */
bool name_is_part(const char *name);

/* The bytes of a foreign name that a message shows, for "%." NAME_SHOWN "s". */
#define NAME_SHOWN "120"

#endif
