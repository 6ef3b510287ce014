// SPDX-License-Identifier: GPL-2.0-only
/* Checksums of a folder: the manifest's "files". */
#include "capture/manifest.h"

#include "lib/file.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

static int sums_by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int sums_add(json_t *files, const char *path, const char *name, struct error *err)
{
	char hex[65];
	int rc = file_sha256(path, hex, err);

	if (!rc && json_object_set_new(files, name, json_string(hex)))
		rc = error_set(err, EILSEQ, "%s: the name is not UTF-8", path);
	return rc;
}

static int sums_walk(FTS *fts, size_t skip, json_t *files, struct error *err)
{
	FTSENT *e;
	int rc = 0;

	while (!rc && (e = fts_read(fts))) {
		if (e->fts_info == FTS_F)
			rc = sums_add(files, e->fts_path, e->fts_path + skip, err);
		else if (e->fts_info == FTS_ERR || e->fts_info == FTS_DNR)
			rc = error_sys(err, e->fts_errno, "%s: cannot read", e->fts_path);
	}
	return rc;
}

json_t *manifest_sums(const char *dir, struct error *err)
{
	char *const paths[] = {(char *)dir, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, sums_by_name);
	json_t *files = json_object();
	int rc;

	if (!fts)
		rc = error_sys(err, errno, "%s: cannot read", dir);
	else
		rc = sums_walk(fts, strlen(dir) + 1, files, err);
	if (fts)
		fts_close(fts);
	if (!rc)
		return files;
	json_decref(files);
	return NULL;
}
