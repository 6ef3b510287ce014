// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/snap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 32768, SHARE = 1000 };

int reading_open(struct collect *c)
{
	str_free(&c->reading.text);
	c->reading = (struct reading){.fd = run_create_file(c->run, c->is->files[0], &c->err)};
	return -c->err.code;
}

static int reading_write(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc = snap_append(r->fd, r->began_ns, r->text.buf ? r->text.buf : "", r->text.len);
	uint64_t took = clock_thread_ns() - r->cpu_ns;

	r->n++;
	r->spent_ns += took;
	r->longest_ns = took > r->longest_ns ? took : r->longest_ns;
	r->next_ns = r->began_ns + took * SHARE;
	return rc ? error_sys(&c->err, -rc, "%s: cannot write", c->is->files[0]) : 0;
}

int reading_take(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc;

	r->began_ns = clock_mono_ns();
	str_reset(&r->text);
	r->cpu_ns = clock_thread_ns();
	rc = c->is->read(c);
	return rc ? rc : reading_write(c);
}

int reading_take_when_due(struct collect *c)
{
	if (c->is->always_due || clock_mono_ns() >= c->reading.next_ns)
		return reading_take(c);
	c->reading.skipped++;
	return 0;
}

void reading_close(struct collect *c)
{
	const struct reading *r = &c->reading;

	if (!c->is->always_due && r->n) {
		collect_info_int(c, "readings", r->n);
		collect_info_int(c, "reading_us", (int64_t)(r->spent_ns / r->n / 1000));
		collect_info_int(c, "longest_us", (int64_t)(r->longest_ns / 1000));
	}
	if (!c->is->always_due && r->skipped)
		collect_info_int(c, "skipped", r->skipped);
	if (c->reading.fd > 0)
		close(c->reading.fd);
	str_free(&c->reading.text);
	c->reading = (struct reading){0};
}

/* Adds all of an open file of /proc or /sys, read from its start. Returns 0 or -errno. */
static int reading_add(struct reading *r, int fd)
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

/* --- copies of files of /proc --- */

struct snapfile {
	const char *const *sources;
	struct netns netns;
	int fd[COLLECT_SOURCES]; /* -1 if not open */
};

int snapfile_probe(struct collect *c)
{
	const char *source = c->is->sources[0];

	return access(source, R_OK) ? error_sys(&c->err, errno, "%s: cannot read", source) : 0;
}

static void snapfile_close_sources(struct snapfile *s)
{
	size_t i;

	for (i = 0; i < COLLECT_SOURCES; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = -1;
	}
}

static int snapfile_open_sources(void *arg, struct error *err)
{
	struct snapfile *s = arg;
	size_t i;

	snapfile_close_sources(s);
	for (i = 0; i < COLLECT_SOURCES && s->sources[i]; i++) {
		s->fd[i] = open(s->sources[i], O_RDONLY | O_CLOEXEC);
		if (s->fd[i] < 0 && error_of_machine(errno)) /* others may be missing */
			return error_sys(err, errno, "%s: cannot open", s->sources[i]);
	}
	return 0;
}

int snapfile_prepare(struct collect *c)
{
	struct snapfile *s = xcalloc(1, sizeof(*s));
	size_t i;

	c->data = s;
	s->sources = c->is->sources;
	for (i = 0; i < COLLECT_SOURCES; i++)
		s->fd[i] = -1;
	netns_init(&s->netns);
	return snapfile_open_sources(s, &c->err);
}

int snapfile_read(struct collect *c)
{
	struct snapfile *s = c->data;
	size_t i;
	int rc;

	if (c->is->in_netns) {
		netns_enter(&s->netns, c, snapfile_open_sources, s);
		str_printf(&c->reading.text, "netns %" PRIu64 "\n", s->netns.id);
	}
	for (i = 0; i < COLLECT_SOURCES && s->sources[i]; i++) {
		rc = s->fd[i] < 0 ? 0 : reading_add(&c->reading, s->fd[i]);
		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot read", s->sources[i]);
	}
	return 0;
}

void snapfile_finish(struct collect *c)
{
	autofree struct snapfile *s = c->data;

	if (c->is->in_netns)
		collect_info_str(c, "netns", s->netns.fd < 0 ? "host" : "workload");
	snapfile_close_sources(s);
	netns_close(&s->netns);
}
