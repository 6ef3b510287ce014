// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/names.h"
#include "lib/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

static const char suffix[] = ".tar.zst";
static const char *const identities[] = {"manifest.json", "run.json"};

/* Limits for members in memory. The stores of large captures have tens of megabytes. */
enum { MAX_SMALL = 256 << 20, MAX_STORE = 1 << 30, CHUNK = 256 * 1024 };

struct packed_search {
	const char *archive;
	struct reader *r;
	struct members sums; /* from SHA256SUMS, if the archive begins with it */
	bool has_sums, want_store;
	struct packed_store *found;
};

static int packed_read_member(struct packed_search *l, const struct item *item, uint64_t most,
			      char **bytes, struct error *err)
{
	size_t at = 0;
	long n = 1;

	if (item->size > most)
		return error_set(
			err, EFBIG,
			"%s: '%s' takes %.0f MB, more than %.0f MB; 'zcost unpack --max-size SIZE' makes a folder, which every command reads",
			l->archive, name_shown(item->name), (double)item->size / 1e6,
			(double)most / 1e6);

	*bytes = malloc(item->size + 1);
	if (!*bytes)
		return error_set(err, ENOMEM, "%s: no memory for its %s; 'zcost unpack' opens it",
				 l->archive, item->name);
	while (at < item->size && (n = reader_data(l->r, *bytes + at, item->size - at, err)) > 0)
		at += (size_t)n;
	(*bytes)[at] = '\0';
	if (at == item->size)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return n < 0 ? (int)n
		     : error_set(err, EBADMSG, "%s: damaged: %s ends early", l->archive,
				 item->name);
}

static void packed_sum(const void *bytes, size_t size, char hex[65])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, bytes, size);
	sha256_hex(&h, hex);
}

static void packed_find_identity(struct packed_search *l)
{
	size_t i;

	for (i = 0; i < array_size(identities) && !*l->found->identity; i++) {
		const struct member *m = members_find(&l->sums, identities[i]);

		if (m)
			memcpy(l->found->identity, m->hex, sizeof(m->hex));
	}
}

static int packed_read_sums(struct packed_search *l, const struct item *item, struct error *err)
{
	char *text;
	int rc = packed_read_member(l, item, MAX_SMALL, &text, err);

	if (rc)
		return rc;
	l->has_sums = members_read_sums(&l->sums, text);
	free(text);
	if (!l->has_sums)
		return error_set(err, EBADMSG, "%s: damaged: its " SUMS_NAME, l->archive);
	packed_find_identity(l);
	return 0;
}

static int packed_read_store(struct packed_search *l, const struct item *item, struct error *err)
{
	struct packed_store *s = l->found;
	const struct member *sum = members_find(&l->sums, "zcost.db");
	char *bytes, hex[65];
	int rc = packed_read_member(l, item, MAX_STORE, &bytes, err);

	if (rc)
		return rc;
	packed_sum(bytes, item->size, hex);
	if (l->has_sums && (!sum || strcasecmp(sum->hex, hex))) {
		free(bytes);
		return error_set(err, EBADMSG,
				 "%s: damaged: zcost.db differs from its checksum in " SUMS_NAME,
				 l->archive);
	}
	s->bytes = bytes;
	s->size = item->size;
	return 0;
}

static int packed_read_identity(struct packed_search *l, const struct item *item, struct error *err)
{
	char *bytes;
	int rc = *l->found->identity ? 0 : packed_read_member(l, item, MAX_SMALL, &bytes, err);

	if (rc || *l->found->identity)
		return rc;
	packed_sum(bytes, item->size, l->found->identity);
	free(bytes);
	return 0;
}

/* Returns "zcost.db" for "NAME/zcost.db" or "zcost.db", and NULL for a name in a deeper folder. */
static const char *packed_top_name(const char *name)
{
	const char *slash = strchr(name, '/');

	return !slash ? name : strchr(slash + 1, '/') ? NULL : slash + 1;
}

static int packed_read_item(struct packed_search *l, const struct item *item, struct error *err)
{
	const char *name = item->folder ? NULL : packed_top_name(item->name);

	if (!name)
		return 0;
	if (!strcmp(name, SUMS_NAME) && !l->has_sums)
		return packed_read_sums(l, item, err);
	if (!strcmp(name, identities[0]) || !strcmp(name, identities[1]))
		return packed_read_identity(l, item, err);
	if (l->want_store && !strcmp(name, "zcost.db") && !l->found->bytes)
		return packed_read_store(l, item, err);
	return 0;
}

