// SPDX-License-Identifier: GPL-2.0-only
#include "lib/file.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void dir_close(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int file_read_rest(int fd, struct str *s, size_t most)
{
	char buf[CHUNK];
	ssize_t n;

	for (;;) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if ((size_t)n > most - s->len)
			return -EFBIG;
		str_add(s, buf, (size_t)n);
		if (!n)
			return 0;
	}
}

int file_open(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st = {0};

	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", path);
	if (fstat(fd, &st)) {
		error_sys(err, errno, "%s: cannot read", path);
		close(fd);
		return -EIO;
	}
	if (S_ISREG(st.st_mode))
		return fd;
	close(fd);
	if (S_ISDIR(st.st_mode))
		return error_sys(err, EISDIR, "%s: cannot read", path);
	return error_set(err, EBADMSG, "%s: not a regular file", path);
}

static int file_read_opened(int fd, const char *name, size_t most, char **data, size_t *len,
			    struct error *err)
{
	freed(str_free) struct str s = {0};
	struct stat st;
	int rc = fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size <= most
			 ? file_read_rest(fd, &s, most)
			 : -EFBIG;

	if (rc == -EFBIG && most < SIZE_MAX)
		return error_set(err, EFBIG, "%s: larger than %zu MiB", name, most >> 20);
	if (rc < 0)
		return error_sys(err, -rc, "%s: cannot read", name);
	if (len)
		*len = s.len;
	*data = str_take(&s);
	return 0;
}

int file_read_most(const char *path, size_t most, char **data, size_t *len, struct error *err)
{
	autoclose int fd = file_open(path, err);

	return fd < 0 ? fd : file_read_opened(fd, path, most, data, len, err);
}

int file_read(const char *path, char **data, size_t *len, struct error *err)
{
	return file_read_most(path, SIZE_MAX, data, len, err);
}

