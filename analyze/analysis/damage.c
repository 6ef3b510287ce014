// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/archive/archive.h"
#include "lib/names.h"
#include "lib/json.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/sha256.h"
#include "lib/str.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { AS_IT_WAS = DAMAGE_KINDS };

struct checked {
	const struct member *named; /* the manifest's entry of the file */
	const struct layout_entry *entry;
	char *path;
	off_t size;
	int state; /* an enum damage_kind, or AS_IT_WAS */
};

struct damage {
	struct members named;
	struct checked *list;	/* sorted by name */
	struct checked **order; /* the largest file first, for the threads */
	size_t n, skip;		/* skip: length of "CAPTURE/" in bytes */
	atomic_size_t next;
	pthread_t *ids;
	size_t threads;
};

/* --- the files to check --- */

/* Returns the index of the first sorted name that is not before `name`. */
static size_t damage_lower_bound(const struct damage *d, const char *name)
{
	size_t low = 0, high = d->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(d->list[middle].named->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Assigns the files in the entry's folder to the entry. If check is false, excludes all files of
 * the entry's run from the check.
 */
static void damage_assign(struct damage *d, const struct layout_entry *e, bool check)
{
	char *folder = xasprintf("%s/", e->dir + d->skip);
	size_t len, i;

	if (!check) /* e->dir without the side */
		folder[strrchr(e->dir, '/') + 1 - e->dir - d->skip] = '\0';
	len = strlen(folder);

	for (i = damage_lower_bound(d, folder); i < d->n; i++) {
		if (strncmp(d->list[i].named->name, folder, len))
			break;
		d->list[i].entry = e;
		d->list[i].state = check ? DAMAGE_MISSING : AS_IT_WAS;
	}
	free(folder);
}

static void file_check(struct checked *c)
{
	struct stat st;
	char *clean;

	if (name_clean(c->named->name, &clean, NULL))
		return; /* the folder is outside the capture */
	free(clean);
	if (c->state == AS_IT_WAS || stat(c->path, &st) || !S_ISREG(st.st_mode))
		return;
	c->size = st.st_size;
	c->state = DAMAGE_UNREADABLE; /* until a thread reads the file */
}

static int file_compare_size(const void *a, const void *b)
{
	const struct checked *l = *(struct checked *const *)a, *r = *(struct checked *const *)b;

	return l->size != r->size ? (l->size < r->size ? 1 : -1) : l < r ? -1 : l > r;
}

static void damage_list_files(struct damage *d, const char *capture)
{
	size_t i;

	d->n = d->named.n;
	d->list = xcalloc(d->n + 1, sizeof(*d->list));
	d->order = xcalloc(d->n + 1, sizeof(*d->order));
	for (i = 0; i < d->n; i++) {
		d->list[i] =
			(struct checked){.named = &d->named.list[i],
					 .path = xasprintf("%s/%s", capture, d->named.list[i].name),
					 .state = DAMAGE_MISSING};
		d->order[i] = &d->list[i];
	}
}

/* --- reading the files --- */

static void damage_check(struct checked *c)
{
	char hex[65];

	if (c->state != DAMAGE_UNREADABLE || sha256_file(c->path, hex, NULL))
		return;
	c->state = strcasecmp(hex, c->named->hex) ? DAMAGE_DIFFERS : AS_IT_WAS;
}

static void *damage_checker(void *arg)
{
	struct damage *d = arg;
	size_t i;

	while ((i = atomic_fetch_add(&d->next, 1)) < d->n)
		damage_check(d->order[i]);
	return NULL;
}

static int damage_start_threads(struct damage *d, size_t threads, struct error *err)
{
	size_t most = threads < d->n ? threads : d->n;

	d->ids = xcalloc(most + 1, sizeof(*d->ids));
	while (d->threads < most && !pthread_create(&d->ids[d->threads], NULL, damage_checker, d))
		d->threads++;
	return d->threads || !d->n ? 0 : error_sys(err, EAGAIN, "cannot start a thread");
}

int damage_start(struct damage **out, const struct layout *l, const char *capture,
		 bool (*wanted)(const void *arg, const struct layout_entry *e), const void *arg,
		 size_t threads, struct error *err)
{
	struct damage *d = *out = xcalloc(1, sizeof(*d));
	char *path = xasprintf("%s/manifest.json", capture);
	json_t *manifest = l->has_manifest ? json_file(path, err) : NULL;
	size_t i;

	free(path);
	if (l->has_manifest && !manifest)
		return -EBADMSG;
	members_of_manifest(&d->named, manifest);
	json_decref(manifest);
	d->skip = strlen(capture) + 1;
	damage_list_files(d, capture);
	for (i = 0; i < l->nentries; i++)
		damage_assign(d, &l->entries[i],
			      !strcmp(l->entries[i].status, "ok") && wanted(arg, &l->entries[i]));
	for (i = 0; i < d->n; i++)
		file_check(&d->list[i]);
	if (d->n)
		qsort(d->order, d->n, sizeof(struct checked *), file_compare_size);
	return damage_start_threads(d, threads, err);
}

void damage_wait(struct damage *d)
{
	while (d->threads)
		pthread_join(d->ids[--d->threads], NULL);
}

void damage_free(struct damage *d)
{
	size_t i;

	if (!d)
		return;
	damage_wait(d);
	for (i = 0; i < d->n; i++)
		free(d->list[i].path);
	members_free(&d->named);
	free(d->list);
	free(d->order);
	free(d->ids);
	free(d);
}

/* --- messages --- */

static const struct {
	const char *one, *many;
} words[] = {
	[DAMAGE_DIFFERS] =
		{"differs from its checksum in manifest.json: it was altered or cut off after the capture",
		 "differ from their checksums in manifest.json: they were altered or cut off after the capture"},
	[DAMAGE_MISSING] = {"is missing, though manifest.json names it",
			    "are missing, though manifest.json names them"},
	[DAMAGE_UNREADABLE] = {"cannot be read, so it was not checked against manifest.json",
			       "cannot be read, so they were not checked against manifest.json"},
};

/*
 * Describes the files of an entry, or all files. Names begin after `skip` bytes of the path. The
 * names of an entry's files begin with its folder.
 */
static char *damage_describe(const struct damage *d, const struct layout_entry *e, bool all,
			     enum damage_kind kind, size_t skip)
{
	const char *first = NULL, *folder = e ? e->dir + d->skip : "";
	size_t n = 0, i;

	for (i = damage_lower_bound(d, folder); i < d->n; i++) {
		if (!str_starts(d->list[i].named->name, folder))
			break;
		if ((all || d->list[i].entry == e) && d->list[i].state == (int)kind && !n++)
			first = d->list[i].path + skip;
	}
	if (n > 1)
		return xasprintf("%zu files (first %s) %s", n, first, words[kind].many);
	return n ? xasprintf("%s %s", first, words[kind].one) : NULL;
}

char *damage_of(const struct damage *d, const struct layout_entry *e, enum damage_kind kind)
{
	return damage_describe(d, e, false, kind, e ? strlen(e->dir) + 1 : d->skip);
}

char *damage_of_all(const struct damage *d, enum damage_kind kind)
{
	return damage_describe(d, NULL, true, kind, d->skip);
}
