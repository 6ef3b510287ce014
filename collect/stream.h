/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a folder through a pipe, each with its checksum. So the run of a capture comes back from
 * another host through the one connection to it:
 *
 *     file <bytes> <name>\n<the bytes>sum <SHA-256>\n     for each regular file, by name
 *     failed <why>\n                                      in place of a file that cannot be read
 *     end\n
 *
 * Names are relative to the folder, without ".", ".." and control characters. A file that is
 * shorter than announced is filled up with zeros, and its sum is `-`.
 */
#ifndef ZC_STREAM_H
#define ZC_STREAM_H

#include "lib/intern.h"

#include <stdbool.h>

/*
 * Writes the files below `dir` to `fd`, or none when there is no such folder. Files that are in
 * `sent` by name, size and time of change are left out, and the others are added to it; NULL sends
 * all. Returns false when nobody reads `fd`, or nobody did for `patience_ms` (-1: for ever).
 */
bool stream_send(int fd, const char *dir, struct intern *sent, int patience_ms);

/* Says whether stream_send may send such a name. */
bool stream_name_ok(const char *name);

#endif
