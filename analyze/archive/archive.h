/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Archives of captures: `zcost pack` writes one, and `zcost unpack` makes the folder again. Both
 * compare the files of the capture with their checksums, in SHA256SUMS (which pack writes as
 * sha256sum does) and in the manifest. Findings say where these disagree.
 */
#ifndef ZC_ARCHIVE_H
#define ZC_ARCHIVE_H

#include "lib/error.h"
#include "lib/str.h"

#include <jansson.h>
#include <sys/stat.h>

/* --- members.c --- */

#define SUMS_NAME "SHA256SUMS"

struct member {
	char *name; /* path in the capture; owned */
	bool folder;
	struct stat st; /* the state of the file to pack; unpack leaves it empty */
	char hex[65];	/* checksum of a file */
};

struct members {
	struct member *list; /* by name after members_sort() */
	size_t n, cap;
};

struct member *members_add(struct members *m, const char *name, bool folder);
void members_sort(struct members *m);
/* Finds a member in sorted members. Returns NULL if it is absent. */
struct member *members_find(const struct members *m, const char *name);
size_t members_files(const struct members *m); /* without the folders */
void members_free(struct members *m);
/* Returns -ENOENT if the members are not those of a capture. `path` is for the message. */
int members_check_capture(const struct members *m, const char *path, struct error *err);

/* Problems: all are counted, and the first ones are printed on stderr. */
enum { FINDINGS_SHOWN = 20 };
struct findings {
	size_t n;
	size_t checked; /* files that agree with a list */
	size_t differ;	/* files that differ from a list */
};

/* Adds the files that the manifest names, sorted. `hex` is "" if the checksum is not valid. */
void members_of_manifest(struct members *m, const json_t *manifest);
/*
 * Reads the manifest in the folder, if there is one, and adds the files that differ from it or are
 * missing to the findings. The caller releases *manifest.
 */
int members_against_manifest(const struct members *m, const char *folder, json_t **manifest,
			     struct findings *f, struct error *err);

/* Writes the text of SHA256SUMS for all files. */
void members_write_sums(const struct members *m, struct str *text);
/*
 * Compares with the text of SHA256SUMS in both directions: it also finds files that the text does
 * not list.
 */
void members_against_sums(const struct members *m, const char *text, struct findings *f);

/* Lists a capture folder by name. Leaves out all but files and folders, and adds a finding for
 * each. */
int scan_folder(struct members *m, const char *capture, struct findings *f, struct error *err);
/* Fills the checksums of all files. pack_capture() finds a file that changes afterwards. */
int scan_sums(struct members *m, const char *capture, struct error *err);
/* Names what is neither a file nor a folder, such as "a fifo". Returns NULL for these two. */
const char *member_fault(mode_t mode);
/* Opens a member. Returns its descriptor, or -EAGAIN if the file has changed since scan_folder().
 */
int scan_open(const struct member *e, const char *capture, struct error *err);

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
	int level;	    /* the level of zstd, 1 to 19 */
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
	uint64_t max_bytes;  /* the most bytes of all files together; 0: the limits in unpack.c */

	/* results */
	struct findings
		findings; /* files that differed from the manifest before they were packed */
	size_t files;
	bool has_manifest, has_sums;
};

/* Returns -EBADMSG if the archive is damaged, and leaves nothing behind. */
int unpack_archive(struct unpack *u, struct error *err);

#endif
