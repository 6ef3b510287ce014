// SPDX-License-Identifier: GPL-2.0-only
#include "lib/caller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool caller_read(uid_t *uid, gid_t *gid)
{
	const char *u = getenv("SUDO_UID"), *g = getenv("SUDO_GID");

	if (geteuid() || !u || !g)
		return false;
	*uid = (uid_t)strtoul(u, NULL, 10);
	*gid = (gid_t)strtoul(g, NULL, 10);
	return true;
}

static bool caller_is_ours(uid_t owner)
{
	uid_t uid;
	gid_t gid;

	return owner == geteuid() || (caller_read(&uid, &gid) && owner == uid);
}

int caller_check_folder(const char *dir, struct error *err)
{
	struct stat st;

	if (stat(dir, &st))
		return error_sys(err, errno, "%s: cannot be found", dir);
	if (!caller_is_ours(st.st_uid))
		return error_set(err, EPERM,
				 "%s: belongs to user %u, who could lead what is written here "
				 "elsewhere: make it yours with chown -R, or give another -o",
				 dir, st.st_uid);
	if (st.st_mode & S_IWOTH)
		return error_set(err, EPERM,
				 "%s: other users can write to it: chmod o-w, or give another -o",
				 dir);
	return 0;
}

void caller_give(int fd)
{
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (!caller_read(&uid, &gid) || fstat(fd, &st) || st.st_uid)
		return;
	if (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink == 1))
		if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH))
			return; /* a file system without owners */
}

static void caller_give_folder(int folder);

static void caller_give_entry(int folder, const char *name)
{
	int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), inside;

	if (fd < 0)
		return;
	inside = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inside >= 0)
		caller_give_folder(inside);
	else
		caller_give(fd);
	close(fd);
}

/* Takes over the descriptor. The folder itself comes last: until then nobody else changes it. */
static void caller_give_folder(int folder)
{
	DIR *dir = fdopendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			caller_give_entry(folder, e->d_name);
	caller_give(folder);
	if (dir)
		closedir(dir);
	else
		close(folder);
}

void caller_give_tree(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		caller_give_folder(fd);
}
