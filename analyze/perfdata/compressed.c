// SPDX-License-Identifier: GPL-2.0-only
/* Finds the packed pieces in a compressed record, and unpacks them. */
#include "analyze/perfdata/scan.h"

#include "analyze/perfdata/format.h"
#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* --- the pieces of a record --- */

enum {
	HEADER = RECORD_HEADER_SIZE + 8, /* of COMPRESSED2, with data_size */
	PIECE_MAX = (1 << 16) - HEADER - 1,
};

uint64_t packed_wrapped(struct cursor c)
{
	uint64_t size, data;

	if (cursor_u32(&c) != REC_COMPRESSED2)
		return 0;
	cursor_u16(&c);
	size = cursor_u16(&c);
	data = cursor_u64(&c);
	if (c.bad || data > UINT32_MAX || data + HEADER <= size)
		return 0;
	return (uint16_t)((data + HEADER + 7) & ~7ULL) == size ? data + HEADER : 0;
}

/*
 * Returns the size of the record that starts `at` bytes into `c` if it may be a later piece, or 0.
 */
static size_t packed_later_piece(struct cursor c, size_t at)
{
	uint32_t type;
	size_t size;

	cursor_take(&c, at);
	type = cursor_u32(&c);
	cursor_u16(&c);
	size = cursor_u16(&c);
	return !c.bad && type == REC_COMPRESSED2 && size >= HEADER ? size : 0;
}

/*
 * Returns the length of the first of several pieces. After it, headers must lead from one piece to
 * the next up to the end. Searches from the end, so it looks at each place once.
 */
static size_t packed_first_piece(const struct cursor *c)
{
	size_t n = cursor_left(c), i, size, most = 0;
	uint8_t *leads = xcalloc(n + 1, 1);

	leads[n] = 1;
	for (i = n; i-- > 0;) {
		size = packed_later_piece(*c, i);
		leads[i] = size && size <= n - i && leads[i + size];
		if (leads[i] && i <= PIECE_MAX && i > most)
			most = i;
	}
	free(leads);
	return most ? most : n;
}

/* Returns the length of the first piece. `c` starts after data_size. */
static size_t packed_begin_sized(struct cursor *c)
{
	uint64_t size = cursor_u64(c);
	int i;

	if (cursor_left(c) > PIECE_MAX)
		return packed_first_piece(c);
	if (size && size <= cursor_left(c))
		c->end = c->at + size;
	else /* data_size is useless: take all bytes except possible padding */
		for (i = 0; i < 7 && c->end > c->at && !c->end[-1]; i++)
			c->end--;
	return cursor_left(c);
}

bool packed_next(struct packed *p, struct cursor *piece)
{
	struct cursor *c = &p->rest;
	size_t n = cursor_left(c);

	if (c->bad || !n)
		return false;
	if (p->later) {
		n = packed_later_piece(*c, 0);
		cursor_take(c, HEADER);
		n -= n ? HEADER : 0;
	} else if (p->sized) {
		n = packed_begin_sized(c);
	}
	p->later = true;
	*piece = cursor_sub(c, n);
	return !piece->bad;
}

/* --- the zstd stream --- */

enum { RECORD_MAX = 1 << 16, STEP = 1 << 18 };

void inflate_begin(struct inflate *in, const void *data, size_t len)
{
	if (!in->stream) {
		in->stream = ZSTD_createDStream();
		in->cap = RECORD_MAX + STEP;
		in->buf = xmalloc(in->cap);
	}
	in->from = data;
	in->from_len = len;
	in->more = len;
}

int inflate_next(struct inflate *in)
{
	ZSTD_inBuffer from = {.src = in->from, .size = in->from_len};
	ZSTD_outBuffer to = {.dst = in->buf + in->len, .size = in->cap - in->len};
	size_t ret;

	if (!in->more)
		return 0;
	if (!in->stream || !to.size)
		return -EBADMSG;
	ret = ZSTD_decompressStream(in->stream, &to, &from);
	in->from += from.pos;
	in->from_len -= from.pos;
	in->len += to.pos;
	in->more = in->from_len || to.pos == to.size;
	if (ZSTD_isError(ret) || (in->more && !from.pos && !to.pos))
		return -EBADMSG;
	return 1;
}

void inflate_used(struct inflate *in, size_t n)
{
	in->len -= n;
	memmove(in->buf, in->buf + n, in->len);
}

void inflate_end(struct inflate *in)
{
	ZSTD_freeDStream(in->stream);
	free(in->buf);
	*in = (struct inflate){0};
}
