// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners: whose files zcost writes, and who could redirect them. Root checks a path from / down. In
 * a folder that only trusted users can change nobody else replaces what was checked, so that the
 * path means the same when it is used.
 */
#include "lib/file.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/xattr.h>
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

bool caller_owns(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && caller_is_ours(st.st_uid);
}

/* --- who could redirect a path --- */

enum { UNMAPPED = 65534, MOST_LINKS = 40 };

/* In the user namespace of `unshare -r` the owner of / has no number. */
static bool owner_is_unmapped(uid_t owner)
{
	unsigned int inside = 0, outside = 0, n = 0;
	autofree char *map = NULL;

	if (owner != UNMAPPED || file_read("/proc/self/uid_map", &map, NULL, NULL))
		return false;
	sscanf(map, "%u %u %u", &inside, &outside, &n);
	return n < UINT_MAX;
}

static bool owner_is_trusted(uid_t owner)
{
	return !owner || caller_is_ours(owner) || owner_is_unmapped(owner);
}

/*
 * Says whether a group is that of one trusted user alone. Many systems give each user such a group
 * and let it write. The mode shows an access list as rights of the group.
 */
static bool group_is_private(const char *path, gid_t gid)
{
	const struct group *g = getgrgid(gid);
	const struct passwd *pw = g ? getpwnam(g->gr_name) : NULL;

	if (!pw || pw->pw_gid != gid || !owner_is_trusted(pw->pw_uid))
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, g->gr_name) != 0)
			return false;
	return getxattr(path, "system.posix_acl_access", NULL, 0) < 0;
}

/* With `sticky` others may write to a sticky folder, where only its owner can replace an entry. */
static int owner_check(const char *path, const struct stat *st, bool sticky, struct error *err)
{
	if (!owner_is_trusted(st->st_uid))
		return error_set(
			err, EPERM,
			"%s: belongs to user %u, who could redirect what zcost writes: choose another path, or call sudo zcost as that user",
			path, st->st_uid);
	if (!S_ISDIR(st->st_mode) || (sticky && st->st_mode & S_ISVTX))
		return 0;
	if (st->st_mode & S_IWOTH)
		return error_set(
			err, EPERM,
			"%s: other users can write to it: chmod o-w, or choose another path", path);
	if (!geteuid() && st->st_mode & S_IWGRP && !group_is_private(path, st->st_gid))
		return error_set(err, EPERM,
				 "%s: its group can write to it: chmod g-w, or choose another path",
				 path);
	return 0;
}

static int path_check(const char *path, int *links, struct error *err);

/* Checks the target of the link `link`, which lies in its first `len` bytes. */
static int path_check_target(const char *link, size_t len, int *links, struct error *err)
{
	char target[PATH_MAX];
	autofree char *path = NULL;
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0 || ++*links > MOST_LINKS)
		return error_sys(err, n < 0 ? errno : ELOOP, "%s: cannot follow", link);
	path = xasprintf("%.*s/%.*s", *target == '/' ? 0 : (int)len, link, (int)n, target);
	return path_check(path, links, err);
}

/* Checks an absolute path from / down, up to the first part that does not exist yet. */
static int path_check(const char *path, int *links, struct error *err)
{
	char done[PATH_MAX] = "", *name;
	struct stat st;
	int rc = stat("/", &st) ? -errno : owner_check("/", &st, true, err);

	each_part (name, path, '/') {
		size_t len = strlen(done);

		if (rc || !strcmp(done, "/proc")) /* nobody plants a file there */
			break;
		if (!*name || !strcmp(name, "."))
			continue;
		if ((size_t)snprintf(done + len, PATH_MAX - len, "/%s", name) >= PATH_MAX - len)
			return error_sys(err, ENAMETOOLONG, "%s", done);
		if (lstat(done, &st))
			return errno == ENOENT ? 0
					       : error_sys(err, errno, "%s: cannot be found", done);
		rc = owner_check(done, &st, true, err);
		if (!rc && S_ISLNK(st.st_mode))
			rc = path_check_target(done, len, links, err);
	}
	return rc;
}

int caller_check_path(const char *path, struct error *err)
{
	autofree char *here = NULL, *all = NULL;
	int links = 0;

	if (geteuid())
		return 0;
	here = *path == '/' ? xstrdup("") : getcwd(NULL, 0);
	if (!here)
		return error_sys(err, errno, "%s: the folder where zcost runs is gone", path);
	all = xasprintf("%s/%s", here, path);
	return path_check(all, &links, err);
}

int caller_check_folder(const char *dir, struct error *err)
{
	struct stat st;
	int rc = caller_check_path(dir, err);

	if (!rc && stat(dir, &st))
		rc = error_sys(err, errno, "%s: cannot be found", dir);
	return rc ? rc : owner_check(dir, &st, false, err);
}

/* --- new files for the caller of sudo --- */

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

void caller_give_path(const char *path)
{
	autoclose int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		caller_give(fd);
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
