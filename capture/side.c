// SPDX-License-Identifier: GPL-2.0-only
#include "capture/side.h"

#include "lib/file.h"
#include "lib/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int side_open_ends(struct spawn *child, struct side_proc *s, const char *log, struct error *err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};

	if (pipe2(in, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	child->in = in[0];
	s->to = in[1];
	if (pipe2(out, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	child->out = out[1];
	s->from = out[0];
	fcntl(s->from, F_SETFL, O_NONBLOCK);
	child->err = file_create(log, 0, 0600);
	return child->err < 0 ? error_sys(err, errno, "%s: cannot write", log) : 0;
}

int side_start(struct side_proc *s, char *const argv[], const char *log, const char *mark,
	       struct error *err)
{
	struct spawn child = {.in = -1, .out = -1, .err = -1, .mark = mark};
	int rc;

	*s = (struct side_proc){.pidfd = -1, .to = -1, .from = -1};
	rc = side_open_ends(&child, s, log, err);
	if (!rc)
		rc = spawn_start(&s->pid, argv, &child, err);
	close_fd(&child.in);
	close_fd(&child.out);
	close_fd(&child.err);
	if (!rc) {
		s->state = SIDE_STARTING;
		s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
		if (s->pidfd < 0)
			rc = error_sys(err, errno, "cannot watch a child");
	}
	return rc;
}

/* A child that is gone shows in its exit, not here. */
static void side_write(struct side_proc *s, const char *text)
{
	if (s->to >= 0 && write(s->to, text, strlen(text)) < 0)
		close_fd(&s->to);
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
	close_fd(&s->to);
}

static void side_on_line(struct side_proc *s, const char *line)
{
	if (s->state == SIDE_STARTING && !strcmp(line, "ready"))
		s->state = SIDE_READY;
}

void side_on_output(struct side_proc *s)
{
	char buf[256];
	ssize_t n, i;

	while ((n = read(s->from, buf, sizeof(buf))) > 0) {
		for (i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				str_putc(&s->line, buf[i]);
				continue;
			}
			side_on_line(s, s->line.buf ? s->line.buf : "");
			str_reset(&s->line);
		}
	}
	if (!n)
		close_fd(&s->from);
}

void side_on_exit(struct side_proc *s)
{
	if (spawn_wait(s->pid, 0, &s->status))
		return;
	s->state = SIDE_DONE;
	close_fd(&s->pidfd);
}

void side_close(struct side_proc *s, int grace_ms)
{
	if (s->state == SIDE_STARTING || s->state == SIDE_READY) {
		spawn_stop(s->pid, grace_ms, &s->status);
		s->state = SIDE_DONE;
	}
	if (s->state == SIDE_UNUSED)
		return;
	close_fd(&s->pidfd);
	close_fd(&s->to);
	close_fd(&s->from);
	str_free(&s->line);
}
