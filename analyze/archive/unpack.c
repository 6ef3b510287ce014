// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "analyze/archive/reader.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/names.h"
#include "lib/stop.h"
#include "lib/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, BLOCK = 4096 };

struct unpacking {
	struct unpack *u;
	struct reader *r;
	struct members members;
	struct advance progress;
	char *tmp;
	int dir; /* tmp */
	char *buf;
};

/* --- one file --- */

static bool unpack_is_zero(const char *p, size_t n)
{
	return !*p && !memcmp(p, p + 1, n - 1);
}

static int unpack_write_at(int fd, const char *p, size_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	return 0;
}

/* Does not write blocks of zeros: they become holes, which read as zeros. */
static int unpack_write_blocks(int fd, const char *p, size_t n, uint64_t at)
{
	size_t done, len;
	int rc = 0;

	for (done = 0; done < n && !rc; done += len) {
		len = n - done < BLOCK ? n - done : BLOCK;
		if (!unpack_is_zero(p + done, len))
			rc = unpack_write_at(fd, p + done, len, at + done);
	}
	return rc;
}

/* Fills the whole buffer, so that blocks of zeros are aligned. */
static long unpack_read_chunk(struct unpacking *k, struct error *err)
{
	size_t have = 0;
	long n = 1;

	while (have < CHUNK && n > 0) {
		if (stop_asked())
			return error_set(err, EINTR, "interrupted");
		n = reader_data(k->r, k->buf + have, CHUNK - have, err);
		have += n > 0 ? (size_t)n : 0;
	}
	advance_add(&k->progress, reader_input(k->r) - k->progress.done);
	return n < 0 ? n : (long)have;
}

static int unpack_copy_file(struct unpacking *k, int fd, const struct item *item, char hex[65],
			    struct error *err)
{
	struct sha256 h;
	uint64_t at = 0;
	long n;
	int rc = 0;

	sha256_begin(&h);
	while (!rc && (n = unpack_read_chunk(k, err)) > 0) {
		sha256_add(&h, k->buf, (size_t)n);
		rc = unpack_write_blocks(fd, k->buf, (size_t)n, at);
		at += (uint64_t)n;
	}
	sha256_hex(&h, hex);
	if (!rc && n < 0)
		return (int)n;
	if (!rc && at != item->size)
		return error_set(err, EBADMSG, "'%s': the archive has %llu of its %llu bytes",
				 name_shown(item->name), (unsigned long long)at,
				 (unsigned long long)item->size);
	if (!rc && ftruncate(fd, (off_t)at))
		rc = -errno;
	return rc ? error_sys(err, -rc, "%s/%s: cannot write", k->tmp, item->name) : 0;
}

static int unpack_make_folders(struct unpacking *k, const char *name, bool last, struct error *err)
{
	char *copy = xstrdup(name), *at = copy;
	int rc = 0;

	while (!rc && at) {
		at = strchr(at, '/');
		if (!at && !last)
			break;
		if (at)
			*at = '\0';
		if (mkdirat(k->dir, copy, 0700) && errno != EEXIST)
			rc = error_sys(err, errno, "%s/%s: cannot make the folder", k->tmp, copy);
		if (at)
			*at++ = '/';
	}
	free(copy);
	return rc;
}

static int unpack_file(struct unpacking *k, const struct item *item, struct error *err)
{
	struct member *m;
	char hex[65];
	int fd, rc = unpack_make_folders(k, item->name, false, err);

	if (rc)
		return rc;
	fd = openat(k->dir, item->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return error_set(err, EINVAL, "'%s': refused: the archive has it twice",
				 name_shown(item->name));
	if (fd < 0)
		return error_sys(err, errno, "%s/%s: cannot write", k->tmp, item->name);
	rc = unpack_copy_file(k, fd, item, hex, err);
	if (close(fd) && !rc)
		rc = error_sys(err, errno, "%s/%s: cannot write", k->tmp, item->name);
	if (rc)
		return rc;
	m = members_add(&k->members, item->name, false);
	memcpy(m->hex, hex, sizeof(hex));
	return 0;
}

static int unpack_members(struct unpacking *k, struct error *err)
{
	struct item item;
	int rc;

	while ((rc = reader_next(k->r, &item, err)) > 0) {
		rc = !*item.name   ? 0
		     : item.folder ? unpack_make_folders(k, item.name, true, err)
				   : unpack_file(k, &item, err);
		if (rc)
			return rc;
	}
	return rc ? rc : reader_drain(k->r, err);
}

/* --- the folder --- */

/* Returns the length of the "NAME/" with which all members begin, or 0. */
static size_t unpack_common_folder(const struct members *m)
{
	const char *slash = m->n ? strchr(m->list[0].name, '/') : NULL;
	size_t len = slash ? (size_t)(slash - m->list[0].name) + 1 : 0, i;

	for (i = 1; i < m->n && len; i++)
		if (strncmp(m->list[i].name, m->list[0].name, len))
			len = 0;
	return len;
}

static void unpack_cut_folder(struct members *m, size_t len)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		memmove(m->list[i].name, m->list[i].name + len, strlen(m->list[i].name + len) + 1);
}

