/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An archive into a folder, which appears when it is whole and checked. Zeros become holes.
 */
#ifndef ZC_ARCHIVE_UNPACK_H
#define ZC_ARCHIVE_UNPACK_H

#include "analyze/archive/members.h"
#include "lib/error.h"

struct unpack {
	const char *archive; /* "-": standard input */
	const char *folder;  /* must not exist, or be empty */
	uint64_t max_bytes;  /* 0: the limits of reader.h */

	/* what was found */
	struct findings findings; /* what differs from the manifest: it did before it was packed */
	size_t files;
	bool has_manifest, has_sums;
};

/* -EBADMSG: damaged, and nothing is left. */
int unpack_archive(struct unpack *u, struct error *err);

#endif