int file_read_named(const char *path, char **data, size_t *len, struct error *err)
{
	autoclose int fd = -1;

	if (!strcmp(path, "-"))
		return file_read_opened(STDIN_FILENO, "standard input", SIZE_MAX, data, len, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", path);
	return file_read_opened(fd, path, SIZE_MAX, data, len, err);
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_create(const char *path, int flags, mode_t mode)
{
	struct stat st;
	int fd;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return -EEXIST;
	if (unlink(path) && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, mode);
	return fd < 0 ? -errno : fd;
}

int file_replace(int fd, const char *tmp, const char *path, int rc)
{
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (rc)
		unlink(tmp);
	return rc;
}

int file_write(const char *path, const void *data, size_t len, struct error *err)
{
	autofree char *tmp = remains_name(path);
	int rc, fd;

	fd = file_create(tmp, 0, 0644);
	rc = fd < 0 ? fd : file_write_all(fd, data, len);
	if (!rc && fsync(fd) && errno != EINVAL)
		rc = -errno;
	rc = file_replace(fd, tmp, path, rc);
	return rc ? error_sys(err, -rc, "%s: cannot write", path) : 0;
}

int file_copy(const char *from, const char *to, struct error *err)
{
	autofree char *data = NULL;
	size_t len;

	return file_read(from, &data, &len, err) ?: file_write(to, data, len, err);
}

bool disk_is_full(const char *path)
{
	struct statvfs st;

	if (statvfs(path, &st) || !st.f_blocks)
		return false;
	return !(geteuid() ? st.f_bavail : st.f_bfree); /* root has a reserve */
}

bool file_begins_with(const char *path, const char *magic, size_t n)
{
	autoclose int fd = -1;
	struct stat st;
	char head[16];

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, head, n) == (ssize_t)n && !memcmp(head, magic, n);
}

static int dir_make_one(const char *path, struct error *err)
{
	autoclose int fd = -1;

	if (mkdir(path, 0755))
		return errno == EEXIST ? caller_check_path(path, err)
				       : error_sys(err, errno, "%s: cannot make the folder", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		caller_give(fd);
	return 0;
}

int dir_make(const char *path, struct error *err)
{
	autofree char *copy = xstrdup(path);
	char *p = copy;
	int rc = 0;

	while (!rc && p) {
		p = strchr(p + 1, '/');
		if (p)
			*p = '\0';
		if (*copy)
			rc = dir_make_one(copy, err);
		if (p)
			*p = '/';
	}
	if (!rc && !path_is_dir(path))
		rc = error_sys(err, ENOTDIR, "%s: cannot make the folder", path);
	return rc || geteuid() ? rc : caller_check_folder(path, err);
}

static int dir_remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int dir_remove(const char *path, struct error *err)
{
	if (nftw(path, dir_remove_entry, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return error_sys(err, errno, "%s: cannot remove", path);
	return 0;
}

/* --- all files below a folder --- */

/* fts_open() of glibc is no choice: it crashes when memory is short. */
struct walk {
	walk_visitor visit;
	void *arg;
	size_t skip; /* length of the first folder and a slash */
	struct error *err;
};

static int walk_is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

static int walk_visit_folder(const struct walk *w, const char *dir, int level);

static int walk_visit_entry(const struct walk *w, const char *path, int level)
{
	struct walked e = {.path = path, .name = path + w->skip, .level = level};
	int rc;

	if (lstat(path, &e.st))
		e.code = errno;
	rc = w->visit(w->arg, &e, w->err);
	if (!rc && !e.code && S_ISDIR(e.st.st_mode))
		rc = walk_visit_folder(w, path, level);
	return rc == WALK_SKIP ? 0 : rc;
}

static int walk_visit_folder(const struct walk *w, const char *dir, int level)
{
	struct walked e = {.path = dir, .name = level ? dir + w->skip : "", .level = level};
	autofree struct dirent **list = NULL;
	int n = scandir(dir, &list, walk_is_entry, alphasort), rc = 0;

	if (n < 0) {
		e.code = errno;
		rc = w->visit(w->arg, &e, w->err);
	}
	for (int i = 0; i < n; i++) {
		autofree char *path = xasprintf("%s/%s", dir, list[i]->d_name);

		rc = rc ?: walk_visit_entry(w, path, level + 1);
		free(list[i]);
	}
	return rc;
}

int dir_walk(const char *dir, walk_visitor visit, void *arg, struct error *err)
{
	struct walk w = {.visit = visit, .arg = arg, .skip = strlen(dir) + 1, .err = err};

	return walk_visit_folder(&w, dir, 0);
}

const char *path_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_exists(const char *path)
{
	return !access(path, F_OK) || error_of_machine(errno);
}

bool path_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) ? error_of_machine(errno) : S_ISDIR(st.st_mode);
}

ssize_t file_read_at(int fd, void *buf, size_t n, uint64_t at)
{
	size_t got = 0;
	ssize_t part = 1;

	while (got < n && part) {
		part = pread(fd, (char *)buf + got, n - got, (off_t)(at + got));
		if (part > 0)
			got += (size_t)part;
		else if (part < 0 && errno != EINTR)
			return -errno;
	}
	return (ssize_t)got;
}

char *remains_name(const char *path)
{
	return xasprintf("%s.tmp.%d", path, (int)getpid());
}

/* Returns whether `name` is START followed by the number of a process that has ended. */
static bool remains_is_dead(const char *name, const char *start)
{
	char *end;
	long pid;

	if (!str_starts(name, start))
		return false;
	name += strlen(start);
	pid = strtol(name, &end, 10);
	return end > name && !*end && pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

void remains_remove(const char *path)
{
	const char *slash = strrchr(path, '/');
	autofree char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
	autofree char *start = xasprintf("%s.tmp.", slash ? slash + 1 : path);
	struct dirent *e;

	each_entry (e, folder) {
		autofree char *found = remains_is_dead(e->d_name, start)
					       ? xasprintf("%s%s", folder, e->d_name)
					       : NULL;

		if (found && caller_owns(found))
			dir_remove(found, NULL);
	}
}
