// SPDX-License-Identifier: GPL-2.0-only
#include "capture/child.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

int interrupt_open(struct interrupt *i, struct error *err)
{
	*i = (struct interrupt){.fd = spawn_open_signals(SFD_NONBLOCK, err)};
	return i->fd < 0 ? i->fd : 0;
}

bool interrupt_came(struct interrupt *i)
{
	struct signalfd_siginfo info;

	while (read(i->fd, &info, sizeof(info)) == sizeof(info))
		if (!i->sig)
			i->sig = (int)info.ssi_signo;
	return i->sig;
}

void interrupt_close(struct interrupt *i)
{
	fd_close(&i->fd);
}

/* --- both kinds of children --- */

static int child_open_ends(struct spawn *child, int *to, int *from, const char *log,
			   struct error *err)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	child->in = in[0];
	*to = in[1];
	if (pipe2(out, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	child->out = out[1];
	*from = out[0];
	child->err = file_create(log, 0, 0600);
	return child->err < 0 ? error_sys(err, errno, "%s: cannot write", log) : 0;
}

/*
 * Starts a child with pipes as its standard input and output. Its standard error goes to `log`. A
 * child that does not read its input makes a write fail, and never wait.
 */
static int child_start(pid_t *pid, int *to, int *from, char *const argv[], const char *log,
		       struct spawn child, struct error *err)
{
	int rc;

	*to = *from = -1;
	child.in = child.out = child.err = -1;
	rc = child_open_ends(&child, to, from, log, err);
	if (!rc && fcntl(*to, F_SETFL, O_NONBLOCK))
		rc = error_sys(err, errno, "cannot set up a pipe");
	rc = rc ?: spawn_start(pid, argv, &child, err);
	fd_close(&child.in);
	fd_close(&child.out);
	fd_close(&child.err);
	if (rc) {
		*pid = 0;
		fd_close(to);
		fd_close(from);
	}
	return rc;
}

/* --- struct link --- */

enum { TICK_MS = 500, GRACE_MS = 2000, LONGEST_LINE = 65536, MS = 1000000 };

int link_start(struct link *l, char *const argv[], const char *log, struct error *err)
{
	*l = (struct link){.pid = 0};
	return child_start(&l->pid, &l->to, &l->from, argv, log,
			   (struct spawn){.file_most = LOG_MOST}, err);
}

int link_write_line(struct link *l, const char *line)
{
	freed(str_free) struct str s = {0};
	ssize_t n;

	if (l->to < 0)
		return -EPIPE;
	str_printf(&s, "%s\n", line);
	n = write(l->to, s.buf, s.len);
	n -= (ssize_t)s.len;
	return n ? -EPIPE : 0;
}

/* Waits until there is something to read. */
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

int link_read_line(struct link *l, struct interrupt *intr, uint64_t deadline, struct str *line)
{
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
			return -EPIPE; /* this is no answer of an agent */
		rc = link_fill(l, intr, deadline);
		if (rc)
			return rc;
	}
}

ssize_t link_read_bytes(struct link *l, struct interrupt *intr, uint64_t deadline, void *to,
			size_t max)
{
	int rc = l->at < l->len ? 0 : link_fill(l, intr, deadline);
	size_t n = l->len - l->at;

	if (rc)
		return rc;
	if (n > max)
		n = max;
	memcpy(to, l->buf + l->at, n);
	l->at += n;
	return (ssize_t)n;
}

bool link_ended(struct link *l)
{
	if (l->pid && spawn_wait(l->pid, 0, NULL))
		return false;
	l->pid = 0;
	link_close(l, 0, NULL);
	return true;
}

