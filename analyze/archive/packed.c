// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/packed.h"

#include "analyze/archive/members.h"
#include "lib/names.h"
#include "analyze/archive/reader.h"
#include "analyze/archive/whole.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".tar.zst";
static const char *const identities[] = {"manifest.json", "run.json"};

/* These are read into memory. The stores of large captures have tens of megabytes. */
enum { MAX_SMALL = 256 << 20, MAX_STORE = 1 << 30 };

struct packed_search {
	const char *archive;
	struct reader *r;
	struct members sums; /* what SHA256SUMS says, where the archive begins with it */
	bool has_sums, want_store;
	struct packed_store *found;
};

static int packed_read_member(struct packed_search *l, const struct item *item, uint64_t most,
			      char **bytes, struct error *err)
{
	size_t at = 0;
	long n = 1;

	if (item->size > most)
		return error_set(err, EFBIG,
				 "%s: '%s' takes %.0f MB, more than %.0f MB; 'zcost unpack "
				 "--max-size SIZE' makes a folder, which every command reads",
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

/* "NAME/zcost.db", or without a folder around it: what lies at the top of the capture. */
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

/* With SHA256SUMS at its beginning the rest need not be read. */
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
