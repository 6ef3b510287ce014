/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the members of an archive, one after the other, from a file or a pipe. It returns only
 * files and folders with names that name_clean() accepts. Anything else is an error, and so is more
 * data than a capture can hold.
 */
#ifndef ZC_ARCHIVE_READER_H
#define ZC_ARCHIVE_READER_H

#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct reader;

/*
 * The limits for an archive of a stranger: 32 GiB, and 100 times its packed size or 256 MiB,
 * whichever is more. Captures pack 5 to 20 times smaller, and a store with repeated rows up to 50
 * times. A bomb of zeros reaches 10,000 times. The 256 MiB are for a small capture with a sparse
 * file.
 */
#define UNPACK_MAX (32ULL << 30)
enum { UNPACK_RATIO = 100, UNPACK_FREE = 256 << 20 };

/*
 * Opens an archive, or standard input for "-". `max_bytes` limits all files together and replaces
 * the limits above. 0 means these limits.
 */
int reader_open(struct reader **r, const char *path, uint64_t max_bytes, struct error *err);
void reader_close(struct reader *r);

struct item {
	const char *name; /* valid until the next item; "" is the top of the archive */
	bool folder;
	uint64_t size;
};
/* Returns 1 for a member, 0 at the end, or -errno. */
int reader_next(struct reader *r, struct item *item, struct error *err);

/* Reads the contents, holes as zeros. Returns the bytes read, 0 at the end, or -errno. */
long reader_data(struct reader *r, void *buf, size_t size, struct error *err);

/* Reads what follows the archive, so that the writer of a pipe can end. */
int reader_drain(struct reader *r, struct error *err);

uint64_t reader_input(const struct reader *r);	    /* compressed bytes read so far */
uint64_t reader_input_size(const struct reader *r); /* size of the file; 0: a pipe */

#endif
