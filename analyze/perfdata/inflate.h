/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records inside PERF_RECORD_COMPRESSED: one continuous zstd stream, in which records straddle
 * the pieces. `buf` holds what is unpacked and not yet used.
 */
#ifndef ZC_PERFDATA_INFLATE_H
#define ZC_PERFDATA_INFLATE_H

#include <stddef.h>
#include <stdint.h>

struct inflate {
	void *stream;
	uint8_t *buf;
	size_t len, cap;
	const char *error; /* what zstd said, after a failure */
};

/* Unpacks a piece behind what `buf` holds. 0 or -EBADMSG. */
int inflate_add(struct inflate *in, const void *data, size_t len);
/* The first `n` bytes of `buf` are used up. */
void inflate_used(struct inflate *in, size_t n);
void inflate_end(struct inflate *in);

#endif
