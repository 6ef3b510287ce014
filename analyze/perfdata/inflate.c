// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/inflate.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

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
