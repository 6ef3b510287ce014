// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unpacks an archive of a stranger: only files and folders with names that name_clean() accepts.
 * Anything else is an error, and so is more data than a capture can hold.
 */
#include "analyze/archive/archive.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/late.h"
#include "lib/names.h"
#include "lib/sha256.h"
#include "lib/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, BLOCK = 64 * 1024, MAX_MEMBERS = 1000000, MAX_FOLDERS = 100000 };

/*
 * The limits without --max-size: 32 GiB, and 100 times the packed size or 256 MiB, whichever is
 * more. Captures pack 5 to 20 times smaller, and a store with repeated rows up to 50 times. A bomb
 * of zeros reaches 10,000 times. The 256 MiB are for a small capture with a sparse file.
 */
#define UNPACK_MAX (32ULL << 30)
enum { UNPACK_RATIO = 100, UNPACK_FREE = 256 << 20 };

struct unpacking {
	struct unpack *u;
	const char *shown; /* the archive, for messages */
	struct libarchive late;
	struct archive *a;
	int fd;
	uint64_t input, input_size; /* compressed bytes read; the size of the file, 0: a pipe */
	uint64_t nmembers, nfolders, bytes, data, max_bytes;
	char *name; /* the name of the current member; "" is the top of the archive */
	struct members members;
	char *tmp;
	int dir; /* tmp */
	char in[CHUNK], block[BLOCK];
};

/* --- the archive --- */

