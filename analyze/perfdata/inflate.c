// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/inflate.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void make_room(struct inflate *in)
{
	size_t step = ZSTD_DStreamOutSize();

	if (in->cap - in->len >= step)
		return;
	in->cap = in->cap * 2 + step;
	in->buf = xrealloc(in->buf, in->cap);
}

int inflate_add(struct inflate *in, const void *data, size_t len)
{
	ZSTD_inBuffer from = {.src = data, .size = len};
	ZSTD_outBuffer to;
	size_t ret;

	if (!in->stream)
		in->stream = ZSTD_createDStream();
	if (!in->stream)
		return -ENOMEM;
	do {
		make_room(in);
		to = (ZSTD_outBuffer){.dst = in->buf + in->len, .size = in->cap - in->len};
		ret = ZSTD_decompressStream(in->stream, &to, &from);
		in->len += to.pos;
		if (ZSTD_isError(ret)) {
			in->error = ZSTD_getErrorName(ret);
			return -EBADMSG;
		}
	} while (from.pos < from.size || to.pos == to.size);
	return 0;
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
