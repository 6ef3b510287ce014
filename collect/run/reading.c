// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/reading.h"

#include "lib/file.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 32768, SHARE = 1000 };

static uint64_t reading_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int reading_open(struct reading *r, struct collect *c, const char *file)
{
	char *path = collect_path(c, file);

	*r = (struct reading){0};
	r->fd = file_create(path, O_APPEND, 0600);
	if (r->fd < 0)
		error_sys(&c->err, errno, "%s: cannot write", path);
	free(path);
	return -c->err.code;
}

bool reading_begin(struct reading *r, bool must)
{
	r->began_ns = clock_mono_ns();
	if (!must && r->began_ns < r->next_ns) {
		r->skipped++;
		return false;
	}
	str_reset(&r->text);
	r->cpu_ns = reading_cpu_time();
	return true;
}

int reading_add(struct reading *r, int fd)
{
	char piece[PIECE];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, piece, sizeof(piece), at)) > 0) {
		str_add(&r->text, piece, (size_t)n);
		at += n;
	}
	return n < 0 ? -errno : 0;
}

int reading_end(struct reading *r, struct error *err)
{
	int rc = snap_append(r->fd, r->began_ns, r->text.buf ? r->text.buf : "", r->text.len);
	uint64_t took = reading_cpu_time() - r->cpu_ns;

	r->n++;
	r->spent_ns += took;
	r->longest_ns = took > r->longest_ns ? took : r->longest_ns;
	r->next_ns = r->began_ns + took * SHARE;
	return rc ? error_sys(err, -rc, "cannot save a reading") : 0;
}

void reading_close(struct reading *r, struct collect *c)
{
	if (r->n) {
		collect_info_int(c, "readings", r->n);
		collect_info_int(c, "reading_us", (int64_t)(r->spent_ns / r->n / 1000));
		collect_info_int(c, "longest_us", (int64_t)(r->longest_ns / 1000));
	}
	if (r->skipped)
		collect_info_int(c, "skipped", r->skipped);
	if (r->fd > 0)
		close(r->fd);
	str_free(&r->text);
	*r = (struct reading){0};
}