/* If SHA256SUMS came first, the search need not read the rest. */
static bool packed_is_done(const struct packed_search *l)
{
	bool have_store = l->found->bytes || (l->has_sums && !members_find(&l->sums, "zcost.db"));

	return *l->found->identity && (have_store || !l->want_store);
}

static int packed_search(struct packed_search *l, struct error *err)
{
	struct item item;
	int rc = reader_open(&l->r, l->archive, 0, err);

	if (rc)
		return rc;
	while (!packed_is_done(l) && (rc = reader_next(l->r, &item, err)) > 0) {
		rc = packed_read_item(l, &item, err);
		if (rc)
			break;
	}
	reader_close(l->r);
	members_free(&l->sums);
	return rc < 0 ? rc : 0;
}

int packed_identity(const char *archive, char hex[65], struct error *err)
{
	struct packed_store s = {0};
	struct packed_search l = {.archive = archive, .found = &s};
	int rc = packed_search(&l, err);

	memcpy(hex, s.identity, sizeof(s.identity));
	return rc;
}

int packed_store_read(const char *archive, struct packed_store *s, struct error *err)
{
	struct packed_search l = {.archive = archive, .found = s, .want_store = true};
	int rc;

	*s = (struct packed_store){0};
	rc = packed_search(&l, err);
	if (!rc && s->bytes)
		rc = archive_whole(archive, err);
	if (rc) {
		free(s->bytes);
		s->bytes = NULL;
	}
	return rc;
}

char *packed_folder(const char *archive)
{
	size_t len = strlen(archive), cut = strlen(suffix);

	if (len > cut && !strcmp(archive + len - cut, suffix) && archive[len - cut - 1] != '/')
		return xstrndup(archive, len - cut);
	return xasprintf("%s.unpacked", archive);
}

bool packed_folder_is(const char *archive, const char *folder)
{
	char want[65], hex[65];
	bool is = false;
	size_t i;

	if (!path_is_dir(folder) || packed_identity(archive, want, NULL) || !*want)
		return false;
	for (i = 0; i < array_size(identities) && !is; i++) {
		char *path = xasprintf("%s/%s", folder, identities[i]);

		is = path_exists(path) && !file_sha256(path, hex, NULL) && !strcasecmp(hex, want);
		free(path);
	}
	return is;
}

/* --- is the archive complete? --- */

/* Returns whether a zstd frame or a skippable frame begins here. */
static bool whole_is_frame(const unsigned char *p, size_t size)
{
	uint32_t magic = size < 4 ? 0 : p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;

	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

enum whole_end { WHOLE, CUT_OFF, ODD };

/* ODD: the file is not, or not only, what zstd wrote. */
static enum whole_end whole_walk_frames(const unsigned char *p, size_t size)
{
	size_t at, n;

	for (at = 0; at < size; at += n) {
		if (!whole_is_frame(p + at, size - at))
			return ODD;
		n = ZSTD_findFrameCompressedSize(p + at, size - at);
		if (ZSTD_isError(n))
			return ZSTD_getErrorCode(n) == ZSTD_error_srcSize_wrong ? CUT_OFF : ODD;
	}
	return WHOLE;
}

static int whole_check(const char *path, enum whole_end *look, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	struct stat st = {0};
	void *p = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		rc = error_sys(err, errno ? errno : EIO, "%s: cannot read", path);
	if (fd >= 0)
		close(fd);
	if (rc)
		return rc;
	madvise(p, (size_t)st.st_size, MADV_RANDOM);
	*look = whole_walk_frames(p, (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return 0;
}

/* Reads everything as unpack does, without the checksums, to find the place of the damage. */
static int whole_read_members(const char *path, struct error *err)
{
	char *buf = xmalloc(CHUNK);
	struct reader *r = NULL;
	struct item item;
	int rc = reader_open(&r, path, 0, err);
	long n = 0;

	while (!rc && n >= 0 && (rc = reader_next(r, &item, err)) > 0) {
		while ((n = reader_data(r, buf, CHUNK, err)) > 0)
			;
		rc = 0;
	}
	reader_close(r);
	free(buf);
	return n < 0 ? (int)n : rc;
}

int archive_whole(const char *path, struct error *err)
{
	enum whole_end look;
	int rc = whole_check(path, &look, err);

	if (rc || look == WHOLE)
		return rc;
	rc = whole_read_members(path, err);
	if (rc || look == ODD)
		return rc;
	return error_set(err, EBADMSG, "%s: damaged: its end is cut off; copy it again", path);
}
