/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What commands take out of an archive in CAPTURE's place: the store that was packed, into memory,
 * so that nothing can be left behind; or the folder that lies beside it, ARCHIVE without .tar.zst,
 * where that is the same capture, unpacked (analyze needs the raw files, and makes it).
 */
#ifndef ZC_ARCHIVE_PACKED_H
#define ZC_ARCHIVE_PACKED_H

#include "analyze/archive/reader.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The checksum of manifest.json, or of the run.json of a single run. */
int packed_identity(const char *archive, char hex[65], struct error *err);

struct packed_store {
	void *bytes; /* NULL: the archive has none; the caller frees */
	size_t size;
	char identity[65];
};
int packed_store_read(const char *archive, struct packed_store *s, struct error *err);

/* The folder beside it, which need not exist; the caller frees. */
char *packed_folder(const char *archive);
/* Is it there, and the same capture? */
bool packed_folder_is(const char *archive, const char *folder);

#endif
