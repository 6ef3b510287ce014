// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/whole.h"

#include "analyze/archive/reader.h"
#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { CHUNK = 256 * 1024 };

/* Of zstd's own frames, or of those that it skips. */
static bool whole_is_frame(const unsigned char *p, size_t size)
{
	uint32_t magic = size < 4 ? 0 : p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

enum whole_end { WHOLE, CUT_OFF, ODD };

/* ODD: what is there is not, or not only, what zstd wrote. */
static enum whole_end whole_walk_frames(const unsigned char *p, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n) {
		if (!whole_is_frame(p + at, size - at))
			return ODD;
		n = ZSTD_findFrameCompressedSize(p + at, size - at);
		if (ZSTD_isError(n))
			return ZSTD_getErrorCode(n) == ZSTD_error_srcSize_wrong ? CUT_OFF : ODD;
	}
	return WHOLE;
}

static int whole_check(const char *path, enum whole_end *look, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st = {0};
	void *p = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		rc = error_sys(err, errno ? errno : EIO, "%s: cannot read", path);
	if (fd >= 0)
		close(fd);
	if (rc)
		return rc;
	madvise(p, (size_t)st.st_size, MADV_RANDOM);
	*look = whole_walk_frames(p, (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return 0;
}

/* All of it as unpack reads it, but for the checksums: where does it break off? */
static int whole_read_members(const char *path, struct error *err)
{
	char *buf = xmalloc(CHUNK);
	struct reader *r = NULL;
	struct item item;
	int rc = reader_open(&r, path, 0, err);
	long n = 0;

	while (!rc && n >= 0 && (rc = reader_next(r, &item, err)) > 0) {
		while ((n = reader_data(r, buf, CHUNK, err)) > 0)
			;
		rc = 0;
	}
	reader_close(r);
	free(buf);
	return n < 0 ? (int)n : rc;
}

int archive_whole(const char *path, struct error *err)
{
	enum whole_end look;
	int rc = whole_check(path, &look, err);

	if (rc || look == WHOLE)
		return rc;
	rc = whole_read_members(path, err);
	if (rc || look == ODD)
		return rc;
	return error_set(err, EBADMSG, "%s: damaged: its end is cut off; copy it again", path);
}