static int unpack_compare_sums(struct unpacking *k, const char *path, struct error *err)
{
	struct findings f = {0};
	struct members sums = {0};
	char *text;
	int rc = file_read(path, &text, NULL, err);

	if (rc)
		return rc;
	if (!members_read_sums(&sums, text))
		findings_add(&f, SUMS_NAME " is damaged");
	else
		members_against_sums(&k->members, &sums, &f);
	if (f.n)
		rc = error_set(
			err, EBADMSG,
			"%s: damaged, %zu file%s: %s%s; nothing was unpacked ('tar -xf' extracts what is left)",
			strcmp(k->u->archive, "-") ? k->u->archive : "standard input", f.n,
			f.n == 1 ? "" : "s", f.lines[0], f.n > 1 ? " ..." : "");
	if (f.n > 1)
		findings_warn(&f);
	members_free(&sums);
	findings_free(&f);
	free(text);
	return rc;
}

static int unpack_check_sums(struct unpacking *k, const char *root, struct error *err)
{
	char *path = xasprintf("%s/" SUMS_NAME, root);
	int rc = 0;

	k->u->has_sums = members_find(&k->members, SUMS_NAME);
	k->u->files = members_files(&k->members) - k->u->has_sums;
	if (k->u->has_sums)
		rc = unpack_compare_sums(k, path, err);
	if (!rc && k->u->has_sums)
		unlink(path); /* the folder changes later, and then the list would be wrong */
	free(path);
	return rc;
}

static int unpack_check_manifest(struct unpacking *k, const char *root, struct error *err)
{
	char *path = xasprintf("%s/manifest.json", root);
	json_t *manifest = NULL;
	int rc = 0;

	k->u->has_manifest = members_find(&k->members, "manifest.json");
	if (k->u->has_manifest) {
		manifest = json_file(path, err);
		rc = manifest ? 0 : -EBADMSG;
	}
	if (manifest)
		members_against_manifest(&k->members, manifest, &k->u->findings);
	json_decref(manifest);
	free(path);
	return rc;
}

static int unpack_check_capture(struct unpacking *k, const char *root, struct error *err)
{
	char *runs = xasprintf("%s/runs", root);
	bool is = path_is_dir(runs) || members_find(&k->members, "manifest.json") ||
		  members_find(&k->members, "run.json");

	free(runs);
	return is ? 0
		  : error_set(
			    err, ENOENT,
			    "%s: holds no capture: it has no manifest.json, no runs/ and no run.json",
			    k->u->archive);
}

static int unpack_rename(struct unpacking *k, const char *root, struct error *err)
{
	if (syncfs(k->dir) || rename(root, k->u->folder))
		return error_sys(err, errno, "%s: cannot make the folder", k->u->folder);
	if (strcmp(root, k->tmp))
		rmdir(k->tmp);
	caller_give_tree(k->u->folder);
	return 0;
}

/* All members are there: checks them and gives the folder its name. */
static int unpack_check_and_rename(struct unpacking *k, struct error *err)
{
	size_t top;
	char *root;
	int rc;

	members_sort(&k->members);
	top = unpack_common_folder(&k->members);
	root = top ? xasprintf("%s/%.*s", k->tmp, (int)top - 1, k->members.list[0].name)
		   : xstrdup(k->tmp);
	unpack_cut_folder(&k->members, top);
	rc = unpack_check_capture(k, root, err);
	if (!rc)
		rc = unpack_check_sums(k, root, err);
	if (!rc)
		rc = unpack_check_manifest(k, root, err);
	if (!rc)
		rc = unpack_rename(k, root, err);
	free(root);
	return rc;
}

/* Accepts an empty folder, because rename() replaces it. */
static int unpack_check_folder(const char *folder, struct error *err)
{
	DIR *dir = opendir(folder);
	int entries = 0;

	while (dir && readdir(dir))
		entries++;
	if (dir)
		closedir(dir);
	if (!path_exists(folder) || (dir && entries <= 2))
		return caller_check_path(folder, err);
	return error_set(err, EEXIST,
			 "%s: exists already; remove it, or choose another folder with -o", folder);
}

static int unpack_open_folder(struct unpacking *k, struct error *err)
{
	remains_remove(k->u->folder);
	k->tmp = remains_name(k->u->folder);
	if (mkdir(k->tmp, 0700))
		return error_sys(err, errno, "%s: cannot make the folder", k->u->folder);
	k->dir = open(k->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return k->dir < 0 ? error_sys(err, errno, "%s: cannot open", k->tmp) : 0;
}

int unpack_archive(struct unpack *u, struct error *err)
{
	struct unpacking k = {.u = u, .dir = -1};
	int rc = unpack_check_folder(u->folder, err);

	if (!rc)
		rc = reader_open(&k.r, u->archive, u->max_bytes, err);
	if (rc)
		return rc;
	k.buf = xmalloc(CHUNK);
	k.progress = advance_of("unpacking", reader_input_size(k.r));
	rc = unpack_open_folder(&k, err);
	if (!rc)
		rc = unpack_members(&k, err);
	if (!rc)
		rc = unpack_check_and_rename(&k, err);
	advance_end(&k.progress);
	if (k.dir >= 0)
		close(k.dir);
	if (rc && k.dir >= 0)
		dir_remove(k.tmp, NULL);
	reader_close(k.r);
	members_free(&k.members);
	free(k.buf);
	free(k.tmp);
	return rc;
}
