/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The members of an archive, one after the other, from a file or a pipe. Only files and folders
 * with names that name_clean takes come out; anything else, and more than an archive of a capture
 * can sensibly hold, is an error that names it.
 */
#ifndef ZC_ARCHIVE_READER_H
#define ZC_ARCHIVE_READER_H

#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct reader;

/*
 * What an archive of a stranger may unpack to: 32 GiB, and 100 times its packed size where that is
 * more than 256 MiB. Captures pack 5 to 20 times smaller, a store with repeated rows up to 50
 * times; a bomb of zeros reaches 10,000 times. The 256 MiB let a small capture with a sparse file
 * pass.
 */
#define UNPACK_MAX (32ULL << 30)
enum { UNPACK_RATIO = 100, UNPACK_FREE = 256 << 20 };

/*
 * `path` "-": standard input. `max_bytes`: of all files together, in place of both limits above, or
 * 0 for these.
 */
int reader_open(struct reader **r, const char *path, uint64_t max_bytes, struct error *err);
void reader_close(struct reader *r);

struct item {
	const char *name; /* until the next one; "" is the archive's own top */
	bool folder;
	uint64_t size;
};
/* 1: a member, 0: the end, -errno. */
int reader_next(struct reader *r, struct item *item, struct error *err);

/* Its contents, holes as zeros: bytes read, 0 at the end, -errno. */
long reader_data(struct reader *r, void *buf, size_t size, struct error *err);

/* Reads what follows the archive, so that who writes into a pipe can end. */
int reader_drain(struct reader *r, struct error *err);

uint64_t reader_input(const struct reader *r);	    /* compressed bytes read so far */
uint64_t reader_input_size(const struct reader *r); /* of the file; 0: a pipe */

/* Does the file begin as zstd does? What every command takes for a packed capture. */
bool reader_is_archive(const char *path);

#endif
