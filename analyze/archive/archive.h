/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Archives of captures: `zcost pack` writes one, and `zcost unpack` makes the folder again.
 */
#ifndef ZC_ARCHIVE_H
#define ZC_ARCHIVE_H

#include "analyze/archive/members.h"
#include "analyze/archive/reader.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- pack.c --- */

/*
 * Packs a capture folder into one .tar.zst. The same folder gives the same bytes with any number of
 * threads: sorted names, no owner, no time but that of the capture. All members lie under the name
 * of the folder:
 *
 *	NAME/SHA256SUMS      of every file
 *	NAME/...             the files and folders by name
 */
struct pack {
	const char *capture;
	const char *output; /* "-": standard output; a file appears only when it is complete */
	int level;	    /* of zstd, 1 to 19 */
	int threads;

	/* results */
	struct findings findings; /* what differs from the manifest, or was left out */
	size_t files;
	bool has_manifest;
};

int pack_capture(struct pack *p, struct error *err);

/* --- unpack.c --- */

/* Unpacks an archive into a folder, which appears when it is complete and checked. */
struct unpack {
	const char *archive; /* "-": standard input */
	const char *folder;  /* must not exist, or be empty */
	uint64_t max_bytes;  /* 0: the limits of reader.h */

	/* results */
	struct findings
		findings; /* files that differed from the manifest before they were packed */
	size_t files;
	bool has_manifest, has_sums;
};

/* Returns -EBADMSG if the archive is damaged, and leaves nothing behind. */
int unpack_archive(struct unpack *u, struct error *err);

/* --- members.c: a long job shows its progress --- */

/* Shows "packing 45 %" on the last line of a terminal. Shows nothing if stderr is no terminal. */
struct advance {
	const char *doing;
	uint64_t total, done; /* bytes; total 0: unknown */
	uint64_t next_ns;
	bool tty, shown;
};

struct advance advance_of(const char *doing, uint64_t total);
void advance_add(struct advance *p, uint64_t bytes);
void advance_end(struct advance *p); /* wipes the line */

#endif