void link_close(struct link *l, double patience_s, int *status)
{
	uint64_t deadline = clock_deadline(patience_s), now;
	int st = 0, left;

	fd_close(&l->to);
	/* A child that cannot write never sees the end of its input, so it is read until its end.
	 */
	while (l->pid && patience_s > 0 && clock_mono_ns() < deadline &&
	       !link_fill(l, NULL, deadline))
		;
	now = clock_mono_ns();
	left = deadline > now ? (int)((deadline - now) / MS) : 0;
	if (l->pid && spawn_wait(l->pid, left, &st) == -ETIMEDOUT)
		spawn_stop(l->pid, GRACE_MS, &st);
	l->pid = 0;
	fd_close(&l->from);
	l->at = l->len = 0;
	if (status)
		*status = st;
}

/* --- struct side_proc --- */

enum { WORDS_MAX = 512 };

int side_start(struct side_proc *s, char *const argv[], const char *log, const char *mark,
	       bool remote, struct error *err)
{
	int rc;

	*s = (struct side_proc){.pidfd = -1};
	rc = child_start(&s->pid, &s->to, &s->from, argv, log,
			 (struct spawn){.mark = mark, .file_most = remote ? LOG_MOST : 0}, err);
	if (rc)
		return rc;
	fcntl(s->from, F_SETFL, O_NONBLOCK);
	s->state = SIDE_STARTING;
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0)
		return 0;
	rc = error_sys(err, errno, "cannot watch a child");
	side_close(s, GRACE_MS); /* nobody would see that it ends */
	return rc;
}

/* Writes to the child. Its exit status, not this function, reports that it is gone. */
static void side_write(struct side_proc *s, const char *text)
{
	if (s->to >= 0 && write(s->to, text, strlen(text)) < 0)
		fd_close(&s->to);
}

void side_go(struct side_proc *s, uint64_t at_ns, uint64_t length_ns)
{
	char text[64];

	snprintf(text, sizeof(text), "go %llu %llu\n", (unsigned long long)at_ns,
		 (unsigned long long)length_ns);
	side_write(s, text);
}

void side_abort(struct side_proc *s)
{
	if (s->state != SIDE_STARTING && s->state != SIDE_READY)
		return;
	s->aborted = true;
	side_write(s, "abort\n");
	fd_close(&s->to);
}

static void side_on_line(struct side_proc *s, const char *line)
{
	const char *words = strchr(line, ' ');
	char **to = str_starts(line, "step ")	 ? &s->step
		    : str_starts(line, "error ") ? &s->error
						 : NULL;

	if (to) {
		free(*to);
		*to = text_clean(words + 1, WORDS_MAX);
	}
	if (s->state == SIDE_STARTING && !strcmp(line, "ready"))
		s->state = SIDE_READY;
	s->settled |= !strcmp(line, "settled");
	s->moving |= !strcmp(line, "moving");
}

/* Reads once: a host that sends without end must not keep the capture from its other work. */
void side_on_output(struct side_proc *s)
{
	char buf[4096]; /* larger than the last words of a side, and the longest line */
	ssize_t n = read(s->from, buf, sizeof(buf));

	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			side_on_line(s, s->line.buf ? s->line.buf : "");
			str_reset(&s->line);
		} else if (s->line.len < sizeof(buf)) {
			str_putc(&s->line, buf[i]);
		}
	}
	if (!n)
		fd_close(&s->from);
}

void side_on_exit(struct side_proc *s)
{
	if (s->from >= 0)
		side_on_output(s); /* its last words */
	if (spawn_wait(s->pid, 0, &s->status))
		return;
	s->state = SIDE_DONE;
	fd_close(&s->pidfd);
}

void side_close(struct side_proc *s, int grace_ms)
{
	if (s->state == SIDE_STARTING || s->state == SIDE_READY) {
		spawn_stop(s->pid, grace_ms, &s->status);
		s->state = SIDE_DONE;
	}
	if (s->state == SIDE_UNUSED)
		return;
	fd_close(&s->pidfd);
	fd_close(&s->to);
	fd_close(&s->from);
	str_free(&s->line);
}

void side_free(struct side_proc *s)
{
	free(s->step);
	free(s->error);
	free(s->late);
}
