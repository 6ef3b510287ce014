// SPDX-License-Identifier: GPL-2.0-only
#include "collect/agent_folder.h"

#include "collect/holders.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* /var/tmp is on a disk; /tmp may well be in memory, and a recording is large. */
static char *agent_folder_path(const char *key)
{
	const char *tmp = getenv("TMPDIR");

	return xasprintf("%s/zcost-%s", tmp && *tmp == '/' ? tmp : "/var/tmp", key);
}

/* What an agent that was killed has left, with what it was running. */
static int agent_folder_remove_old(const char *path, const struct stat *st, struct error *err)
{
	int left;

	if (!S_ISDIR(st->st_mode) || st->st_uid != geteuid())
		return error_set(err, EEXIST,
				 "%s: is there, and is not ours: remove it, or set TMPDIR", path);
	left = holders_end(path, 0);
	if (left)
		return error_set(err, EBUSY,
				 "%s: %d processes of an earlier capture run here and cannot be "
				 "ended ('fuser -v %s' shows them)",
				 path, left, path);
	return dir_remove(path, err);
}

char *agent_folder_make(const char *key, struct error *err)
{
	char *path = agent_folder_path(key);
	struct stat st;
	int rc = 0;

	if (!lstat(path, &st))
		rc = agent_folder_remove_old(path, &st, err);
	if (!rc && mkdir(path, 0700))
		rc = error_sys(err, errno, "%s: cannot make the folder for runs", path);
	if (!rc && holders_join(path))
		rc = error_sys(err, errno, "%s: cannot open", path);
	if (!rc)
		return path;
	free(path);
	return NULL;
}
