/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Archives of captures: `zcost pack` writes one, `zcost unpack` makes the folder again, and all
 * other commands take an archive in place of a capture.
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
 *	NAME/SHA256SUMS      of every file, first, so that a reader can check each file as it comes
 *	NAME/manifest.json, NAME/zcost.db (where analyzed), and the rest by name
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

/* --- packed.c --- */

/* Finds the checksum of manifest.json, or of the run.json of a single run. */
int packed_identity(const char *archive, char hex[65], struct error *err);

/* The store inside an archive, read into memory, so that no file can be left behind. */
struct packed_store {
	void *bytes; /* NULL: the archive has no store; the caller frees */
	size_t size;
	char identity[65];
};
int packed_store_read(const char *archive, struct packed_store *s, struct error *err);

/*
 * Returns the folder beside the archive, into which `zcost analyze` unpacks: ARCHIVE without
 * .tar.zst. The folder need not exist. The caller frees the name.
 */
char *packed_folder(const char *archive);
/* Returns whether the folder exists and holds the same capture as the archive. */
bool packed_folder_is(const char *archive, const char *folder);

/*
 * Returns -EBADMSG if the end of the archive is missing. A report reads only the beginning, with
 * the store, and would not notice a copy that broke off. This walks the heads of zstd's blocks and
 * unpacks nothing: it reads one page per 128 KB. If that does not lead to the end, it reads
 * everything to find the place. It does not notice changed bytes inside a block or a missing block.
 */
int archive_whole(const char *path, struct error *err);

/* --- job.c: a long job shows its progress --- */

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
