// SPDX-License-Identifier: GPL-2.0-only
#include "capture/link.h"

#include "lib/file.h"
#include "lib/clock.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { TICK_MS = 500, GRACE_MS = 2000, LONGEST_LINE = 65536, MS = 1000000 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int link_start(struct link *l, char *const argv[], const char *log, struct error *err)
{
	struct spawn child = {0};
	int in[2], out[2], rc;

	*l = (struct link){.to = -1, .from = -1};
	if (pipe2(in, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	if (pipe2(out, O_CLOEXEC)) {
		rc = error_sys(err, errno, "cannot make a pipe");
		close(in[0]);
		close(in[1]);
		return rc;
	}
	child.in = in[0];
	child.out = out[1];
	child.err = file_create(log, 0, 0600);
	l->to = in[1];
	l->from = out[0];
	rc = child.err < 0 ? error_sys(err, errno, "%s: cannot write", log)
			   : spawn_start(&l->pid, argv, &child, err);
	close(in[0]);
	close(out[1]);
	close_fd(&child.err);
	if (rc) {
		l->pid = 0;
		close_fd(&l->to);
		close_fd(&l->from);
	}
	return rc;
}

int link_write_line(struct link *l, const char *line)
{
	struct str s = {0};
	ssize_t n;

	if (l->to < 0)
		return -EPIPE;
	str_printf(&s, "%s\n", line);
	n = write(l->to, s.buf, s.len);
	str_free(&s);
	return n < 0 ? -EPIPE : 0;
}

/* Until there is something to read. */
static int link_await(struct link *l, struct interrupt *intr, uint64_t deadline)
{
	struct pollfd fds[2] = {{.fd = l->from, .events = POLLIN},
				{.fd = intr ? intr->fd : -1, .events = POLLIN}};

	for (;;) {
		uint64_t now = clock_mono_ns(), left = deadline > now ? (deadline - now) / MS : 0;
		int n = poll(fds, 2, left < TICK_MS ? (int)left + 1 : TICK_MS);

		if (intr && interrupt_came(intr))
			return -EINTR;
		if (n > 0 && fds[0].revents)
			return 0;
		if (clock_mono_ns() >= deadline)
			return -ETIMEDOUT;
	}
}

static int link_fill(struct link *l, struct interrupt *intr, uint64_t deadline)
{
	ssize_t n;
	int rc;

	if (l->from < 0)
		return -EPIPE;
	rc = link_await(l, intr, deadline);
	if (rc)
		return rc;
	n = read(l->from, l->buf, sizeof(l->buf));
	if (n <= 0)
		return -EPIPE;
	l->at = 0;
	l->len = (size_t)n;
	return 0;
}

static uint64_t link_deadline(double s)
{
	return clock_mono_ns() + (uint64_t)(s * 1e9);
}

int link_read_line(struct link *l, struct interrupt *intr, double patience_s, struct str *line)
{
	uint64_t deadline = link_deadline(patience_s);
	int rc;

	str_reset(line);
	str_puts(line, "");
	for (;;) {
		char *from = l->buf + l->at, *nl = memchr(from, '\n', l->len - l->at);
		size_t n = nl ? (size_t)(nl - from) : l->len - l->at;

		str_add(line, from, n);
		l->at += n + (nl != NULL);
		if (nl)
			return 0;
		if (line->len > LONGEST_LINE)
			return -EPIPE; /* whoever that is, it does not speak our language */
		rc = link_fill(l, intr, deadline);
		if (rc)
			return rc;
	}
}

ssize_t link_read_bytes(struct link *l, struct interrupt *intr, double patience_s, void *to, size_t max)
{
	int rc = l->at < l->len ? 0 : link_fill(l, intr, link_deadline(patience_s));
	size_t n = l->len - l->at;

	if (rc)
		return rc;
	if (n > max)
		n = max;
	memcpy(to, l->buf + l->at, n);
	l->at += n;
	return (ssize_t)n;
}

bool link_ended(struct link *l, int *status)
{
	if (l->pid && spawn_wait(l->pid, 0, status))
		return false;
	l->pid = 0;
	return true;
}

/* What it still has to say stands between it and the end of its input. */
static void link_drain(struct link *l, uint64_t deadline)
{
	while (!link_fill(l, NULL, deadline))
		;
	l->at = l->len = 0;
}

void link_close(struct link *l, double patience_s, int *status)
{
	uint64_t deadline = link_deadline(patience_s), now;
	int st = 0, left;

	close_fd(&l->to);
	if (l->pid && patience_s > 0)
		link_drain(l, deadline);
	now = clock_mono_ns();
	left = deadline > now ? (int)((deadline - now) / MS) : 0;
	if (l->pid && spawn_wait(l->pid, left, &st) == -ETIMEDOUT)
		spawn_stop(l->pid, GRACE_MS, &st);
	l->pid = 0;
	close_fd(&l->from);
	l->at = l->len = 0;
	if (status)
		*status = st;
}
