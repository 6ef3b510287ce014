// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/scan.h"

#include "lib/names.h"
#include "analyze/archive/stop.h"
#include "lib/alloc.h"
#include "lib/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024 };

/* zcost.db.tmp.123: what somebody who was killed left, or is still making. */
static bool scan_is_temporary(const char *name)
{
	const char *tmp = strstr(name, ".tmp.");

	return tmp && tmp[5] && !tmp[5 + strspn(tmp + 5, "0123456789")];
}

static bool scan_is_of_host(const char *name)
{
	size_t len = strcspn(name, "/"), i;

	for (i = 0; names_of_host[i]; i++)
		if (strlen(names_of_host[i]) == len && !strncmp(name, names_of_host[i], len))
			return true;
	return false;
}

static const char *scan_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a fifo";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

static int scan_add_entry(struct members *m, const FTSENT *e, const char *name, struct findings *f,
			  struct error *err)
{
	bool folder = e->fts_info == FTS_D;
	char *clean;
	int rc;

	if (!*name || !strcmp(name, SUMS_NAME) || scan_is_of_host(name) ||
	    scan_is_temporary(e->fts_name))
		return 0;
	rc = name_clean(name, &clean, err);
	if (rc)
		return rc;
	if (folder || e->fts_info == FTS_F)
		members_add(m, clean, folder)->st = *e->fts_statp;
	else
		findings_add(f, "%s: left out: %s", clean, scan_kind(e->fts_statp->st_mode));
	free(clean);
	return 0;
}

static int scan_walk(struct members *m, FTS *fts, size_t skip, struct findings *f,
		     struct error *err)
{
	FTSENT *e;
	int rc = 0;

	errno = 0;
	while (!rc && (e = fts_read(fts))) {
		const char *name = e->fts_path + (e->fts_pathlen > skip ? skip + 1 : skip);

		if (stop_asked())
			rc = error_set(err, EINTR, "interrupted");
		else if (e->fts_info == FTS_ERR || e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
			rc = error_sys(err, e->fts_errno, "%s: cannot read", e->fts_path);
		else if (e->fts_info != FTS_DP)
			rc = scan_add_entry(m, e, name, f, err);
		errno = 0;
	}
	return rc ? rc : errno ? error_sys(err, errno, "cannot read the folder") : 0;
}

int scan_folder(struct members *m, const char *capture, struct findings *f, struct error *err)
{
	char *root = xasprintf("%s/.", capture);
	char *const paths[] = {root, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	int rc;

	rc = fts ? scan_walk(m, fts, strlen(root), f, err)
		 : error_sys(err, errno, "%s: cannot read", capture);
	if (fts)
		fts_close(fts);
	free(root);
	members_sort(m);
	return rc;
}

static bool scan_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int scan_open(const struct member *e, const char *capture, struct error *err)
{
	char *path = xasprintf("%s/%s", capture, e->name);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = fd;
	struct stat st;

	if (fd < 0) {
		rc = error_sys(err, errno, "%s: cannot open", path);
	} else if (fstat(fd, &st) || !scan_is_same_file(&st, &e->st)) {
		rc = error_set(err, EAGAIN,
			       "%s: changed while it was packed; wait until the capture is done",
			       path);
		close(fd);
	}
	free(path);
	return rc;
}

static int scan_sum_file(int fd, char *buf, char hex[65], struct advance *progress)
{
	struct sha256 h;
	ssize_t n;

	sha256_begin(&h);
	while ((n = read(fd, buf, CHUNK)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (stop_asked())
			return -EINTR;
		if (n > 0) {
			sha256_add(&h, buf, (size_t)n);
			advance_add(progress, (uint64_t)n);
		}
	}
	sha256_hex(&h, hex);
	return 0;
}

int scan_sums(struct members *m, const char *capture, struct advance *progress, struct error *err)
{
	char *buf = xmalloc(CHUNK);
	size_t i;
	int rc = 0;

	for (i = 0; i < m->n && !rc; i++) {
		struct member *e = &m->list[i];
		int fd = e->folder ? -1 : scan_open(e, capture, err);

		if (e->folder)
			continue;
		rc = fd < 0 ? fd : scan_sum_file(fd, buf, e->hex, progress);
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && rc)
			error_sys(err, -rc, "%s/%s: cannot read", capture, e->name);
	}
	free(buf);
	return rc;
}
