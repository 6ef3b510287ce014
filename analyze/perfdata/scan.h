/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a file there are samples back to back, found ahead of pass one and on several threads,
 * so that it steps over many at once. A thread that begins in the file's midst must guess where a
 * record begins. That cannot harm: a stretch is whole records from its first byte on, and pass one
 * takes only one that begins exactly where its own steps have led it. What was guessed wrong, or
 * not found, it steps over record by record.
 */
#ifndef ZC_PERFDATA_SCAN_H
#define ZC_PERFDATA_SCAN_H

#include "lib/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stretch {
	size_t at, len;
};

struct stretches {
	struct stretch_part {
		struct stretch *list;
		size_t n, cap;
	} * parts; /* of the file, in its order */
	size_t nparts, part, next;
};

/* A file's records: `len` bytes from `at` on. */
struct stretch_source {
	int fd;
	size_t at, len;
	bool swap;
};

/* Each of `nparts` parts gets a thread; one is the caller's. */
void stretches_find(struct stretches *s, const struct stretch_source *src, size_t nparts);

/* The first that begins at `at` or behind it; NULL: there is none. `at` never goes back. */
const struct stretch *stretches_from(struct stretches *s, size_t at);

void stretches_free(struct stretches *s);

/*
 * The records inside PERF_RECORD_COMPRESSED: one continuous zstd stream, in which records straddle
 * the pieces. `buf` holds what is unpacked and not yet used; it never grows beyond a record and
 * what zstd gives at once, whatever the stream says.
 */

struct inflate {
	void *stream;
	uint8_t *buf;
	size_t len, cap;
	const uint8_t *from; /* the piece at hand */
	size_t from_len;
	bool more; /* zstd holds more of it than `buf` had room for */
};

void inflate_begin(struct inflate *in, const void *data, size_t len);
/* Unpacks a part of the piece behind what `buf` holds: 1, 0 at the piece's end, or -EBADMSG. */
int inflate_next(struct inflate *in);
/* The first `n` bytes of `buf` are used up. */
void inflate_used(struct inflate *in, size_t n);
void inflate_end(struct inflate *in);

/*
 * The packed bytes of a COMPRESSED or COMPRESSED2 record.
 *
 * COMPRESSED2 says how many of its bytes are data; the rest pads it to 8. perf since 6.16 writes
 * what one push gave as one such record. Where that is 64 KiB or more, the 16 bits of the header's
 * size wrap, there is no padding, and several records may lie in it one behind the other: the
 * first one's header says the length of all, the others' sizes are right and their data_size is
 * whatever was in memory.
 */

/* The true length of the record that `c` begins with, header included, if its size wrapped; or 0.
 */
uint64_t packed_wrapped(struct cursor c);

/* Walks the pieces of packed bytes in a record. */
struct packed {
	struct cursor rest; /* at first the record without its header */
	bool sized;	    /* COMPRESSED2 */
	bool later;	    /* the first piece is taken */
};

/* False: there are no more. */
bool packed_next(struct packed *p, struct cursor *piece);

#endif
