// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "lib/names.h"
#include "lib/json.h"
#include "lib/sha256.h"

#include <errno.h>

enum { AS_IT_WAS = DAMAGE_KINDS };

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

/* A name that leads out of the capture is missing. */
static int damage_of_file(const char *capture, const struct member *m)
{
	autofree char *path = xasprintf("%s/%s", capture, m->name), *clean = NULL;
	struct stat st;
	char hex[65];

	if (name_clean(m->name, &clean, NULL) || stat(path, &st) || !S_ISREG(st.st_mode))
		return DAMAGE_MISSING;
	if (sha256_file(path, hex, NULL))
		return DAMAGE_UNREADABLE;
	return strcasecmp(hex, m->hex) ? DAMAGE_DIFFERS : AS_IT_WAS;
}

/* Returns the index of the first sorted name that is not before `name`. */
static size_t members_lower_bound(const struct members *m, const char *name)
{
	size_t low = 0, high = m->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (strcmp(m->list[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Leaves out the files of the failed runs: nobody reads them. */
static void damage_leave_out(struct members *named, const char *capture,
			     const struct layout_entry *e)
{
	const char *name = e->dir + strlen(capture) + 1, *side = strrchr(name, '/');
	autofree char *folder = xstrndup(name, side ? (size_t)(side - name) + 1 : 0);

	for (size_t i = members_lower_bound(named, folder);
	     i < named->n && str_starts(named->list[i].name, folder); i++)
		named->list[i].folder = true;
}

int damage_list(struct members *named, const struct layout *l, const char *capture,
		struct error *err)
{
	autofree char *path = xasprintf("%s/manifest.json", capture);
	json_auto_t *manifest = l->has_manifest ? json_file(path, err) : NULL;

	if (l->has_manifest && !manifest)
		return -EBADMSG;
	members_of_manifest(named, manifest);
	for (size_t i = 0; i < l->nentries && manifest; i++)
		if (strcmp(l->entries[i].status, "ok"))
			damage_leave_out(named, capture, &l->entries[i]);
	return 0;
}

/* Returns whether the file lies in the folder of a side: runs/VARIANT/PASS-NN/SIDE/NAME. */
static bool member_is_of_side(const char *name)
{
	int slashes = 0;

	for (const char *p = name; *p; p++)
		slashes += *p == '/';
	return slashes > 3 && str_starts(name, "runs/");
}

void damage_check(struct damage *d, const struct members *named, const char *capture,
		  const char *folder)
{
	const char *begin = folder ? folder : "";
	int state;

	for (size_t i = members_lower_bound(named, begin); i < named->n; i++) {
		const struct member *m = &named->list[i];

		if (!str_starts(m->name, begin))
			break;
		if (m->folder || (!folder && member_is_of_side(m->name)))
			continue;
		state = damage_of_file(capture, m);
		if (state != AS_IT_WAS && !d->n[state]++)
			d->first[state] = m->name;
	}
}

void damage_add(struct damage *sum, const struct damage *d)
{
	for (int kind = 0; kind < DAMAGE_KINDS; kind++) {
		if (!sum->n[kind])
			sum->first[kind] = d->first[kind];
		sum->n[kind] += d->n[kind];
	}
}

char *damage_text(const struct damage *d, enum damage_kind kind, size_t skip)
{
	if (d->n[kind] > 1)
		return xasprintf("%zu files (first %s) %s", d->n[kind], d->first[kind] + skip,
				 words[kind].many);
	return d->n[kind] ? xasprintf("%s %s", d->first[kind] + skip, words[kind].one) : NULL;
}
