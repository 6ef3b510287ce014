/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What pass one uses: samples found ahead of it, and unpacked records.
 *
 * A stretch is a place where samples lie back to back. Several threads find stretches ahead of pass
 * one, which then steps over many samples at once. A thread that starts in the middle of a file
 * must guess where a record begins. A wrong guess does no harm: a stretch consists of whole records
 * from its first byte on, and pass one uses a stretch only if its own steps lead exactly to that
 * byte. Otherwise it steps over single records.
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
	} * parts; /* of the file, in order */
	size_t nparts, part, next;
};

/* The records of a file: `len` bytes from `at` on. */
struct stretch_source {
	int fd;
	size_t at, len;
	bool swap;
};

/* Starts one thread per part, the caller's included. */
void stretches_find(struct stretches *s, const struct stretch_source *src, size_t nparts);

/* Returns the first stretch at or after `at`, or NULL. `at` must never decrease. */
const struct stretch *stretches_from(struct stretches *s, size_t at);

void stretches_free(struct stretches *s);

/* --- compressed.c --- */

/*
 * The records inside PERF_RECORD_COMPRESSED: one zstd stream whose records straddle the pieces.
 * `buf` holds the unpacked bytes until inflate_used. It never grows beyond one record and one step
 * of zstd, whatever the stream contains.
 */
struct inflate {
	void *stream;
	uint8_t *buf;
	size_t len, cap;
	const uint8_t *from; /* the piece to unpack */
	size_t from_len;
	bool more; /* `buf` had no room for all of it */
};

void inflate_begin(struct inflate *in, const void *data, size_t len);
/*
 * Unpacks a part of the piece and appends it to `buf`. Returns 1, 0 at the end of the piece, or
 * -EBADMSG.
 */
int inflate_next(struct inflate *in);
/* Removes the first `n` bytes of `buf`. */
void inflate_used(struct inflate *in, size_t n);
void inflate_end(struct inflate *in);

/*
 * The packed bytes of a COMPRESSED or COMPRESSED2 record.
 *
 * COMPRESSED2 states how many of its bytes are data; the rest pads it to 8 bytes. Since 6.16, perf
 * writes what it gets at once as one such record. From 64 KiB on, the 16-bit size in the header
 * wraps, there is no padding, and the record may hold several records, one after the other. The
 * first header then has the length of all of them. The sizes of the others are right, but their
 * data_size is garbage.
 */

/*
 * Returns the true length of the first record in `c` if its size has wrapped, or 0. The length
 * includes the header.
 */
uint64_t packed_wrapped(struct cursor c);

/* Walks over the pieces of packed bytes in a record. */
struct packed {
	struct cursor rest; /* at first the record without its header */
	bool sized;	    /* a COMPRESSED2 record */
	bool later;	    /* the first piece is done */
};

/* Returns false after the last piece. */
bool packed_next(struct packed *p, struct cursor *piece);

#endif
