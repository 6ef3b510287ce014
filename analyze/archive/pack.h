/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture folder into one .tar.zst. The same folder gives the same bytes: names sorted, no owner,
 * no time but that of the capture, whatever the number of threads. All is under the folder's name:
 *
 *	NAME/SHA256SUMS      of every file, first, so that a reader can check each as it comes
 *	NAME/manifest.json, NAME/zcost.db (where analyzed), and the rest by name
 */
#ifndef ZC_ARCHIVE_PACK_H
#define ZC_ARCHIVE_PACK_H

#include "analyze/archive/members.h"
#include "lib/error.h"

struct pack {
	const char *capture;
	const char *output; /* "-": standard output; else the file appears when it is whole */
	int level;	    /* of zstd, 1 to 19 */
	int threads;

	/* what was found */
	struct findings findings; /* what differs from the manifest, or was left out */
	size_t files;
	bool has_manifest;
};

int pack_capture(struct pack *p, struct error *err);

#endif
