// SPDX-License-Identifier: GPL-2.0-only
#include "capture/undo.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TICK_MS = 100, GRACE_MS = 2000, MAX_OUTPUT = 65536 };

static const char *hook_text(const struct hook *h)
{
	return h->shown ? h->shown : h->command;
}

/* Waits for the command, and ends it when a signal comes or its time is over. */
static int hook_await(pid_t pid, const struct hook *h, int *status)
{
	uint64_t began = clock_mono_ns(), most = (uint64_t)(h->timeout_s * 1e9);
	int rc;

	while ((rc = spawn_wait(pid, TICK_MS, status)) == -ETIMEDOUT) {
		bool late = most && clock_mono_ns() - began >= most;

		if (late || (h->intr && interrupt_came(h->intr))) {
			spawn_stop(pid, GRACE_MS, status);
			return late ? -ETIMEDOUT : -EINTR;
		}
	}
	return rc;
}

/*
 * Returns a mark for the processes of this hook, which no other hook has, and writes it to the
 * state folder, where the next capture finds it if this one is killed. NULL: `err` says why the
 * hook may not run.
 */
static char *hook_begin(const struct hook *h, struct error *err)
{
	struct error e = {0};
	autofree char *folder = state_folder(h->dir, true, &e);
	autofree char *path = xasprintf("%s/running", folder ? folder : "");
	char *mark = xasprintf("ZCOST_HOOK=%s.%llu", folder ? folder : h->dir,
			       (unsigned long long)clock_mono_ns());

	if (folder)
		file_write(path, mark, strlen(mark), &e);
	if (e.code && h->anyway) {
		warn("%s: running %s's '%s' anyway", e.text, h->owner, h->what);
	} else if (e.code) {
		error_set(err, e.code, "%s: %s's '%s' was not run: %s", e.text, h->owner, h->what,
			  hook_text(h));
		free(mark);
		mark = NULL;
	}
	return mark;
}

static void hook_end(const char *dir)
{
	autofree char *folder = state_folder(dir, false, NULL);
	autofree char *path = xasprintf("%s/running", folder ? folder : "");

	if (!folder)
		return;
	unlink(path);
	rmdir(folder); /* fails while the journal has entries */
}

void hook_recover(const char *dir)
{
	autofree char *folder = state_folder(dir, false, NULL), *mark = NULL;
	autofree char *path = xasprintf("%s/running", folder ? folder : "");
	autofree char *ours = xasprintf("ZCOST_HOOK=%s.", folder ? folder : "");

	if (!folder || file_read(path, &mark, NULL, NULL))
		return;
	if (str_starts(mark, ours))
		marked_end(mark, false, GRACE_MS);
	hook_end(dir);
}

static int hook_start(pid_t *pid, const char *command, const char *mark, int out, struct error *err)
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

/* Turns the end of a hook into an error, or 0. */
static int hook_judge(const struct hook *h, int rc, int status, struct error *err)
{
	if (rc == -EINTR)
		return error_set(err, EINTR, "interrupted in %s's '%s'", h->owner, h->what);
	if (rc == -ETIMEDOUT)
		return error_set(err, ETIMEDOUT, "%s's '%s' took more than %g s (hook_timeout): %s",
				 h->owner, h->what, h->timeout_s, hook_text(h));
	if (rc)
		return error_sys(err, -rc, "cannot wait for %s's '%s'", h->owner, h->what);
	return status ? error_set(err, EIO, "%s's '%s' %s: %s", h->owner, h->what,
				  spawn_status_text(status), hook_text(h))
		      : 0;
}

static int hook_run_to(const struct hook *h, int out, struct error *err)
{
	autofree char *mark = hook_begin(h, err);
	int status = 0, rc;
	pid_t pid;

	if (!mark)
		return -EIO;
	rc = hook_start(&pid, h->command, mark, out, err);
	if (!rc) {
		rc = hook_await(pid, h, &status);
		if (rc == -EINTR || rc == -ETIMEDOUT)
			marked_end(mark, false, GRACE_MS);
		rc = hook_judge(h, rc, status, err);
	}
	hook_end(h->dir);
	return rc;
}

int hook_run(const struct hook *h, struct error *err)
{
	return hook_run_to(h, STDERR_FILENO, err);
}

int hook_read(const struct hook *h, char **output, struct error *err)
{
	int fd = memfd_create("zcost", MFD_CLOEXEC), rc;
	char *text;
	ssize_t n;

	if (fd < 0)
		return error_sys(err, errno, "no memory for what %s's '%s' prints", h->owner,
				 h->what);
	rc = hook_run_to(h, fd, err);
	if (!rc) {
		*output = text = xmalloc(MAX_OUTPUT + 1);
		n = pread(fd, text, MAX_OUTPUT, 0);
		text[n > 0 ? n : 0] = '\0';
		while (str_ends(text, "\n"))
			text[strlen(text) - 1] = '\0';
	}
	close(fd);
	return rc;
}
