// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/reader.h"

#include "analyze/archive/archive.h"
#include "lib/alloc.h"
#include "lib/names.h"
#include "lib/stop.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, MAX_MEMBERS = 1000000 };

struct reader {
	struct archive *a;
	const char *path;
	char *name; /* of the current member */
	int fd;
	uint64_t input, input_size, members, bytes, data, max_bytes;
	bool lifted; /* the user gave max_bytes */
	char buf[CHUNK];
};

static const char *reader_input_name(const struct reader *r)
{
	return strcmp(r->path, "-") ? r->path : "standard input";
}

/* A signal that comes between stop_asked() and read() takes effect at the next read. */
static la_ssize_t reader_read(struct archive *a, void *arg, const void **data)
{
	struct reader *r = arg;
	ssize_t n;

	do {
		if (stop_asked()) {
			archive_set_error(a, EINTR, "interrupted");
			return -1;
		}
		n = read(r->fd, r->buf, sizeof(r->buf));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		archive_set_error(a, errno, "%s", strerror(errno));
	else
		r->input += (uint64_t)n;
	*data = r->buf;
	return n;
}

/* "cut.tar.zst: damaged in 'c/runs/.../perf.data', before byte 81234: Truncated zstd input; ..." */
static int reader_error(struct reader *r, struct error *err)
{
	const char *why = archive_error_string(r->a);
	int code = archive_errno(r->a) == EINTR ? EINTR : EBADMSG;

	if (!why)
		why = "it cannot be read";
	if (code == EINTR)
		return error_set(err, code, "%s: %s", reader_input_name(r), why);
	if (!r->name)
		return error_set(err, code, "%s: not an archive of a capture, or damaged: %s",
				 reader_input_name(r), why);
	return error_set(
		err, code,
		"%s: damaged in '%s', before byte %llu: %s; copy it again ('tar -xf' extracts what is left)",
		reader_input_name(r), name_shown(r->name), (unsigned long long)r->input, why);
}

static int reader_open_input(struct reader *r, struct error *err)
{
	struct stat st;

	r->fd = strcmp(r->path, "-") ? open(r->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (r->fd < 0)
		return error_sys(err, errno, "%s: cannot open", r->path);
	if (!fstat(r->fd, &st) && S_ISREG(st.st_mode))
		r->input_size = (uint64_t)st.st_size;
	return 0;
}

/* The size of a pipe is unknown, so reader_data() compares its input with its output. */
static uint64_t reader_default_limit(uint64_t packed)
{
	uint64_t limit = packed > UNPACK_MAX / UNPACK_RATIO ? UNPACK_MAX : packed * UNPACK_RATIO;

	return !packed ? UNPACK_MAX : limit < UNPACK_FREE ? UNPACK_FREE : limit;
}

static int reader_refuse_size(struct reader *r, uint64_t limit, struct error *err)
{
	bool small = limit < 1000000;

	return error_set(
		err, EFBIG,
		"%s: '%s': refused: the files would take more than %.*f %s; zcost unpack --max-size allows more",
		reader_input_name(r), name_shown(r->name), small ? 1 : 0,
		(double)limit / (small ? 1e3 : 1e6), small ? "kB" : "MB");
}

int reader_open(struct reader **out, const char *path, uint64_t max_bytes, struct error *err)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	int rc;

	r->path = path;
	rc = reader_open_input(r, err);
	r->lifted = max_bytes;
	r->max_bytes = max_bytes ? max_bytes : reader_default_limit(r->input_size);
	r->a = rc ? NULL : archive_read_new();
	if (!rc && !r->a)
		rc = error_set(err, ENOMEM, "no memory for an archive");
	if (!rc && archive_read_support_filter_zstd(r->a) != ARCHIVE_OK)
		rc = error_set(err, ENOTSUP, "this libarchive was built without zstd");
	if (!rc && (archive_read_support_format_tar(r->a) ||
		    archive_read_open(r->a, r, NULL, reader_read, NULL)))
		rc = reader_error(r, err);
	if (rc)
		reader_close(r);
	else
		*out = r;
	return rc;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	archive_read_free(r->a);
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	free(r->name);
	free(r);
}

static const char *reader_kind_fault(struct archive_entry *e)
{
	if (archive_entry_hardlink(e))
		return "a hard link";
	switch (archive_entry_filetype(e)) {
	case AE_IFREG:
	case AE_IFDIR:
		return NULL;
	case AE_IFLNK:
		return "a symbolic link";
	case AE_IFIFO:
		return "a fifo";
	case AE_IFCHR:
	case AE_IFBLK:
		return "a device";
	default:
		return "neither a file nor a folder";
	}
}

static int reader_check_size(struct reader *r, struct archive_entry *e, struct error *err)
{
	la_int64_t size = archive_entry_size(e);

	if (++r->members > MAX_MEMBERS)
		return error_set(err, EFBIG, "%s: refused: more than %d members",
				 reader_input_name(r), MAX_MEMBERS);
	if (size < 0 || (uint64_t)size > r->max_bytes - r->bytes)
		return reader_refuse_size(r, r->max_bytes, err);
	r->bytes += (uint64_t)size;
	return 0;
}

static int reader_check_member(struct reader *r, struct archive_entry *e, struct error *err)
{
	const char *raw = archive_entry_pathname(e), *fault = reader_kind_fault(e);
	struct error why = {0};

	if (!raw)
		raw = archive_entry_pathname_utf8(e);
	free(r->name);
	r->name = NULL;
	if (name_clean(raw ? raw : "", &r->name, &why))
		return error_set(err, why.code, "%s: %s", reader_input_name(r), why.text);
	if (fault)
		return error_set(err, EINVAL, "%s: '%s': refused: %s", reader_input_name(r),
				 name_shown(r->name), fault);
	return reader_check_size(r, e, err);
}

int reader_next(struct reader *r, struct item *item, struct error *err)
{
	struct archive_entry *e;
	int rc = archive_read_next_header(r->a, &e);

	if (rc == ARCHIVE_EOF)
		return 0;
	/* libarchive warns of a name in another character set. The reader takes its bytes. */
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return reader_error(r, err);
	rc = reader_check_member(r, e, err);
	if (rc)
		return rc;
	*item = (struct item){.name = r->name,
			      .folder = archive_entry_filetype(e) == AE_IFDIR,
			      .size = (uint64_t)archive_entry_size(e)};
	return 1;
}

long reader_data(struct reader *r, void *buf, size_t size, struct error *err)
{
	la_ssize_t n = archive_read_data(r->a, buf, size);
	uint64_t limit;

	if (n < 0)
		return reader_error(r, err);
	r->data += (uint64_t)n;
	limit = reader_default_limit(r->input_size ? r->input_size : r->input);
	if (!r->lifted && r->data > limit)
		return reader_refuse_size(r, limit, err);
	return n;
}

int reader_drain(struct reader *r, struct error *err)
{
	const void *data;
	la_ssize_t n;

	while ((n = reader_read(r->a, r, &data)) > 0)
		;
	return n < 0 ? reader_error(r, err) : 0;
}

uint64_t reader_input(const struct reader *r)
{
	return r->input;
}

uint64_t reader_input_size(const struct reader *r)
{
	return r->input_size;
}
