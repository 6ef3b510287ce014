// SPDX-License-Identifier: GPL-2.0-only
#include "capture/state.h"

#include "lib/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Root ignores XDG_RUNTIME_DIR: it is there after a login, and not under sudo. */
static char *state_base(void)
{
	const char *chosen = getenv("ZCOST_STATE"), *own = getenv("XDG_RUNTIME_DIR");

	if (chosen && *chosen == '/')
		return xstrdup(chosen);
	if (!geteuid())
		return xstrdup("/run");
	return own && *own == '/' ? xstrdup(own) : xasprintf("/run/user/%u", geteuid());
}

/* Inodes are used again. The time of birth tells a new folder from a removed one. */
static char *state_key(const char *capture, struct error *err)
{
	struct statx st;
	struct stat dev;

	if (statx(AT_FDCWD, capture, 0, STATX_INO | STATX_BTIME, &st) || stat(capture, &dev)) {
		error_sys(err, errno, "%s: cannot be found", capture);
		return NULL;
	}
	return xasprintf(
		"%llu-%llu-%llu", (unsigned long long)dev.st_dev, (unsigned long long)st.stx_ino,
		st.stx_mask & STATX_BTIME ? (unsigned long long)st.stx_btime.tv_sec * 1000000000 +
						    st.stx_btime.tv_nsec
					  : 0);
}

/* Opens a folder under `at`. -EPERM: another user owns it, or can write to it. */
static int state_enter(int at, const char *name, mode_t make)
{
	struct stat st;
	int fd, rc;

	if (make && mkdirat(at, name, make) && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : 0;
	if (!rc && (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)))
		rc = -EPERM;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/*
 * Walks down base/zcost/key. Only the base must exist. Others may search base/zcost, so that
 * state_of_root can answer.
 */
static int state_walk(const char *base, const char *key, bool make)
{
	const char *parts[] = {base, "zcost", key};
	const mode_t modes[] = {0, 0711, 0700};
	int fd = AT_FDCWD, next = 0;
	size_t i;

	for (i = 0; i < 3 && next >= 0; i++) {
		next = state_enter(fd, parts[i], make ? modes[i] : 0);
		if (fd >= 0)
			close(fd);
		fd = next;
	}
	if (fd >= 0)
		close(fd);
	return next < 0 ? next : 0;
}

static void state_refuse(const char *base, int rc, struct error *err)
{
	const char *why = rc == -EPERM ? "another user owns it or can write to it" : strerror(-rc);

	if (geteuid())
		error_set(err, -rc,
			  "%s/zcost: cannot hold what is to be undone: %s: set XDG_RUNTIME_DIR to "
			  "a folder that only you can write to",
			  base, why);
	else
		error_set(err, -rc,
			  "%s/zcost: cannot hold what is to be undone: %s: set ZCOST_STATE to "
			  "a folder that only root can write to",
			  base, why);
}

char *state_folder(const char *capture, bool make, struct error *err)
{
	char *key = state_key(capture, make ? err : NULL), *base, *path;
	int rc;

	if (!key)
		return NULL;
	base = state_base();
	path = xasprintf("%s/zcost/%s", base, key);
	rc = state_walk(base, key, make);
	if (rc && make)
		state_refuse(base, rc, err);
	if (rc) {
		free(path);
		path = NULL;
	}
	free(base);
	free(key);
	return path;
}

bool state_of_root(const char *capture)
{
	char *key = geteuid() ? state_key(capture, NULL) : NULL;
	char *path = xasprintf("/run/zcost/%s", key ? key : "");
	bool there = key && !access(path, F_OK);

	free(path);
	free(key);
	return there;
}

void state_drop(const char *capture)
{
	char *folder = state_folder(capture, false, NULL);

	if (folder)
		rmdir(folder);
	free(folder);
}
