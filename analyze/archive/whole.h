/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does an archive have its end? A report needs no more than the beginning, where the store is, and
 * would never see that a copy broke off behind it.
 */
#ifndef ZC_ARCHIVE_WHOLE_H
#define ZC_ARCHIVE_WHOLE_H

#include "lib/error.h"

/*
 * From the head of each block that zstd wrote to the next: nothing is unpacked, one page of 128 KB
 * is read. Where that does not lead to the end, all of it is read, for the place: -EBADMSG. What is
 * behind the end counts as it does for unpack. Bytes changed inside of a block,
 * and whole blocks that are gone, are not seen.
 */
int archive_whole(const char *path, struct error *err);

#endif
