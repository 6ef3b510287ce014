// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf_data.h"

#include "lib/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct layout {
	struct cursor records;
	uint64_t sample_type; /* the same for all our events */
};

/* magic, sizes, then (offset, size) of the attributes and of the records. */
static int perf_data_read_head(const uint8_t *map, size_t len, struct layout *l)
{
	struct cursor c = cursor_of(map, len, false), attr = c;
	const void *magic = cursor_take(&c, 8);
	uint64_t attrs, offset, size;

	cursor_take(&c, 8 + 8);
	attrs = cursor_u64(&c);
	cursor_take(&c, 8);
	offset = cursor_u64(&c);
	size = cursor_u64(&c);
	if (c.bad || memcmp(magic, "PERFILE2", 8) || offset > len || size > len - offset)
		return -EBADMSG;
	cursor_take(&attr, attrs);
	cursor_take(&attr, 24); /* type, size, config, period */
	l->sample_type = cursor_u64(&attr);
	l->records = cursor_of(map + offset, size, false);
	return attr.bad || !size ? -EBADMSG : 0;
}

/*
 * The kernel counts what a full ring buffer lost both ways: in LOST records as they fit in again,
 * and, newer, in a LOST_SAMPLES at the end of recording. The larger sum is the truth.
 */
static int perf_data_sum_records(struct cursor *c, struct perf_data_sums *s)
{
	uint64_t lost = 0, lost_samples = 0;

	while (cursor_left(c)) {
		uint32_t type = cursor_u32(c);
		uint16_t size = (cursor_u16(c), cursor_u16(c));
		struct cursor body;

		if (c->bad || size < 8)
			return -EBADMSG;
		body = cursor_sub(c, size - 8u);
		if (type == PERF_RECORD_SAMPLE)
			s->samples++;
		else if (type == PERF_RECORD_THROTTLE)
			s->throttled++;
		else if (type == PERF_RECORD_LOST_SAMPLES)
			lost_samples += cursor_u64(&body);
		else if (type == PERF_RECORD_LOST && cursor_take(&body, 8))
			lost += cursor_u64(&body);
	}
	s->lost = lost > lost_samples ? lost : lost_samples;
	return c->bad ? -EBADMSG : 0;
}

static int perf_data_read_map(const uint8_t *map, size_t len, struct perf_data_sums *sums,
			      struct intern *files)
{
	struct layout l;
	struct cursor c;
	int rc = perf_data_read_head(map, len, &l);

	if (rc)
		return rc;
	c = l.records;
	rc = perf_data_sum_records(&c, sums);
	return rc ? rc : perf_records_files(l.records, l.sample_type, files);
}

static int perf_data_read_fd(int fd, struct perf_data_sums *sums, struct intern *files)
{
	struct stat st;
	void *map;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return -EBADMSG;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	rc = perf_data_read_map(map, (size_t)st.st_size, sums, files);
	munmap(map, (size_t)st.st_size);
	return rc;
}

int perf_data_read(const char *path, struct perf_data_sums *sums, struct intern *files,
		   struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	*sums = (struct perf_data_sums){0};
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", path);
	rc = perf_data_read_fd(fd, sums, files);
	close(fd);
	if (rc == -EBADMSG)
		return error_set(err, EBADMSG, "%s: perf left the file unfinished", path);
	return rc ? error_sys(err, -rc, "%s: cannot read", path) : 0;
}
