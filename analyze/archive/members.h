/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a packed capture with their checksums, and what does not agree with the lists of
 * checksums there are: SHA256SUMS, which pack writes (as sha256sum does), and the manifest.
 */
#ifndef ZC_ARCHIVE_MEMBERS_H
#define ZC_ARCHIVE_MEMBERS_H

#include "lib/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SUMS_NAME "SHA256SUMS"

struct member {
	char *name; /* under the capture; owned */
	bool folder;
	struct stat st; /* of the file that is packed; unpack leaves it empty */
	char hex[65];	/* files */
};

struct members {
	struct member *list; /* by name, once sorted */
	size_t n, cap;
};

struct member *members_add(struct members *m, const char *name, bool folder);
void members_sort(struct members *m);
struct member *members_find(const struct members *m,
			    const char *name); /* of sorted ones; or NULL */
size_t members_files(const struct members *m);
void members_free(struct members *m);

/* What is not as it should be: all are counted, the first ones kept in words. */
enum { FINDINGS_KEPT = 20 };
struct findings {
	char *lines[FINDINGS_KEPT];
	size_t n;
	size_t checked; /* files that a list names and that are as it says */
	size_t differ;	/* those that are not */
};

void findings_add(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_warn(const struct findings *f); /* on stderr */
/* Appends "13 files, 7 as manifest.json says, 1 that differs, 5 not named in it". */
void findings_files(const struct findings *f, size_t files, bool has_manifest, struct str *out);
void findings_free(struct findings *f);

/* The files that the manifest names, with their checksums ("": none that can be one); sorted. */
void members_of_manifest(struct members *m, const json_t *manifest);
/* Those of them that differ or are missing. */
void members_against_manifest(const struct members *m, const json_t *manifest, struct findings *f);

/* SHA256SUMS of all files but itself, and back. */
void members_write_sums(const struct members *m, struct str *text);
/* False: it is no such list. */
bool members_read_sums(struct members *m, const char *text);
/* Both ways: also what is there and not listed. */
void members_against_sums(const struct members *m, const struct members *sums, struct findings *f);

#endif
