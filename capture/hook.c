// SPDX-License-Identifier: GPL-2.0-only
#include "capture/hook.h"

#include "capture/words.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { TICK_MS = 100, GRACE_MS = 2000 };

/* Ends the command when a signal comes; without `intr` it runs to its end. */
static int await(pid_t pid, struct interrupt *intr, int *status)
{
	struct pollfd p = {.events = POLLIN};

	if (!intr)
		return spawn_wait(pid, -1, status);
	p.fd = intr->fd;
	while (spawn_wait(pid, 0, status) == -ETIMEDOUT) {
		poll(&p, 1, TICK_MS);
		if (interrupt_came(intr)) {
			spawn_stop(pid, GRACE_MS, status);
			return -EINTR;
		}
	}
	return 0;
}

/* By /bin/sh, with nothing to read, and with what it prints on our standard error. */
static int run(const char *what, const char *command, struct interrupt *intr, struct error *err)
{
	char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)command, NULL};
	struct spawn opts = {.out = STDERR_FILENO};
	int status = 0, rc;
	pid_t pid;

	opts.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	rc = spawn_start(&pid, argv, &opts, err);
	if (opts.in >= 0)
		close(opts.in);
	if (rc)
		return rc;
	rc = await(pid, intr, &status);
	if (rc == -EINTR)
		return error_set(err, EINTR, "interrupted in the plan's '%s'", what);
	if (rc)
		return error_sys(err, -rc, "lost sight of the plan's '%s'", what);
	if (status)
		return error_set(err, EIO, "the plan's '%s' %s: %s", what,
				 spawn_status_text(status), command);
	return 0;
}

int hook_recover(const char *dir, struct error *err)
{
	char *path = xasprintf("%s/.undo", dir), *command = NULL;
	int rc = 0;

	if (path_exists(path)) {
		note("an earlier capture here was killed: undoing what it had set up");
		rc = file_read(path, &command, NULL, err);
		if (!rc)
			rc = run("after", command, NULL, err);
		if (!rc)
			unlink(path);
		free(command);
	}
	free(path);
	return rc;
}

/* Whoever runs this may be somewhere else by then. */
static int write_undo(const char *dir, const char *after, struct error *err)
{
	char *path = xasprintf("%s/.undo", dir), *cwd = getcwd(NULL, 0), *quoted;
	char *words[] = {(char *)"cd", cwd ? cwd : (char *)"/", NULL};
	struct str s = {0};
	int rc;

	quoted = words_join(words);
	str_printf(&s, "%s\n%s\n", quoted, after);
	rc = file_write(path, s.buf, s.len, err);
	str_free(&s);
	free(quoted);
	free(cwd);
	free(path);
	return rc;
}

int hook_before(const char *dir, const struct plan *p, struct interrupt *intr, struct error *err)
{
	int rc = *p->after ? write_undo(dir, p->after, err) : 0;

	if (!rc && *p->before)
		rc = run("before", p->before, intr, err);
	return rc;
}

int hook_after(const char *dir, const struct plan *p, struct error *err)
{
	char *path;
	int rc;

	if (!*p->after)
		return 0;
	rc = run("after", p->after, NULL, err);
	if (rc)
		return rc;
	path = xasprintf("%s/.undo", dir);
	unlink(path);
	free(path);
	return 0;
}
