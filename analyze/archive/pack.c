// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "lib/file.h"
#include "lib/json.h"
#include "lib/late.h"
#include "lib/names.h"
#include "lib/output.h"
#include "lib/stop.h"

#include <errno.h>
#include <libgen.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, NO_TIME = 315532800 /* 1980-01-01 */ };

struct packing {
	struct pack *p;
	struct members members;
	struct sink out;
	char *name; /* the folder's name in the archive */
	time_t created;
	struct libarchive late;
	struct archive *a;
	char *buf;
};

/* --- output --- */

static la_ssize_t pack_write(struct archive *a, void *arg, const void *data, size_t len)
{
	struct packing *k = arg;
	ssize_t n;

	do {
		if (stop_asked()) {
			k->late.archive_set_error(a, EINTR, "interrupted");
			return -1;
		}
		n = write(k->out.fd, data, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		k->late.archive_set_error(a, errno, "%s", strerror(errno));
	return n;
}

static int pack_error(const struct packing *k, struct error *err)
{
	const char *why = k->late.archive_error_string(k->a);

	return error_set(err, k->late.archive_errno(k->a) > 0 ? k->late.archive_errno(k->a) : EIO,
			 "%s: cannot write: %s",
			 strcmp(k->p->output, "-") ? k->p->output : "standard output",
			 why ? why : "libarchive names no reason");
}

static int pack_open_archive(struct packing *k, struct error *err)
{
	char number[16];
	int rc = LATE_LOAD_ARCHIVE(&k->late, err);

	if (rc)
		return rc;
	k->a = k->late.archive_write_new();
	if (!k->a)
		return error_set(err, ENOMEM, "no memory for an archive");
	k->late.archive_write_set_format_pax_restricted(k->a);
	k->late.archive_write_set_bytes_in_last_block(k->a,
						      1); /* no padding behind the zstd frames */
	if (k->late.archive_write_add_filter_zstd(k->a) != ARCHIVE_OK)
		return error_set(err, ENOTSUP, "this libarchive was built without zstd");
	snprintf(number, sizeof(number), "%d", k->p->level);
	k->late.archive_write_set_filter_option(k->a, "zstd", "compression-level", number);
	/* Any number of workers gives the same bytes, but 0 does not. Old libarchives ignore this.
	 */
	snprintf(number, sizeof(number), "%d", k->p->threads);
	k->late.archive_write_set_filter_option(k->a, "zstd", "threads", number);
	return k->late.archive_write_open(k->a, k, NULL, pack_write, NULL) ? pack_error(k, err) : 0;
}

/* --- members --- */

static int pack_write_header(struct packing *k, const char *name, bool folder, uint64_t size,
			     struct error *err)
{
	struct archive_entry *e = k->late.archive_entry_new();
	autofree char *path = xasprintf("%s%s%s", k->name, *name ? "/" : "", name);
	int rc;

	k->late.archive_entry_set_pathname(e, path);
	k->late.archive_entry_set_filetype(e, folder ? AE_IFDIR : AE_IFREG);
	k->late.archive_entry_set_perm(e, folder ? 0700 : 0600);
	k->late.archive_entry_set_mtime(e, k->created, 0);
	k->late.archive_entry_set_size(e, folder ? 0 : (la_int64_t)size);
	/* libarchive warns of a name that is not ASCII, and writes its bytes unchanged. */
	rc = k->late.archive_write_header(k->a, e);
	k->late.archive_entry_free(e);
	return rc == ARCHIVE_OK || rc == ARCHIVE_WARN ? 0 : pack_error(k, err);
}

static int pack_write_data(struct packing *k, const void *data, size_t len, struct error *err)
{
	la_ssize_t n = k->late.archive_write_data(k->a, data, len);

	return n == (la_ssize_t)len ? 0 : pack_error(k, err);
}

static int pack_write_contents(struct packing *k, const struct member *e, int fd, struct error *err)
{
	uint64_t left = (uint64_t)e->st.st_size;
	int rc = 0;

	while (left && !rc) {
		ssize_t n = read(fd, k->buf, left < CHUNK ? left : CHUNK);

		if (stop_asked())
			return error_set(err, EINTR, "interrupted");
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_sys(err, n ? errno : EAGAIN, "%s/%s: cannot read",
					 k->p->capture, e->name);
		rc = pack_write_data(k, k->buf, (size_t)n, err);
		left -= (uint64_t)n;
	}
	return rc;
}

static int pack_write_member(struct packing *k, const struct member *e, struct error *err)
{
	int fd, rc;

	if (e->folder)
		return pack_write_header(k, e->name, true, 0, err);
	fd = scan_open(e, k->p->capture, err);
	if (fd < 0)
		return fd;
	rc = pack_write_header(k, e->name, false, (uint64_t)e->st.st_size, err);
	rc = rc ?: pack_write_contents(k, e, fd, err);
	close(fd);
	if (rc)
		return rc;
	fd = scan_open(e, k->p->capture, err); /* fails if the file has changed */
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int pack_write_sums(struct packing *k, struct error *err)
{
	freed(str_free) struct str text = {0};
	int rc;

	members_write_sums(&k->members, &text);
	rc = pack_write_header(k, "", true, 0, err);
	rc = rc ?: pack_write_header(k, SUMS_NAME, false, text.len, err);
	if (!rc && text.len)
		rc = pack_write_data(k, text.buf, text.len, err);
	return rc;
}

static int pack_write_members(struct packing *k, struct error *err)
{
	int rc = pack_write_sums(k, err);

	for (size_t i = 0; i < k->members.n && !rc; i++)
		rc = pack_write_member(k, &k->members.list[i], err);
	if (!rc && k->late.archive_write_close(k->a))
		rc = pack_error(k, err);
	return rc;
}

/* --- before and after --- */

static int pack_read_manifest(struct packing *k, struct error *err)
{
	struct tm tm = {0};
	json_auto_t *root = NULL;
	int rc = members_against_manifest(&k->members, k->p->capture, &root, &k->p->findings, err);
	const char *created = json_str(root, "created");

	k->p->has_manifest = root;
	k->created = NO_TIME;
	if (created && strptime(created, "%Y-%m-%dT%H:%M:%SZ", &tm) && timegm(&tm) > 0)
		k->created = timegm(&tm);
	return rc;
}

static int pack_read_capture(struct packing *k, struct error *err)
{
	int rc = scan_folder(&k->members, k->p->capture, &k->p->findings, err);

	rc = rc ?: members_check_capture(&k->members, k->p->capture, err);
	if (rc)
		return rc;
	k->p->files = members_files(&k->members);
	rc = scan_sums(&k->members, k->p->capture, err);
	return rc ? rc : pack_read_manifest(k, err);
}

/* A capture shows what other users of the host did, so only the owner may read the archive. */
static int pack_write_archive(struct packing *k, struct error *err)
{
	int rc = sink_open(&k->out, k->p->output, err);

	if (rc)
		return rc;
	if (k->out.tmp && fchmod(k->out.fd, 0600))
		rc = error_sys(err, errno, "%s: cannot set its mode", k->p->output);
	k->buf = xmalloc(CHUNK);
	rc = rc ?: pack_open_archive(k, err);
	rc = rc ?: pack_write_members(k, err);
	if (rc && k->a)
		k->late.archive_write_fail(k->a); /* otherwise freeing it would write the rest */
	if (k->a)
		k->late.archive_write_free(k->a);
	if (!rc && k->out.tmp && fsync(k->out.fd))
		rc = error_sys(err, errno, "%s: cannot write", k->p->output);
	return sink_close(&k->out, rc, err);
}

int pack_capture(struct pack *p, struct error *err)
{
	struct packing k = {.p = p};
	autofree char *real = realpath(p->capture, NULL);
	int rc;

	if (!real)
		return error_sys(err, errno, "%s: cannot open", p->capture);
	rc = name_clean(strcmp(real, "/") ? basename(real) : "capture", &k.name, err);
	rc = rc ?: pack_read_capture(&k, err);
	rc = rc ?: pack_write_archive(&k, err);
	members_free(&k.members);
	free(k.name);
	free(k.buf);
	return rc;
}