/* A signal that comes between stop_asked() and read() takes effect at the next read. */
static la_ssize_t unpack_read(struct archive *a, void *arg, const void **data)
{
	struct unpacking *k = arg;
	ssize_t n;

	do {
		if (stop_asked()) {
			k->late.archive_set_error(a, EINTR, "interrupted");
			return -1;
		}
		n = read(k->fd, k->in, sizeof(k->in));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		k->late.archive_set_error(a, errno, "%s", strerror(errno));
	else
		k->input += (uint64_t)n;
	*data = k->in;
	return n;
}

/* "cut.tar.zst: damaged in 'c/runs/.../perf.data', before byte 81234: Truncated zstd input; ..." */
static int unpack_error(const struct unpacking *k, struct error *err)
{
	const char *why = k->late.archive_error_string(k->a) ?: "it cannot be read";
	int code = k->late.archive_errno(k->a) == EINTR ? EINTR : EBADMSG;

	if (code == EINTR)
		return error_set(err, code, "%s: %s", k->shown, why);
	if (!k->name)
		return error_set(err, code, "%s: not an archive of a capture, or damaged: %s",
				 k->shown, why);
	return error_set(
		err, code,
		"%s: damaged in '%." NAME_SHOWN
		"s', before byte %llu: %s; copy it again ('tar -xf' extracts what is left)",
		k->shown, k->name, (unsigned long long)k->input, why);
}

/* The size of a pipe is unknown, so unpack_copy() compares its input with its output. */
static uint64_t unpack_limit(uint64_t packed)
{
	uint64_t limit = packed > UNPACK_MAX / UNPACK_RATIO ? UNPACK_MAX : packed * UNPACK_RATIO;

	return !packed ? UNPACK_MAX : limit < UNPACK_FREE ? UNPACK_FREE : limit;
}

static int unpack_refuse_size(const struct unpacking *k, uint64_t limit, struct error *err)
{
	bool small = limit < 1000000;

	return error_set(
		err, EFBIG,
		"%s: '%." NAME_SHOWN
		"s': refused: the files would take more than %.*f %s; zcost unpack --max-size allows more",
		k->shown, k->name, small ? 1 : 0, (double)limit / (small ? 1e3 : 1e6),
		small ? "kB" : "MB");
}

static int unpack_open(struct unpacking *k, struct error *err)
{
	bool piped = !strcmp(k->u->archive, "-");
	struct stat st;
	int rc = LATE_LOAD_ARCHIVE(&k->late, err);

	if (rc)
		return rc;
	k->fd = piped ? STDIN_FILENO : open(k->u->archive, O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return error_sys(err, errno, "%s: cannot open", k->u->archive);
	if (!fstat(k->fd, &st) && S_ISREG(st.st_mode))
		k->input_size = (uint64_t)st.st_size;
	k->max_bytes = k->u->max_bytes ? k->u->max_bytes : unpack_limit(k->input_size);
	k->a = k->late.archive_read_new();
	if (!k->a)
		return error_set(err, ENOMEM, "no memory for an archive");
	if (k->late.archive_read_support_filter_zstd(k->a) != ARCHIVE_OK)
		return error_set(err, ENOTSUP, "this libarchive was built without zstd");
	return k->late.archive_read_support_format_tar(k->a) ||
			       k->late.archive_read_open(k->a, k, NULL, unpack_read, NULL)
		       ? unpack_error(k, err)
		       : 0;
}

/* Checks the header of a member, and takes its name. */
static int unpack_check_member(struct unpacking *k, struct archive_entry *e, struct error *err)
{
	const char *raw = k->late.archive_entry_pathname(e),
		   *fault = k->late.archive_entry_hardlink(e)
				    ? "a hard link"
				    : member_fault(k->late.archive_entry_filetype(e));
	la_int64_t size = k->late.archive_entry_size(e);
	struct error why = {0};

	if (!raw)
		raw = k->late.archive_entry_pathname_utf8(e);
	free(k->name);
	k->name = NULL;
	if (name_clean(raw ? raw : "", &k->name, &why))
		return error_set(err, why.code, "%s: %s", k->shown, why.text);
	if (fault)
		return error_set(err, EINVAL, "%s: '%." NAME_SHOWN "s': refused: %s", k->shown,
				 k->name, fault);
	if (++k->nmembers > MAX_MEMBERS)
		return error_set(err, EFBIG, "%s: refused: more than %d members", k->shown,
				 MAX_MEMBERS);
	if (size < 0 || (uint64_t)size > k->max_bytes - k->bytes)
		return unpack_refuse_size(k, k->max_bytes, err);
	k->bytes += (uint64_t)size;
	return 0;
}

/* --- one file --- */

/* Writes a block of the file. A block of zeros becomes a hole, which reads as zeros. */
static int unpack_write_block(struct unpacking *k, int fd, size_t n)
{
	if (*k->block || memcmp(k->block, k->block + 1, n - 1))
		return file_write_all(fd, k->block, n);
	return lseek(fd, (off_t)n, SEEK_CUR) < 0 ? -errno : 0;
}

static int unpack_copy(struct unpacking *k, int fd, char hex[65], struct error *err)
{
	struct sha256 h;
	uint64_t limit;
	la_ssize_t n;
	off_t size = 0;
	int rc = 0;

	sha256_begin(&h);
	while (!rc && (n = k->late.archive_read_data(k->a, k->block, BLOCK)) > 0) {
		k->data += (uint64_t)n;
		limit = unpack_limit(k->input_size ? k->input_size : k->input);
		if (!k->u->max_bytes && k->data > limit)
			return unpack_refuse_size(k, limit, err);
		if (stop_asked())
			return error_set(err, EINTR, "interrupted");
		sha256_add(&h, k->block, (size_t)n);
		rc = unpack_write_block(k, fd, (size_t)n);
		size += n;
	}
	sha256_hex(&h, hex);
	if (!rc && n < 0)
		return unpack_error(k, err);
	if (!rc && ftruncate(fd, size))
		rc = -errno;
	return rc ? error_sys(err, -rc, "%s/%s: cannot write", k->tmp, k->name) : 0;
}

/* Counts folders, too, because the name of one member may have 31 of them. */
static int unpack_make_folders(struct unpacking *k, bool last, struct error *err)
{
	char *copy = xstrdup(k->name), *at = copy;
	bool made;
	int rc = 0;

	while (!rc && at) {
		at = strchr(at, '/');
		if (!at && !last)
			break;
		if (at)
			*at = '\0';
		made = !mkdirat(k->dir, copy, 0700);
		if (!made && errno != EEXIST)
			rc = error_sys(err, errno, "%s/%s: cannot make the folder", k->tmp, copy);
		else if (made && ++k->nfolders > MAX_FOLDERS)
			rc = error_set(err, EFBIG, "%s: refused: more than %d folders", k->shown,
				       MAX_FOLDERS);
		if (at)
			*at++ = '/';
	}
	free(copy);
	return rc;
}

static int unpack_file(struct unpacking *k, struct error *err)
{
	char hex[65];
	int fd, rc = unpack_make_folders(k, false, err);

	if (rc)
		return rc;
	fd = openat(k->dir, k->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		return error_set(err, EINVAL,
				 "'%." NAME_SHOWN "s': refused: the archive has it twice", k->name);
	if (fd < 0)
		return error_sys(err, errno, "%s/%s: cannot write", k->tmp, k->name);
	rc = unpack_copy(k, fd, hex, err);
	if (close(fd) && !rc)
		rc = error_sys(err, errno, "%s/%s: cannot write", k->tmp, k->name);
	if (!rc)
		memcpy(members_add(&k->members, k->name, false)->hex, hex, sizeof(hex));
	return rc;
}

/* Reads what follows the archive, too, so that the writer of a pipe can end. */
static int unpack_members(struct unpacking *k, struct error *err)
{
	struct archive_entry *e;
	const void *rest;
	la_ssize_t n;
	int rc = 0;

	while (!rc) {
		rc = k->late.archive_read_next_header(k->a, &e);
		if (rc == ARCHIVE_EOF)
			break;
		/* libarchive warns of a name in another character set, and gives its bytes. */
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return unpack_error(k, err);
		rc = unpack_check_member(k, e, err);
		if (!rc && *k->name)
			rc = k->late.archive_entry_filetype(e) == AE_IFDIR
				     ? unpack_make_folders(k, true, err)
				     : unpack_file(k, err);
	}
	if (rc != ARCHIVE_EOF)
		return rc;
	while ((n = unpack_read(k->a, k, &rest)) > 0)
		;
	return n < 0 ? unpack_error(k, err) : 0;
}

/* --- the folder --- */

/* Returns the length of the "NAME/" with which all members begin, or 0. */
static size_t unpack_common_folder(const struct members *m)
{
	const char *slash = m->n ? strchr(m->list[0].name, '/') : NULL;
	size_t len = slash ? (size_t)(slash - m->list[0].name) + 1 : 0;

	for (size_t i = 1; i < m->n && len; i++)
		if (strncmp(m->list[i].name, m->list[0].name, len))
			len = 0;
	return len;
}

static void unpack_cut_folder(struct members *m, size_t len)
{
	for (size_t i = 0; i < m->n; i++)
		memmove(m->list[i].name, m->list[i].name + len, strlen(m->list[i].name + len) + 1);
}

static int unpack_compare_sums(struct unpacking *k, const char *path, struct error *err)
{
	struct findings f = {0};
	autofree char *text = NULL;
	int rc = file_read(path, &text, NULL, err);

	if (rc)
		return rc;
	members_against_sums(&k->members, text, &f);
	if (f.n)
		rc = error_set(
			err, EBADMSG,
			"%s: damaged, %zu file%s; nothing was unpacked ('tar -xf' extracts what is left)",
			k->shown, f.n, f.n == 1 ? "" : "s");
	return rc;
}

static int unpack_check_sums(struct unpacking *k, const char *root, struct error *err)
{
	autofree char *path = xasprintf("%s/" SUMS_NAME, root);
	int rc = 0;

	k->u->has_sums = members_find(&k->members, SUMS_NAME);
	k->u->files = members_files(&k->members) - k->u->has_sums;
	if (k->u->has_sums)
		rc = unpack_compare_sums(k, path, err);
	if (!rc && k->u->has_sums)
		unlink(path); /* the folder changes later, and then the list would be wrong */
	return rc;
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
	json_auto_t *manifest = NULL;
	size_t top;
	autofree char *root = NULL;
	int rc;

	members_sort(&k->members);
	top = unpack_common_folder(&k->members);
	root = top ? xasprintf("%s/%.*s", k->tmp, (int)top - 1, k->members.list[0].name)
		   : xstrdup(k->tmp);
	unpack_cut_folder(&k->members, top);
	rc = members_check_capture(&k->members, k->shown, err);
	rc = rc ?: unpack_check_sums(k, root, err);
	rc = rc ?: members_against_manifest(&k->members, root, &manifest, &k->u->findings, err);
	k->u->has_manifest = manifest;
	return rc ?: unpack_rename(k, root, err);
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
	autofree struct unpacking *k = xcalloc(1, sizeof(*k));
	int rc = unpack_check_folder(u->folder, err);

	k->u = u;
	k->shown = strcmp(u->archive, "-") ? u->archive : "standard input";
	k->dir = -1;
	rc = rc ?: unpack_open(k, err);
	rc = rc ?: unpack_open_folder(k, err);
	rc = rc ?: unpack_members(k, err);
	rc = rc ?: unpack_check_and_rename(k, err);
	if (k->dir >= 0)
		close(k->dir);
	if (rc && k->dir >= 0)
		dir_remove(k->tmp, NULL);
	if (k->a)
		k->late.archive_read_free(k->a);
	if (k->fd > STDIN_FILENO)
		close(k->fd);
	members_free(&k->members);
	free(k->name);
	free(k->tmp);
	return rc;
}
