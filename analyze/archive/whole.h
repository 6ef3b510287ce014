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
 * is read. -EBADMSG: it is cut off or no longer zstd's, with the place. Bytes changed inside of a
 * block are not seen.
 */
int archive_whole(const char *path, struct error *err);

#endif
