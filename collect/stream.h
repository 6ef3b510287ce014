/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of a folder through a pipe, each with its checksum, so that a capture's run comes back from
 * another host by the one connection there is:
 *
 *     file <bytes> <name>\n<the bytes>sum <SHA-256>\n     for each regular file, by name
 *     failed <why>\n                                      in the place of one that cannot be read
 *     end\n
 *
 * Names are relative to the folder, without "." and ".." and control characters. A file that could
 * not be read to the size it was announced with is filled up with zeros, and its sum is `-`.
 */
#ifndef ZC_STREAM_H
#define ZC_STREAM_H

#include "lib/intern.h"

#include <stdbool.h>

/*
 * Writes the files below `dir` to `fd`; none when it is not there. Those in `sent` (by name, size
 * and time of change) are left out, and the others entered; NULL: all. false: nobody reads `fd`,
 * or nobody did for `patience_ms` (-1: for ever).
 */
bool stream_send(int fd, const char *dir, struct intern *sent, int patience_ms);

/* Is it a name that stream_send may have sent? */
bool stream_name_ok(const char *name);

#endif
