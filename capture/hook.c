// SPDX-License-Identifier: GPL-2.0-only
#include "capture/hook.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/marked.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TICK_MS = 100, GRACE_MS = 2000, MAX_OUTPUT = 65536 };

/* Ends the command when a signal comes; without `intr` it runs to its end. */
static int await(pid_t pid, struct interrupt *intr, int *status)
{
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN}};
	int rc;

	if (!intr)
		return spawn_wait(pid, -1, status);
	p[0].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	p[1].fd = intr->fd;
	for (;;) {
		rc = spawn_wait(pid, 0, status);
		if (rc != -ETIMEDOUT)
			break;
		poll(p, 2, TICK_MS);
		if (!interrupt_came(intr))
			continue;
		spawn_stop(pid, GRACE_MS, status);
		rc = -EINTR;
		break;
	}
	if (p[0].fd >= 0)
		close(p[0].fd);
	return rc;
}

static char *running_path(const char *dir)
{
	return xasprintf("%s/.undo/running", dir);
}

/* A mark for what this hook starts, known to the next capture while the hook runs. */
static char *begin(const char *dir, struct error *err)
{
	char *folder = xasprintf("%s/.undo", dir), *path = running_path(dir), *mark = NULL;
	int rc = dir_make(folder, err);

	if (!rc) {
		mark = xasprintf("ZCOST_HOOK=%s.%llu", folder, (unsigned long long)clock_mono_ns());
		rc = file_write(path, mark, strlen(mark), err);
	}
	if (rc) {
		free(mark);
		mark = NULL;
	}
	free(path);
	free(folder);
	return mark;
}

static void end(const char *dir, char *mark)
{
	char *folder = xasprintf("%s/.undo", dir), *path = running_path(dir);

	unlink(path);
	rmdir(folder); /* fails while there is something to undo */
	free(path);
	free(folder);
	free(mark);
}

void hook_recover(const char *dir)
{
	char *path = running_path(dir), *mark;

	if (!file_read(path, &mark, NULL, NULL)) {
		marked_end(mark, false, GRACE_MS);
		end(dir, mark);
	}
	free(path);
}

static int start(pid_t *pid, const char *command, const char *mark, int out, struct error *err)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)command, NULL};
	struct spawn opts = {.out = out, .mark = mark};
	int rc;

	opts.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	rc = spawn_start(pid, argv, &opts, err);
	if (opts.in >= 0)
		close(opts.in);
	return rc;
}

static int run(const char *dir, const char *owner, const char *what, const char *command,
	       struct interrupt *intr, int out, struct error *err)
{
	char *mark = begin(dir, err);
	int status = 0, rc;
	pid_t pid;

	if (!mark)
		return -EIO;
	rc = start(&pid, command, mark, out, err);
	if (!rc) {
		rc = await(pid, intr, &status);
		if (rc == -EINTR) {
			marked_end(mark, false, GRACE_MS);
			error_set(err, EINTR, "interrupted in %s's '%s'", owner, what);
		} else if (rc) {
			error_sys(err, -rc, "lost sight of %s's '%s'", owner, what);
		} else if (status) {
			rc = error_set(err, EIO, "%s's '%s' %s: %s", owner, what,
				       spawn_status_text(status), command);
		}
	}
	end(dir, mark);
	return rc;
}

int hook_run(const char *dir, const char *owner, const char *what, const char *command,
	     struct interrupt *intr, struct error *err)
{
	return run(dir, owner, what, command, intr, STDERR_FILENO, err);
}

static char *contents(int fd)
{
	char *text = xmalloc(MAX_OUTPUT + 1);
	ssize_t n = pread(fd, text, MAX_OUTPUT, 0);

	text[n > 0 ? n : 0] = '\0';
	while (str_ends(text, "\n"))
		text[strlen(text) - 1] = '\0';
	return text;
}

int hook_read(const char *dir, const char *owner, const char *what, const char *command,
	      struct interrupt *intr, char **output, struct error *err)
{
	int fd = memfd_create("zcost", MFD_CLOEXEC), rc;

	if (fd < 0)
		return error_sys(err, errno, "no memory for what %s's '%s' prints", owner, what);
	rc = run(dir, owner, what, command, intr, fd, err);
	if (!rc)
		*output = contents(fd);
	close(fd);
	return rc;
}
