/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records inside PERF_RECORD_COMPRESSED: one continuous zstd stream, in which records straddle
 * the pieces. `buf` holds what is unpacked and not yet used; it never grows beyond a record and
 * what zstd gives at once, whatever the stream says.
 */
#ifndef ZC_PERFDATA_INFLATE_H
#define ZC_PERFDATA_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
