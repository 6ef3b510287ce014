/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a capture with their checksums: from its folder, from SHA256SUMS (which pack writes
 * as sha256sum does) and from the manifest; and the findings where these disagree.
 */
#ifndef ZC_ARCHIVE_MEMBERS_H
#define ZC_ARCHIVE_MEMBERS_H

#include "lib/error.h"
#include "lib/str.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define SUMS_NAME "SHA256SUMS"

struct member {
	char *name; /* path in the capture; owned */
	bool folder;
	struct stat st; /* of the file to pack; unpack leaves it empty */
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

/* Problems: all are counted, and the first ones have a line of text. */
enum { FINDINGS_KEPT = 20 };
struct findings {
	char *lines[FINDINGS_KEPT];
	size_t n;
	size_t checked; /* files that agree with a list */
	size_t differ;	/* files that differ from a list */
};

void findings_add(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_warn(const struct findings *f); /* prints them on stderr */
/* Appends "13 files, 7 as manifest.json says, 1 that differs, 5 not named in it". */
void findings_files(const struct findings *f, size_t files, bool has_manifest, struct str *out);
void findings_free(struct findings *f);

/* Adds the files that the manifest names, sorted. `hex` is "" if the checksum is not valid. */
void members_of_manifest(struct members *m, const json_t *manifest);
/* Adds the files that differ from the manifest or are missing to the findings. */
void members_against_manifest(const struct members *m, const json_t *manifest, struct findings *f);

/* Writes the text of SHA256SUMS for all files. */
void members_write_sums(const struct members *m, struct str *text);
/* Reads the text of SHA256SUMS. Returns false if it is damaged. */
bool members_read_sums(struct members *m, const char *text);
/* Compares in both directions: it also finds files that SHA256SUMS does not list. */
void members_against_sums(const struct members *m, const struct members *sums, struct findings *f);

struct advance;

/* Lists a capture folder by name. Leaves out all but files and folders, and adds a finding for
 * each. */
int scan_folder(struct members *m, const char *capture, struct findings *f, struct error *err);
/* Fills the checksums of all files. */
int scan_sums(struct members *m, const char *capture, struct advance *progress, struct error *err);
/* Opens a member. Returns its descriptor, or -EAGAIN if the file has changed since scan_folder().
 */
int scan_open(const struct member *e, const char *capture, struct error *err);

#endif
