// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/whole.h"

#include "analyze/archive/reader.h"
#include "analyze/archive/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Of zstd's own frames, or of those that it skips. */
static bool is_frame(const unsigned char *p, size_t size)
{
	uint32_t magic = size < 4 ? 0 : p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

/* What is behind the last frame and is none, unpack does not look at either. */
static bool has_end(const unsigned char *p, size_t size)
{
	size_t at = 0, n;

	while (at < size && (!at || is_frame(p + at, size - at))) {
		n = ZSTD_findFrameCompressedSize(p + at, size - at);
		if (ZSTD_isError(n))
			return false;
		at += n;
	}
	return at > 0;
}

static int check(const char *path, bool *whole, struct error *err)
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
	*whole = has_end(p, (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return 0;
}

/* Reads up to where the reader finds the fault, for its words. */
static int find_fault(const char *path, struct error *err)
{
	static char buf[256 * 1024];
	struct reader *r;
	struct item item;
	int rc = reader_open(&r, path, UNPACK_MAX, err);
	long n = 0;

	if (rc)
		return rc;
	while (n >= 0 && (rc = reader_next(r, &item, err)) > 0)
		while ((n = reader_data(r, buf, sizeof(buf), err)) > 0)
			;
	reader_close(r);
	return n < 0 ? (int)n : rc;
}

int archive_whole(const char *path, struct error *err)
{
	bool whole = false;
	int rc = check(path, &whole, err);

	if (rc || whole)
		return rc;
	rc = find_fault(path, err);
	return rc < 0 ? rc
		      : error_set(err, EBADMSG, "%s: damaged: its end is cut off; copy it again",
				  path);
}
