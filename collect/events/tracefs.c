// SPDX-License-Identifier: GPL-2.0-only
#include "collect/events/events.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Returns the number, or -errno. */
static int tracefs_read_id(const char *root, const char *name)
{
	char *path = xasprintf("%s/events/%s/id", root, name), *text;
	struct error err = {0};
	int id;

	id = file_read(path, &text, NULL, &err);
	free(path);
	if (id)
		return id;
	id = atoi(text);
	free(text);
	return id > 0 ? id : -EBADMSG;
}

static int tracefs_read_ids(const char *root, const char *const *names, int *ids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		ids[i] = tracefs_read_id(root, names[i]);
		if (ids[i] < 0)
			return ids[i];
	}
	return 0;
}

/* Runs in the child: writes the result to the pipe. The mount ends with the child. */
static void tracefs_child(const char *const *names, int *ids, size_t n, int out)
{
	int rc = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("nodev", places[0], "tracefs", 0, NULL))
		rc = -errno;
	if (!rc)
		rc = tracefs_read_ids(places[0], names, ids, n);
	if (write(out, &rc, sizeof(rc)) == sizeof(rc) && !rc &&
	    write(out, ids, n * sizeof(*ids)) == (ssize_t)(n * sizeof(*ids)))
		_exit(0);
	_exit(1);
}

static int tracefs_ask_child(const char *const *names, int *ids, size_t n)
{
	int fds[2], rc = -EIO;
	pid_t pid;

	if (pipe(fds))
		return -errno;
	pid = fork();
	if (!pid)
		tracefs_child(names, ids, n, fds[1]);
	close(fds[1]);
	if (pid > 0) {
		if (read(fds[0], &rc, sizeof(rc)) != sizeof(rc))
			rc = -EIO;
		if (!rc && read(fds[0], ids, n * sizeof(*ids)) != (ssize_t)(n * sizeof(*ids)))
			rc = -EIO;
		waitpid(pid, NULL, 0);
	}
	close(fds[0]);
	return rc;
}

int tracefs_ids(const char *const *names, int *ids, size_t n, struct error *err)
{
	size_t i;
	int rc = -ENOENT;

	for (i = 0; i < array_size(places) && rc; i++)
		rc = tracefs_read_ids(places[i], names, ids, n);
	if (rc == -ENOENT)
		rc = tracefs_ask_child(names, ids, n);
	if (rc == -EBUSY) /* tracefs is mounted and does not have the tracepoints */
		rc = -ENOENT;
	if (rc == -EACCES || rc == -EPERM)
		return error_set(
			err, EACCES,
			"tracepoints are not permitted: run as root, or mount tracefs readable: mount -t tracefs nodev %s",
			places[0]);
	if (rc)
		return error_sys(err, -rc, "no tracepoint %s on this kernel", names[0]);
	return 0;
}
