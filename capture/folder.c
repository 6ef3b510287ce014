// SPDX-License-Identifier: GPL-2.0-only
#include "capture/folder.h"

#include "lib/alloc.h"
#include "lib/caller.h"
#include "lib/file.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DIR/runs/VARIANT/RUN: what is in a run that is done is never written again. */
enum { RUN_LEVEL = 3 };

/* Only an empty folder, or one that is a capture, is written to. */
static int folder_check_contents(const char *dir, struct error *err)
{
	char *manifest = xasprintf("%s/manifest.json", dir);
	struct dirent *e;
	int rc = 0;
	DIR *d;

	d = path_exists(manifest) ? NULL : opendir(dir);
	free(manifest);
	while (d && !rc && (e = readdir(d)))
		if (e->d_name[0] != '.')
			rc = error_set(err, EEXIST,
				       "%s: there are files in it, and it is no capture (no "
				       "manifest.json): give another -o",
				       dir);
	if (d)
		closedir(d);
	return rc;
}

static int folder_check_kind(const FTSENT *e, struct error *err)
{
	if (e->fts_info == FTS_DEFAULT)
		return error_set(err, EEXIST,
				 "%s: neither a file nor a folder: remove it, or give another -o",
				 e->fts_path);
	if (e->fts_info != FTS_SL && e->fts_info != FTS_SLNONE)
		return 0;
	return error_set(err, ELOOP,
			 "%s: a symbolic link, which zcost would follow: remove it, or give "
			 "another -o",
			 e->fts_path);
}

static int folder_check_kinds(const char *dir, struct error *err)
{
	char *const paths[] = {(char *)dir, NULL};
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	bool in_runs = false;
	FTSENT *e;
	int rc = 0;

	while (fts && !rc && (e = fts_read(fts))) {
		if (e->fts_level == 1 && e->fts_info == FTS_D)
			in_runs = !strcmp(e->fts_name, "runs");
		if (in_runs && e->fts_level == RUN_LEVEL && e->fts_info == FTS_D)
			fts_set(fts, e, FTS_SKIP);
		rc = folder_check_kind(e, err);
	}
	if (fts)
		fts_close(fts);
	return rc;
}

int capture_folder_check(const char *dir, struct error *err)
{
	int rc = caller_check_folder(dir, err);

	if (!rc)
		rc = folder_check_contents(dir, err);
	return rc ? rc : folder_check_kinds(dir, err);
}
